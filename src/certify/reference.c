/* reference.c - the reference metric, made again from the data:
 *
 *     zscore       R = diag(1/std_j), rows of constant columns left out
 *     within       R = S~^(-1/2) diag(1/std_j),   S~ = (1-s) S + s (tr S / r) I,  S the covariance inside the classes
 *     within-raw   R = S~^(-1/2) of the points as they are, constant columns left out
 *     shrunk-p     within-raw with s = p / 100
 *     fisher-f     R = (I + (sqrt(f) - 1) P) S~^(-1/2) diag(1/std_j),  P the projection onto the span of the class
 *                  means after whitening; fisher: f = 20, lda: 1e6
 *     local        R = L diag(1/std_j), L by near rows of a class and of others (local.c); local-60: with 0.4 of what is
 *                  outside the diagonal of their scatters
 *
 * s is the setting, or by Ledoit and Wolf (2004) s = (1/n) (mean |z_i|^4 - |S|^2) / |S - (tr S / r) I|^2, from
 * 1e-3 to 1, z_i the points less the means of their classes. Without classes S is that of target pairs,
 * (1/2T) sum (x_i - x_j)(x_i - x_j)', where pairs were given. */
#include "certify/stated.h"

#include <float.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_ROWS = 500 }; /* that are decomposed by plain loops */
static const double MOST_WORK = 2e10, CONSTANT = 16 * DBL_EPSILON, LEAST_SHRINKAGE = 1e-3;
/* Of the largest variance between the classes: below is no direction, and near it doubles cannot tell. */
static const double NO_DIRECTION = 1e-9, NEAR_NONE = 30.0;
/* Relative error that a reference computed in doubles may always have, and above which nothing is told. */
static const double COMPUTED = 1e-9, TOO_FEW_DIGITS = 1e-3;

static const char FIELDS[] = "evidence.reference certificate.reference settings.reference "
                             "selection.reference",
                  SHRUNK[] = "evidence.reference certificate.reference settings.reference "
                             "selection.reference settings.shrinkage";

static const struct kind {
    const char *name;
    bool whiten, scale;
    double stretch, shrinkage; /* of its own; 0: the setting, or that of Ledoit and Wolf */
    double across;             /* local: share of what is outside the diagonal; 0: not local */
} kinds[] = {
    {"zscore", false, true, 1.0, 0.0, 0.0},        {"within", true, true, 1.0, 0.0, 0.0},
    {"within-raw", true, false, 1.0, 0.0, 0.0},    {"shrunk-10", true, false, 1.0, 0.1, 0.0},
    {"shrunk-30", true, false, 1.0, 0.3, 0.0},     {"shrunk-60", true, false, 1.0, 0.6, 0.0},
    {"shrunk-90", true, false, 1.0, 0.9, 0.0},     {"fisher-5", true, true, 5.0, 0.0, 0.0},
    {"fisher", true, true, 20.0, 0.0, 0.0},        {"fisher-100", true, true, 100.0, 0.0, 0.0},
    {"fisher-1000", true, true, 1000.0, 0.0, 0.0}, {"lda", true, true, 1e6, 0.0, 0.0},
    {"local", false, true, 1.0, 0.0, 1.0},         {"local-60", false, true, 1.0, 0.0, 0.4}};

typedef struct remake {
    const bdml_plain *w;
    const bdml_stated *s;
    const struct kind *kind;
    int rows, columns;
    int *column;         /* of each row */
    long double *factor; /* 1 / std of it, or 1 */
    long double *p;      /* n x rows: points under it */
    long double *a, *v;  /* rows x rows */
    long double *lambda;
    long double *map; /* rows x columns: the reference */
    double error;     /* relative, of one made in doubles */
} remake;

/* ---- columns ------------------------------------------------------------------------------------------- */

