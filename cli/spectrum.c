/* spectrum.c - the eigenvalues of a model's metric, for results and for people. */
#include "cli.h"

#include <stdlib.h>

enum { LABEL_WIDTH = 19 };

bdml_status cli_spectrum_init(cli *c, const bdml_model *model, cli_spectrum *s)
{
    bdml_status status = BDML_OK;
    int d = bdml_model_metric_dimension(model), relative = bdml_model_reference_rows(model);
    bool regular = isfinite(bdml_model_kappa(model));
    double square = 0.0;

    *s = (cli_spectrum){.d = d, .log_det = regular ? 0.0 : -INFINITY};
    NEW(c->h, s->lambda, d);
    GO(bdml_model_eigenvalues(c->h, model, s->lambda));
    for (int i = 0; i < d; i++) {
        s->trace += s->lambda[i];
        square += s->lambda[i] * s->lambda[i];
        if (regular) s->log_det += log(s->lambda[i]);
    }
    s->frobenius = sqrt(square);
    for (double sum = 0.0; s->holding < d && sum < 0.9 * s->trace; s->holding++)
        sum += s->lambda[d - 1 - s->holding];
    if (relative < 1) goto done;
    s->relative_d = relative;
    NEW(c->h, s->relative, relative);
    status = bdml_model_relative_eigenvalues(c->h, model, s->relative);
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
