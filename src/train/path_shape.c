/* path_shape.c - does the test error fall and then rise along the path?
 *
 * The lowest error between the ends is compared with both ends, paired by split. To take the minimum and
 * its value from the same numbers would find a dip in pure noise; so for each split the best K is the one
 * that the other splits say. Splits share rows, which makes the plain standard error too small: with J
 * splits it is that of bdml_split_error. A difference counts when it is more than BEYOND such standard errors. */
#include "train/path.h"

static const double BEYOND = 2.0;

double path_mean(const path_result *p, int k, bool test, double *se)
{
    double mean = 0.0, square = 0.0;
    for (int s = 1; s <= p->splits; s++) {
        const path_record *r = path_at(p, s, k);
        mean += (test ? r->test_error : r->train_error) / p->splits;
    }
    for (int s = 1; s <= p->splits; s++) {
        const path_record *r = path_at(p, s, k);
        square += pow((test ? r->test_error : r->train_error) - mean, 2);
    }
    *se = p->splits > 1 ? sqrt(square / (p->splits - 1) / p->splits) : (double)NAN;
    return mean;
}

/* Sum of the test errors at k over the splits but `without` (0: all). */
static double total(const path_result *p, int k, int without)
{
    double sum = 0.0;
    for (int s = 1; s <= p->splits; s++)
        if (s != without) sum += path_at(p, s, k)->test_error;
    return sum;
}

/* The K between the ends with the lowest error, the smallest of equals, among those that have a metric
 * in every split. */
static int lowest(const path_result *p, int first, int last, int without)
{
    int best = -1;
    for (int k = first + 1; k < last; k++) {
        if (isnan(total(p, k, 0))) continue;
        if (best < 0 || total(p, k, without) < total(p, best, without)) best = k;
    }
    return best;
}

/* Mean of error(a) - error(b) over the splits; a or b -1: what the other splits say is lowest. */
static double compare(const path_result *p, const path_shape *shape, int a, int b, double *se)
{
    double mean = 0.0, square = 0.0;
    int n = p->splits;
    for (int pass = 0; pass < 2; pass++)
        for (int s = 1; s <= n; s++) {
            int best = lowest(p, shape->first, shape->last, s);
            double d = path_at(p, s, a < 0 ? best : a)->test_error -
                       path_at(p, s, b < 0 ? best : b)->test_error;
            if (pass == 0)
                mean += d / n;
            else
                square += (d - mean) * (d - mean);
        }
    *se = bdml_split_error(n, square, (double)p->test / (double)p->train);
    return mean;
}

static int sign(double difference, double se)
{
    return difference > BEYOND * se ? 1 : difference < -BEYOND * se ? -1 : 0;
}

/* By the signs of fall and rise; when neither counts, by that of the ends. */
static const char *name_shape(int fall, int rise, int across)
{
    static const char *const names[3][3] = {
        /* rise:  -1                     0                       1 */
        {"rises, then falls", "rises, then stays", "rises"}, /* fall -1 */
        {"stays, then falls", NULL, "stays, then rises"},    /* fall  0 */
        {"falls", "falls, then stays", "falls, then rises"}, /* fall  1 */
    };
    const char *name = names[fall + 1][rise + 1];
    if (name) return name;
    return across > 0 ? "rises" : across < 0 ? "falls" : "stays flat within noise";
}

void path_find_shape(const path_result *p, path_shape *shape)
{
    const double *K = p->plan.cap;
    int first = 0, last = p->plan.caps - 1;
    *shape = (path_shape){.verdict = "unknown"};
    while (first < last && isnan(total(p, first, 0))) first++;
    while (last > first && isnan(total(p, last, 0))) last--;
    shape->first = first;
    shape->last = last;
    shape->best = lowest(p, first, last, 0);
    if (p->splits < 2 || shape->best < 0) {
        snprintf(shape->text, PATH_TEXT,
                 "too few distortions with a metric in every split, or too few splits, to say how "
                 "the error changes as K grows");
        return;
    }
    shape->fall = compare(p, shape, first, -1, &shape->fall_se);
    shape->rise = compare(p, shape, last, -1, &shape->rise_se);
    shape->across = compare(p, shape, last, first, &shape->across_se);
    shape->verdict =
        name_shape(sign(shape->fall, shape->fall_se), sign(shape->rise, shape->rise_se),
                   sign(shape->across, shape->across_se));
    snprintf(shape->text, PATH_TEXT,
             "the test error %s as K grows: against the best K between the ends (K = %g) it is "
             "higher by %.2f +- %.2f points at K = %g and by %.2f +- %.2f at K = %g",
             shape->verdict, K[shape->best], shape->fall, shape->fall_se, K[first], shape->rise,
             shape->rise_se, K[last]);
}