/* Columns that vary, by the prepared points as doubles hold them. */
static bdml_status find_columns(bdml_handle *h, remake *r)
{
    bdml_status status = BDML_OK;
    const bdml_plain *w = r->w;
    size_t d = (size_t)r->columns;
    long double *scaled = NULL, *x = NULL;
    double *lo = NULL, *hi = NULL;

    BDML_NEW(h, scaled, w->model->prepare.d_in);
    BDML_NEW(h, x, d);
    BDML_NEW(h, lo, d);
    BDML_NEW(h, hi, d);
    for (size_t j = 0; j < d; j++) lo[j] = INFINITY, hi[j] = -INFINITY;
    for (int64_t i = 0; i < w->n; i++) {
        bdml_plain_prepare(&w->model->prepare, w->data->x + i * w->data->d, scaled, x);
        for (size_t j = 0; j < d; j++) {
            lo[j] = fmin(lo[j], (double)x[j]);
            hi[j] = fmax(hi[j], (double)x[j]);
        }
    }
    for (size_t j = 0; j < d; j++) {
        double range = hi[j] - lo[j], size = fmax(fabs(lo[j]), fabs(hi[j]));
        long double mean = 0.0L, square = 0.0L;
        if (range <= CONSTANT * size || range < DBL_MIN) continue;
        for (size_t i = 0; i < (size_t)w->n; i++) mean += w->x[i * d + j] / (long double)w->n;
        for (size_t i = 0; i < (size_t)w->n; i++)
            square += powl(w->x[i * d + j] - mean, 2) / (long double)w->n;
        r->column[r->rows] = (int)j;
        r->factor[r->rows++] = r->kind->scale ? 1.0L / sqrtl(square) : 1.0L;
        r->error = fmax(r->error, 16.0 * DBL_EPSILON * size / (double)sqrtl(square));
    }
done:
    free(scaled);
    free(x);
    free(lo);
    free(hi);
    return status;
}

/* ---- whitening ------------------------------------------------------------------------------------------- */

static void pair_covariance(remake *r)
{
    const bdml_constraints *c = r->w->c;
    size_t d = (size_t)r->rows;
    memset(r->a, 0, d * d * sizeof *r->a);
    for (int64_t t = 0; t < c->targets; t++) {
        const long double *x = r->p + (size_t)c->pi[c->target[t]] * d;
        const long double *y = r->p + (size_t)c->pj[c->target[t]] * d;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                r->a[i * d + j] += (x[i] - y[i]) * (x[j] - y[j]) / (2.0L * (long double)c->targets);
    }
}

/* Sums of |z_i|^4 need the class means once more: mean over the points of (|z_i|^2)^2. */
static bdml_status fourth_moment(bdml_handle *h, const remake *r, const int32_t *y,
                                 long double *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)r->rows, n = (size_t)r->w->n, k = y ? (size_t)r->w->data->classes : 1;
    long double *mean = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, k * d);
    BDML_NEW(h, count, k);
    for (size_t i = 0; i < n; i++) {
        size_t c = y ? (size_t)y[i] : 0;
        count[c]++;
        for (size_t j = 0; j < d; j++) mean[c * d + j] += r->p[i * d + j];
    }
    *out = 0.0L;
    for (size_t i = 0; i < n; i++) {
        size_t c = y ? (size_t)y[i] : 0;
        long double length = 0.0L;
        for (size_t j = 0; j < d; j++)
            length += powl(r->p[i * d + j] - mean[c * d + j] / (long double)count[c], 2);
        *out += length * length / (long double)n;
    }
done:
    free(mean);
    free(count);
    return status;
}

static bdml_status shrinkage(bdml_handle *h, const remake *r, const int32_t *y, long double *s)
{
    const bdml_real *set = &r->s->o->methods.shrinkage;
    size_t d = (size_t)r->rows;
    long double fourth, trace = 0.0L, square = 0.0L;

    *s = r->kind->shrinkage > 0.0 ? r->kind->shrinkage : set->value;
    if (r->kind->shrinkage > 0.0 || set->given || r->s->given) return BDML_OK;
    BDML_TRY(fourth_moment(h, r, y, &fourth));
    for (size_t e = 0; e < d * d; e++) {
        square += r->a[e] * r->a[e];
        if (e % (d + 1) == 0) trace += r->a[e];
    }
    long double apart = square - trace * trace / (long double)d;
    long double noise = (fourth - square) / (long double)r->w->n;
    *s = apart > 0.0L ? fminl(fmaxl(noise / apart, LEAST_SHRINKAGE), 1.0L) : 1.0L;
    return BDML_OK;
}

