/* families.c - of each family of references the one that goes into the grid.
 *
 * A reference alone (K = 1) costs no solve. So the kinds that differ in a constant, how far to stretch the
 * discriminants or whether to z-score before whitening, are compared alone, in all folds; the one with the
 * smallest mean error stands for its family, of equals the first. */
#include "train/recipe.h"

#include <stdlib.h>

static bdml_status run_job(bdml_handle *own, void *user, int64_t job)
{
    const recipe_job *jobs = user;
    bdml_status status = recipe_job_run(own, &jobs[job]);
    return status == BDML_ERR_DATA ? BDML_OK : status; /* no score: out of the race */
}

/* score: folds rows of alone->references. */
static bdml_status score_alone(bdml_handle *h, int folds, const recipe_fold *fold,
                               const recipe_grid *alone, double *score)
{
    bdml_status status = BDML_OK;
    int references = alone->references, count = folds * references;
    recipe_job *job = NULL;

    BDML_NEW(h, job, count);
    for (int k = 0; k < count; k++) {
        score[k] = NAN;
        job[k] = (recipe_job){.grid = alone,
                              .fold = &fold[k / references],
                              .number = k / references,
                              .reference = k % references,
                              .score = score + (k / references) * references};
    }
    bdml_jobs jobs = {"references", 0, count, count, bdml_threads(h), run_job, job, NULL};
    status = bdml_jobs_run(h, &jobs);
done:
    free(job);
    return status;
}

static double mean_of(int folds, int references, const double *score, int reference)
{
    double sum = 0.0;
    for (int k = 0; k < folds; k++) sum += score[k * references + reference];
    return sum / folds;
}

/* Keep in the grid the best of each family, in the order of the grid, and tell all of them. */
static void keep_best(int folds, const double *score, recipe_grid *grid, json_t *report)
{
    int best[BDML_FAMILIES], kept = 0, references = grid->references;
    double least[BDML_FAMILIES];
    for (int f = 0; f < BDML_FAMILIES; f++) best[f] = -1, least[f] = INFINITY;
    for (int r = 0; r < references; r++) {
        bdml_reference_family f = bdml_reference_family_of(grid->reference[r]);
        double mean = mean_of(folds, references, score, r);
        json_array_append_new(report, json_pack("{s:s, s:o}", "reference",
                                                bdml_reference_names[grid->reference[r]], "error",
                                                isnan(mean) ? json_null() : json_real(mean)));
        if (best[f] >= 0 && !(mean < least[f])) continue;
        best[f] = r;
        if (!isnan(mean)) least[f] = mean;
    }
    for (int r = 0; r < references; r++)
        if (best[bdml_reference_family_of(grid->reference[r])] == r)
            grid->reference[kept++] = grid->reference[r];
    grid->references = kept;
}

bdml_status recipe_pick_references(bdml_handle *h, int folds, const recipe_fold *fold,
                                   recipe_grid *grid, json_t **report)
{
    bdml_status status = BDML_OK;
    double *score = NULL;
    recipe_grid alone = *grid;

    *report = json_array();
    if (!*report) return bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
    alone.ks = alone.cs = alone.passes = 1;
    alone.k[0] = 1.0;
    BDML_NEW(h, score, folds * alone.references);
    BDML_GO(score_alone(h, folds, fold, &alone, score));
    keep_best(folds, score, grid, *report);
done:
    free(score);
    return status;
}
