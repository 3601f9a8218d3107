/* record.c - what a path keeps of each solve: the bracket, and k-NN errors on the training rows and on
 * the rows left out. */
#include "train/recipe.h"

#include <stdlib.h>

#include "linalg/linalg.h"

void recipe_note_solve(const bdml_solve_result *r, recipe_record *record)
{
    record->solved = true;
    record->outcome = r->outcome;
    record->collapsed = r->collapsed;
    record->lower = r->lower;
    record->upper = r->upper;
    record->gap = r->gap;
    record->kappa = r->m && !r->collapsed ? r->kappa : NAN;
    record->trace = r->m ? r->trace : NAN;
    record->C = r->C;
    record->C0 = r->C0;
    record->seconds = r->seconds;
    record->iterations = r->iterations;
}

/* Error in percent of the vote of the nearest mapped training rows. rows NULL: of the training rows, each
 * without itself. */
static bdml_status vote_error(bdml_handle *h, const bdml_rows *voters, const bdml_rows *rows,
                              double *error)
{
    const int votes = (int)bdml_opt_int(h, BDML_OPT_NEIGHBORS);
    int64_t wrong = 0;
    BDML_TRY(bdml_vote_errors(h, &h->options.neighbors, voters, rows, 1, &votes, &wrong));
    *error = 100.0 * (double)wrong / (double)(rows ? rows : voters)->n;
    return BDML_OK;
}

bdml_status recipe_note_errors(bdml_handle *h, const recipe_fold *f, int r, const double *p,
                               const double *vp, const double *m, recipe_record *record)
{
    bdml_status status = BDML_OK;
    double *l = NULL, *z = NULL, *vz = NULL, *ws = NULL, kappa;
    int q;

    BDML_GO(bdml_metric_factor(h, r, m, &q, &l, &kappa));
    BDML_NEW(h, z, (size_t)f->train * (size_t)q);
    BDML_NEW(h, vz, (size_t)f->test * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, r));
    bdml_la_map_rows(h, q, r, l, f->train, p, r, z, ws);
    const bdml_rows learn = {f->train, q, q, z, f->y, f->classes};
    const bdml_rows left_out = {f->test, q, q, vz, f->vy, f->classes};
    BDML_GO(vote_error(h, &learn, NULL, &record->train_error));
    if (f->test == 0) goto done;
    bdml_la_map_rows(h, q, r, l, f->test, vp, r, vz, ws);
    status = vote_error(h, &learn, &left_out, &record->test_error);
done:
    free(l);
    free(z);
    free(vz);
    free(ws);
    return status;
}