/* map <- V' diag(f) V map, rows of V eigenvectors; the points likewise. */
static bdml_status turn(bdml_handle *h, remake *r, const long double *f)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)r->rows, columns = (size_t)r->columns, n = (size_t)r->w->n;
    long double *m = NULL, *next = NULL;

    BDML_NEW(h, m, d * d);
    BDML_NEW(h, next, BDML_MAX(columns, d));
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) m[i * d + j] += f[k] * r->v[k * d + i] * r->v[k * d + j];
    for (size_t c = 0; c < columns; c++) { /* column by column of the map */
        for (size_t i = 0; i < d; i++) {
            next[i] = 0.0L;
            for (size_t j = 0; j < d; j++) next[i] += m[i * d + j] * r->map[j * columns + c];
        }
        for (size_t i = 0; i < d; i++) r->map[i * columns + c] = next[i];
    }
    for (size_t p = 0; p < n; p++) {
        for (size_t i = 0; i < d; i++) {
            next[i] = 0.0L;
            for (size_t j = 0; j < d; j++) next[i] += m[i * d + j] * r->p[p * d + j];
        }
        memcpy(r->p + p * d, next, d * sizeof *next);
    }
done:
    free(m);
    free(next);
    return status;
}

static bdml_status whiten(bdml_handle *h, remake *r)
{
    bdml_status status = BDML_OK;
    const bdml_plain *w = r->w;
    const int32_t *y = r->s->pairs ? NULL : w->data->y;
    size_t d = (size_t)r->rows;
    long double s, trace = 0.0L, *f = NULL;

    BDML_NEW(h, f, d);
    if (!y && r->s->given && w->c->targets > 0)
        pair_covariance(r);
    else
        BDML_GO(bdml_plain_within(h, w->n, r->rows, r->p, y, w->data->classes, r->a));
    BDML_GO(shrinkage(h, r, y, &s));
    for (size_t j = 0; j < d; j++) trace += r->a[j * d + j];
    if (!bdml_plain_eigenvectors(r->rows, r->a, r->lambda, r->v)) r->error = INFINITY;
    for (size_t j = 0; j < d; j++) {
        long double floor = fmaxl(s * trace / (long double)d, DBL_MIN);
        f[j] = 1.0L / sqrtl((1.0L - s) * fmaxl(r->lambda[j], 0.0L) + floor);
    }
    double spread = (double)(f[0] / f[d - 1]); /* the error of S counts by its condition */
    r->error = (r->error + 16.0 * ((double)d + (double)w->n / 4.0) * DBL_EPSILON) * spread * spread;
    status = turn(h, r, f);
done:
    free(f);
    return status;
}

/* a = covariance of the class means, weighted by the classes' sizes, under the whitened points. */
static bdml_status between(bdml_handle *h, remake *r)
{
    bdml_status status = BDML_OK;
    const bdml_dataset *data = r->w->data;
    size_t d = (size_t)r->rows, n = (size_t)data->n, classes = (size_t)data->classes;
    long double *mean = NULL, *all = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, classes * d);
    BDML_NEW(h, all, d);
    BDML_NEW(h, count, classes);
    for (size_t i = 0; i < n; i++) {
        count[data->y[i]]++;
        for (size_t j = 0; j < d; j++) {
            mean[(size_t)data->y[i] * d + j] += r->p[i * d + j];
            all[j] += r->p[i * d + j] / (long double)n;
        }
    }
    memset(r->a, 0, d * d * sizeof *r->a);
    for (size_t c = 0; c < classes; c++)
        for (size_t i = 0; count[c] > 0 && i < d; i++)
            for (size_t j = 0; j < d; j++)
                r->a[i * d + j] += (mean[c * d + i] / (long double)count[c] - all[i]) *
                                   (mean[c * d + j] / (long double)count[c] - all[j]) *
                                   (long double)count[c] / (long double)n;
