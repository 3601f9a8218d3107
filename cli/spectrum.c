/* spectrum.c - the eigenvalues of a model's metric, for results and for people. */
#include "cli.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "model/evidence.h"

enum { LABEL_WIDTH = 19 };

/* Eigenvalues, ascending, of M = L'L, L q rows of d; M is left in m (d*d) destroyed, its norm in *norm. */
static bdml_status eigenvalues(cli *c, int q, int d, const double *l, double *lambda, double *norm)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *m = NULL, *gram = NULL;
    size_t size = (size_t)d * (size_t)d;

    BDML_NEW(c->h, m, size);
    BDML_NEW(c->h, gram, bdml_la_gram_size(d));
    BDML_GO(bdml_eigh_ws_init(c->h, d, &ws));
    bdml_la_enter(c->h);
    bdml_la_gram(c->h, d, q, l, d, NULL, m, gram);
    *norm = 0.0;
    for (size_t i = 0; i < size; i++) *norm += m[i] * m[i];
    *norm = sqrt(*norm);
    status = bdml_la_eigh(c->h, d, m, lambda, false, &ws);
    bdml_la_leave(c->h);
done:
    bdml_eigh_ws_free(&ws);
    free(m);
    free(gram);
    return status;
}

bdml_status cli_spectrum_init(cli *c, const bdml_model *model, cli_spectrum *s)
{
    bdml_status status = BDML_OK;
    const bdml_evidence *e = model->evidence;
    size_t d = (size_t)model->d;
    double norm;

    *s = (cli_spectrum){.d = model->d};
    BDML_NEW(c->h, s->lambda, d);
    BDML_GO(eigenvalues(c, model->q, model->d, model->l, s->lambda, &s->frobenius));
    for (size_t i = 0; i < d; i++) s->trace += BDML_MAX(s->lambda[i], 0.0);
    for (double sum = 0.0; s->holding < model->d && sum < 0.9 * s->trace; s->holding++)
        sum += BDML_MAX(s->lambda[d - 1 - (size_t)s->holding], 0.0);
    s->log_det = isfinite(model->kappa) ? 0.0 : -INFINITY;
    for (size_t i = 0; i < d && isfinite(model->kappa); i++) s->log_det += log(s->lambda[i]);
    if (!e || !e->map || e->reference_rows < 1) goto done;
    s->relative_d = e->reference_rows;
    BDML_NEW(c->h, s->relative, e->reference_rows);
    status = eigenvalues(c, e->map_rows, e->reference_rows, e->map, s->relative, &norm);
done:
    if (status != BDML_OK) cli_spectrum_free(s);
    return status;
}

void cli_spectrum_free(cli_spectrum *s)
{
    free(s->lambda);
    free(s->relative);
    s->lambda = s->relative = NULL;
}

void cli_spectrum_print(const cli_spectrum *s)
{
    printf("\n");
    cli_bold(stdout, "spectrum of M");
    printf("\n");
    printf("%-*s%.4g\n", LABEL_WIDTH, "largest", s->lambda[s->d - 1]);
    printf("%-*s%.4g\n", LABEL_WIDTH, "median", s->lambda[(s->d - 1) / 2]);
    printf("%-*s%.4g\n", LABEL_WIDTH, "smallest", s->lambda[0]);
    printf("%-*s%d of %d\n", LABEL_WIDTH, "90 % of the trace", s->holding, s->d);
    printf("%-*s%.4g\n", LABEL_WIDTH, "logDet", s->log_det);
    printf("%-*s%.4g\n", LABEL_WIDTH, "F-norm", s->frobenius);
}

void cli_spectrum_json(const cli_spectrum *s, json_t *out)
{
    json_t *o = json_object(), *values = json_array(), *relative = json_array();
    for (int i = 0; i < s->d; i++) json_array_append_new(values, cli_real(s->lambda[s->d - 1 - i]));
    for (int i = 0; i < s->relative_d; i++)
        json_array_append_new(relative, cli_real(s->relative[s->relative_d - 1 - i]));
    cli_put(o, "largest", cli_real(s->lambda[s->d - 1]));
    cli_put(o, "smallest", cli_real(s->lambda[0]));
    cli_put(o, "holds_90_percent", json_integer(s->holding));
    cli_put(o, "log_det", cli_real(s->log_det));
    cli_put(o, "frobenius", cli_real(s->frobenius));
    cli_put(o, "eigenvalues", values);
    if (s->relative)
        cli_put(o, "relative_to_reference", relative);
    else
        json_decref(relative);
    cli_put(out, "spectrum", o);
}
