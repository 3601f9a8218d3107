/* retrieve_queries.c - what is learned from queries and the documents that belong to them.
 *
 * Nothing says what does not belong to a query: that is mined, by the same rules as for the setting relevant-file, among all
 * documents and in the distance of the prepared rows. */
#include "evaluate/retrieve.h"

#include <stdlib.h>

#include "linalg/linalg.h"

static bdml_status check_rows(bdml_handle *h, const char *what, const bdml_dataset *data)
{
    if (data->dropped > 0)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "%lld rows of the %s have missing values, and without them the numbers of "
            "the relevant file would mean other rows; use --missing mean, or take them "
            "out of all files",
            (long long)data->dropped, what);
    if (data->n < 2)
        return bdml_fail(h, BDML_ERR_DATA, "the %s are %lld rows; at least 2 are needed", what,
                         (long long)data->n);
    return BDML_OK;
}

bdml_status retrieve_join(bdml_handle *h, const bdml_dataset *queries, const bdml_dataset *corpus,
                          bdml_dataset **out)
{
    *out = NULL;
    BDML_TRY(check_rows(h, "queries", queries));
    BDML_TRY(check_rows(h, "documents", corpus));
    if (queries->d != corpus->d)
        return bdml_fail(h, BDML_ERR_DATA,
                         "queries have %d columns and documents %d: both are vectors of one space",
                         queries->d, corpus->d);
    BDML_TRY(bdml_dataset_new(h, queries->n + corpus->n, corpus->d, 0, out));
    size_t d = (size_t)corpus->d, asked = (size_t)queries->n * d;
    memcpy((*out)->x, queries->x, asked * sizeof *queries->x);
    memcpy((*out)->x + asked, corpus->x, (size_t)corpus->n * d * sizeof *corpus->x);
    if (!corpus->source || ((*out)->source = bdml_strdup(h, corpus->source))) return BDML_OK;
    bdml_free_dataset(*out);
    *out = NULL;
    return BDML_ERR_MEMORY;
}

/* The rows as training will prepare them; those of `train` themselves where there is nothing to prepare. */
static bdml_status prepare_rows(bdml_handle *h, const bdml_options *o, const bdml_dataset *train,
                                double **own, bdml_dataset *prepared)
{
    bdml_status status = BDML_OK;
    bdml_prepare p = {0};

    *prepared = (bdml_dataset){.n = train->n, .d = train->d, .x = train->x};
    BDML_GO(bdml_dataset_check_size(h, &o->prepare, train));
    BDML_GO(bdml_prepare_fit(h, o, train, &p));
    if (bdml_prepare_is_identity(&p)) goto done;
    BDML_NEW(h, *own, (size_t)train->n * (size_t)p.d_out);
    BDML_GO(bdml_prepare_apply(h, &p, train->n, train->x, train->d, *own));
    prepared->x = *own;
    prepared->d = p.d_out;
done:
    bdml_prepare_free(&p);
    return status;
}

bdml_status retrieve_constraints(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                 const retrieve_data *data, const retrieve_split *s,
                                 const bdml_dataset *train, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    const retrieve_search *seen = &s->scope[RETRIEVE_SEEN];
    bdml_answers answers = {0};
    bdml_dataset prepared;
    bdml_constraints *triplets = NULL;
    double *own = NULL;

    *out = NULL;
    if (!(method->uses & (BDML_USES_PAIRS | BDML_USES_TRIPLETS)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "method %s learns from classes; queries and documents have pairs and "
                         "triplets to learn from",
                         method->name);
    BDML_GO(bdml_answers_of(h, data->answers, seen->queries, seen->query, (int32_t)seen->queries,
                            &answers));
    BDML_GO(prepare_rows(h, o, train, &own, &prepared));
    BDML_GO(bdml_answers_mine(h, o, &prepared, &answers, &triplets));
    if (method->uses & BDML_USES_TRIPLETS) {
        BDML_GO(bdml_refuse_hard_weights(h, &o->solve, triplets));
        *out = triplets;
        triplets = NULL;
    } else {
        status = bdml_constraints_as_pairs(h, triplets, out);
    }
done:
    bdml_answers_free(&answers);
    bdml_free_constraints(triplets);
    free(own);
    return status;
}