done:
    free(mean);
    free(all);
    free(count);
    return status;
}

static bdml_status stretch(bdml_handle *h, remake *r)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)r->rows;
    long double *f = NULL, root = sqrtl(r->kind->stretch);
    double least = 1.0; /* share of the smallest direction that counts */

    BDML_NEW(h, f, d);
    BDML_GO(between(h, r));
    if (!bdml_plain_eigenvectors(r->rows, r->a, r->lambda, r->v)) r->error = INFINITY;
    for (size_t j = 0; j < d; j++) {
        double share = (double)(r->lambda[j] / r->lambda[d - 1]);
        f[j] = share > NO_DIRECTION ? root : 1.0L;
        if (share > NO_DIRECTION) least = fmin(least, share);
        if (share > NO_DIRECTION / NEAR_NONE && share < NO_DIRECTION * NEAR_NONE)
            r->error = INFINITY;
    }
    r->error = (r->error + 16.0 * (double)d * DBL_EPSILON) * (double)root / least;
    status = turn(h, r, f);
done:
    free(f);
    return status;
}

/* ---- near rows ------------------------------------------------------------------------------------------- */

/* map <- L map; the map has a number in each row alone, that of its column. */
static bdml_status turn_locally(bdml_handle *h, remake *r)
{
    size_t d = (size_t)r->rows, columns = (size_t)r->columns;
    BDML_TRY(bdml_plain_local(h, r->w->n, r->rows, r->p, r->w->data->y, r->kind->across, r->a,
                              &r->error));
    memset(r->map, 0, d * columns * sizeof *r->map);
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < d; k++)
            r->map[i * columns + (size_t)r->column[k]] = r->a[i * d + k] * r->factor[k];
    return BDML_OK;
}

/* ---- comparison --------------------------------------------------------------------------------------------- */

static bdml_status make(bdml_handle *h, remake *r)
{
    const bdml_plain *w = r->w;
    size_t n = (size_t)w->n, d = (size_t)r->rows, columns = (size_t)r->columns;
    for (size_t k = 0; k < d; k++) {
        size_t j = (size_t)r->column[k];
        r->map[k * columns + j] = r->factor[k];
        for (size_t i = 0; i < n; i++) r->p[i * d + k] = r->factor[k] * w->x[i * columns + j];
    }
    if (r->kind->across > 0.0) return turn_locally(h, r);
    if (r->kind->whiten) BDML_TRY(whiten(h, r));
    return r->kind->stretch > 1.0 ? stretch(h, r) : BDML_OK;
}

static void compare(bdml_plain *w, const remake *r)
{
    size_t size = (size_t)r->rows * (size_t)r->columns;
    const char *fields = r->kind->whiten ? SHRUNK : FIELDS;
    long double off = 0.0L, most = 0.0L;
    bool same = w->e->reference && w->e->reference_rows == r->rows;
    if (!(r->error < TOO_FEW_DIGITS)) {
        bdml_verdict_trust(w->v, "reference", fields,
                           "reference taken on trust: of %s the data leave too few digits",
                           r->kind->name);
        return;
    }
    for (size_t k = 0; same && k < size; k++) {
        off = fmaxl(off, fabsl(r->map[k] - w->e->reference[k]));
        most = fmaxl(most, fabsl(r->map[k]));
    }
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "reference", fields,
                      same && off <= (COMPUTED + r->error) * most,
                      "%s, made again from the data, differs by %.2g of %.2g", r->kind->name,
                      same ? (double)off : INFINITY, (double)most);
}

