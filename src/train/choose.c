/* choose.c - which choice of a grid, from its scores fold by fold: not clearly worse than the best, then
 * the smallest K, then the smallest error. */
#include "train/recipe.h"

static double score_at(const recipe_scores *s, int fold, int number)
{
    return s->score[(size_t)fold * (size_t)recipe_grid_size(s->grid) + (size_t)number];
}

/* Mean and standard error over the folds scored; choices out of the race keep what they had. A choice
 * that could not be fitted in every fold is out. */
void recipe_summarise(const recipe_scores *s, bool *wanted, double *means, double *se)
{
    for (int number = 0; number < recipe_grid_size(s->grid); number++) {
        double sum = 0.0, square = 0.0;
        if (!wanted[number]) continue;
        for (int k = 0; k < s->folds; k++) sum += score_at(s, k, number);
        double mean = means[number] = sum / s->folds;
        for (int k = 0; k < s->folds; k++) square += pow(score_at(s, k, number) - mean, 2);
        se[number] = s->folds > 1 ? sqrt(square / (s->folds - 1) / s->folds) : 0.0;
        wanted[number] = !isnan(mean);
    }
}

int recipe_best(const recipe_scores *s, const bool *wanted, const double *mean)
{
    int best = -1;
    for (int number = 0; number < recipe_grid_size(s->grid); number++)
        if (wanted[number] && (best < 0 || mean[number] < mean[best])) best = number;
    return best;
}

/* Standard error of the difference between two choices over the folds, which share most of their training
 * rows. */
static double difference_error(const recipe_scores *s, const double *means, int a, int b)
{
    double mean = means[a] - means[b], square = 0.0;
    if (s->folds < 2) return 0.0;
    for (int k = 0; k < s->folds; k++)
        square += pow(score_at(s, k, a) - score_at(s, k, b) - mean, 2);
    return bdml_split_error(s->folds, square, s->tested_over_trained);
}

int recipe_choose(const recipe_scores *s, const bool *wanted, const double *mean)
{
    int best = recipe_best(s, wanted, mean), chosen = best;
    for (int number = 0; number < recipe_grid_size(s->grid) && best >= 0; number++) {
        double error = BDML_MIN(difference_error(s, mean, number, best), s->most_error);
        if (!wanted[number] || mean[number] - mean[best] > s->grid->slack * error) continue;
        int k = recipe_choice_at(s->grid, number).k, now = recipe_choice_at(s->grid, chosen).k;
        if (k < now || (k == now && mean[number] < mean[chosen])) chosen = number;
    }
    return chosen;
}
