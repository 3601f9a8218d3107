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

/* Error in percent of the vote of the nearest mapped training rows z. query NULL: the training rows, each
 * without itself. */
static bdml_status vote_error(bdml_handle *h, const recipe_fold *f, int q, const double *z,
                              int64_t queries, const double *query, const int32_t *truth,
                              double *error)
{
    bdml_status status = BDML_OK;
    int k = (int)BDML_MIN(bdml_opt_int(h, BDML_OPT_NEIGHBORS), f->train - (query ? 0 : 1));
    int32_t *index = NULL, *count = NULL;
    int64_t wrong = 0;
    bdml_knn_query search = {.n = f->train,
                             .d = q,
                             .x = z,
                             .ld = q,
                             .queries = queries,
                             .q = query,
                             .ldq = q,
                             .which = BDML_ANY_CLASS,
                             .k = k};

    BDML_NEW(h, index, (size_t)queries * (size_t)k);
    BDML_NEW(h, count, f->classes);
    BDML_GO(bdml_knn_search(h, &search, index, NULL));
    for (int64_t i = 0; i < queries; i++)
        wrong += truth[i] != bdml_knn_vote(k, index + i * k, f->y, f->classes, count);
    *error = 100.0 * (double)wrong / (double)queries;
done:
    free(index);
    free(count);
    return status;
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
    BDML_GO(vote_error(h, f, q, z, f->train, NULL, f->y, &record->train_error));
    if (f->test == 0) goto done;
    bdml_la_map_rows(h, q, r, l, f->test, vp, r, vz, ws);
    status = vote_error(h, f, q, z, f->test, vz, f->vy, &record->test_error);
done:
    free(l);
    free(z);
    free(vz);
    free(ws);
    return status;
}