static bdml_status check_kind(bdml_handle *h, bdml_plain *w, const bdml_stated *s,
                              const struct kind *kind)
{
    bdml_status status = BDML_OK;
    remake r = {.w = w, .s = s, .kind = kind, .columns = w->model->d};
    size_t d = (size_t)r.columns;
    double work = (double)d * (double)d * ((double)w->n + 60.0 * (double)d);
    bool local = kind->across > 0.0;

    if (local)
        work *= 6.0; /* three rounds of two; distances are at most 1e8 more for each column */
    if ((kind->whiten || local) && (d > MOST_ROWS || work > MOST_WORK)) {
        bdml_verdict_trust(w->v, "reference", kind->whiten ? SHRUNK : FIELDS,
                           "reference taken on trust: %d columns are too many to make it again by "
                           "plain loops",
                           r.columns);
        return BDML_OK;
    }
    if ((kind->stretch > 1.0 || local) && !w->data->y) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "reference", kind->whiten ? SHRUNK : FIELDS,
                          false, "%s needs classes, which the data do not have", kind->name);
        return BDML_OK;
    }
    BDML_NEW(h, r.column, d);
    BDML_NEW(h, r.factor, d);
    BDML_GO(find_columns(h, &r));
    BDML_NEW(h, r.p, (size_t)w->n * (size_t)r.rows);
    BDML_NEW(h, r.a, (size_t)r.rows * (size_t)r.rows);
    BDML_NEW(h, r.v, (size_t)r.rows * (size_t)r.rows);
    BDML_NEW(h, r.lambda, r.rows);
    BDML_NEW(h, r.map, (size_t)r.rows * d);
    if (r.rows > 0) BDML_GO(make(h, &r));
    compare(w, &r);
done:
    free(r.column);
    free(r.factor);
    free(r.p);
    free(r.a);
    free(r.v);
    free(r.lambda);
    free(r.map);
    return status;
}

/* A map from a file: the file, as it is now, holds the same. own: keeps the reasons why it cannot be read. */
static bdml_status check_file(bdml_handle *own, bdml_plain *w, const char *path)
{
    bdml_model *model = NULL;
    bdml_dataset *matrix = NULL;
    const double *map = NULL;
    int64_t rows = 0, columns = 0;
    struct stat about;

    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        if (bdml_load_model(own, path, &model) == BDML_OK) {
            map = model->l;
            rows = model->q;
            columns = model->d;
        } else if (bdml_matrix_read(own, path, &matrix) == BDML_OK) {
            map = matrix->x;
            rows = matrix->n;
            columns = matrix->d;
        }
    }
    if (!map) {
        bdml_verdict_trust(w->v, "reference", FIELDS,
                           "reference taken on trust: %.120s is not there, or no map", path);
    } else {
        bool same = w->e->reference && w->e->reference_rows == rows && columns == w->model->d &&
                    memcmp(map, w->e->reference, sizeof *map * (size_t)rows * (size_t)columns) == 0;
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "reference", FIELDS, same, "%s %.120s",
                          same ? "the map in" : "not the map in", path);
    }
    bdml_free_model(model);
    bdml_free_dataset(matrix);
    return BDML_OK;
}

bdml_status bdml_check_reference(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    const char *said = json_string_value(
        json_object_get(json_object_get(w->model->info, "certificate"), "reference"));
    const struct kind *kind = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(s->reference, kinds[k].name) == 0) kind = &kinds[k];
    bool none = strcmp(s->reference, "none") == 0;
    const char *name = none ? "none" : kind ? kind->name : "file";
    if (!said || strcmp(said, name) != 0) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "reference", FIELDS, false,
                          "said to be '%.40s', the settings ask for '%.40s'", said ? said : "",
                          name);
        return BDML_OK;
    }
    if (none) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "reference", FIELDS, !w->e->reference,
                          w->e->reference ? "there is one, though the settings ask for none"
                                          : "none: distortion is that of the prepared points");
        return BDML_OK;
    }
    if (strcmp(s->reference, "given") == 0) {
        bdml_verdict_trust(w->v, "reference", FIELDS,
                           "reference taken on trust: a program gave it, and no file holds it");
        return BDML_OK;
    }
    return kind ? check_kind(h, w, s, kind) : check_file(s->own, w, s->reference);
}
