/* evidence.c - evidence into and out of a container: numbers as arrays "evidence.*", the rest in the
 * header under "evidence". JSON has no infinity: an infinite R is left out there, an infinite reach is null,
 * and a reach that is left out is R. */
#include "model/evidence.h"

#include <stdlib.h>

static const char *const claim_names[] = {"optimal", "stopped", "infeasible", "approximate"};
static const char *const pull_names[] = {"targets", "within"};

const char *bdml_claim_name(const bdml_evidence *e)
{
    bool beyond = e->claim == BDML_CLAIM_INFEASIBLE && isfinite(e->reach) && e->reach < e->R;
    return beyond ? "out of reach" : claim_names[e->claim];
}

double bdml_evidence_gap(const bdml_evidence *e)
{
    return BDML_MAX(e->upper - e->lower, 0.0) / BDML_MAX(fabs(e->upper), 1e-300);
}

const char *bdml_claim_scope(const bdml_evidence *e)
{
    if (!isfinite(e->reach)) return "every trace and margin";
    return e->reach == e->R ? "this trace and margin" : "traces below";
}

bool bdml_evidence_fits(const bdml_evidence *e, int d, int q)
{
    if (!e->reference) return true;
    return e->reference_columns == d && (q > 0 ? e->map_rows == q : !e->map);
}

void bdml_evidence_free(bdml_evidence *e)
{
    if (!e) return;
    bdml_free_constraints(e->constraints);
    free(e->reference);
    free(e->map);
    free(e->dual_constraint);
    free(e->dual);
    free(e);
}

/* ---- out ---------------------------------------------------------------------------------------- */

static bdml_status put_constraints(bdml_handle *h, const bdml_constraints *c, bdml_container *out)
{
    BDML_TRY(bdml_container_put_i4(h, out, "evidence.pair_i", c->pairs, 0, c->pi));
    BDML_TRY(bdml_container_put_i4(h, out, "evidence.pair_j", c->pairs, 0, c->pj));
    BDML_TRY(bdml_container_put_i4(h, out, "evidence.target", c->targets, 0, c->target));
    BDML_TRY(bdml_container_put_i4(h, out, "evidence.far", c->m, 0, c->far));
    BDML_TRY(bdml_container_put_i4(h, out, "evidence.near", c->m, 0, c->near));
    if (c->margin) BDML_TRY(bdml_container_put_f8(h, out, "evidence.margin", c->m, 0, c->margin));
    if (c->weight) BDML_TRY(bdml_container_put_f8(h, out, "evidence.weight", c->m, 0, c->weight));
    return BDML_OK;
}

bdml_status bdml_evidence_put(bdml_handle *h, const bdml_evidence *e, bdml_container *c)
{
    json_t *o = json_pack("{s:s, s:b, s:b, s:b, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}",
                          "claim", claim_names[e->claim], "hard", e->hard, "diagonal", e->diagonal,
                          "squared", e->squared, "pull", pull_names[e->pull], "g_scale", e->g_scale,
                          "margin", e->margin, "K", e->K, "cost", e->cost, "lower", e->lower,
                          "upper", isfinite(e->upper) ? e->upper : 0.0, "gap_asked", e->gap_asked,
                          "rows", (json_int_t)e->constraints->n);
    if (isfinite(e->R)) bdml_json_put(&o, "R", json_real(e->R));
    if (e->claim == BDML_CLAIM_INFEASIBLE && !(e->reach == e->R))
        bdml_json_put(&o, "reach", bdml_json_real(e->reach));
    if (e->claim == BDML_CLAIM_APPROXIMATE) {
        bdml_json_put(&o, "slack", json_real(e->slack));
        bdml_json_put(&o, "kappa", json_real(e->kappa));
    }
    if (json_object_set_new(bdml_container_header(c), "evidence", o) != 0)
        return bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the evidence");
    BDML_TRY(put_constraints(h, e->constraints, c));
    if (e->reference)
        BDML_TRY(bdml_container_put_f8(h, c, "evidence.reference", e->reference_rows,
                                       e->reference_columns, e->reference));
    if (e->map)
        BDML_TRY(
            bdml_container_put_f8(h, c, "evidence.map", e->map_rows, e->reference_rows, e->map));
    BDML_TRY(
        bdml_container_put_i4(h, c, "evidence.dual_constraint", e->duals, 0, e->dual_constraint));
    return bdml_container_put_f8(h, c, "evidence.dual", e->duals, 0, e->dual);
}

/* ---- in ------------------------------------------------------------------------------------------ */

static bdml_status refuse(bdml_handle *h, const char *what)
{
    return bdml_fail(h, BDML_ERR_FORMAT, "the evidence in the file is damaged: %s", what);
}

static int name_index(const char *name, int count, const char *const *names)
{
    for (int k = 0; k < count; k++)
        if (name && strcmp(name, names[k]) == 0) return k;
    return -1;
}

static bdml_status get_header(bdml_handle *h, const json_t *o, bdml_evidence *e, int64_t *rows)
{
    const char *claim = NULL, *pull = NULL;
    int hard = 0, diagonal = 0, squared = 0;
    json_int_t n = 0;
    if (json_unpack((json_t *)o,
                    "{s:s, s:b, s:b, s:b, s:s, s:F, s:F, s:F, s:F, s:F, s:F, s:F, s:I}", "claim",
                    &claim, "hard", &hard, "diagonal", &diagonal, "squared", &squared, "pull",
                    &pull, "g_scale", &e->g_scale, "margin", &e->margin, "K", &e->K, "cost",
                    &e->cost, "lower", &e->lower, "upper", &e->upper, "gap_asked", &e->gap_asked,
                    "rows", &n) != 0)
        return refuse(h, "a field is missing");
    int known_claim = name_index(claim, 4, claim_names);
    int known_pull = name_index(pull, 2, pull_names);
    if (known_claim < 0 || known_pull < 0) return refuse(h, "unknown claim or objective");
    const json_t *R = json_object_get(o, "R"), *reach = json_object_get(o, "reach");
    e->R = R ? json_number_value(R) : INFINITY;
    e->reach = !reach ? e->R : json_is_null(reach) ? INFINITY : json_number_value(reach);
    if (known_claim == BDML_CLAIM_APPROXIMATE &&
        json_unpack((json_t *)o, "{s:F, s:F}", "slack", &e->slack, "kappa", &e->kappa) != 0)
        return refuse(h, "slack or kappa is missing");
    if (!(e->K >= 1.0) || !(e->R > 0.0) || !(e->reach > 0.0) || n < 0)
        return refuse(h, "K, R, reach or rows out of range");
    if (!(e->margin > 0.0) || !(e->g_scale > 0.0) || !(e->cost >= 0.0) || !(e->gap_asked > 0.0))
        return refuse(h, "margin, cost, gap or the scale of the objective out of range");
    e->claim = (bdml_claim)known_claim;
    e->pull = (bdml_pull)known_pull;
    e->hard = hard;
    e->diagonal = diagonal;
    e->squared = squared;
    *rows = n;
    return BDML_OK;
}

/* A vector that must be there, or (needed = false) may be; *length -1: any, and set. */
static bdml_status get_i4(bdml_handle *h, const bdml_container *in, const char *name,
                          int64_t *length, int32_t **out)
{
    int64_t columns = 0;
    BDML_TRY(bdml_container_get_i4(h, in, name, length, &columns, out));
    return *out ? BDML_OK : refuse(h, name);
}

static bdml_status get_f8(bdml_handle *h, const bdml_container *in, const char *name,
                          int64_t *length, double **out)
{
    int64_t columns = 0;
    return bdml_container_get_f8(h, in, name, length, &columns, out);
}

/* Whoever reads the evidence, to certify or to go on from it, may use these as they are. */
static bdml_status check_indices(bdml_handle *h, const char *name, int64_t count,
                                 const int32_t *index, int64_t least, int64_t end)
{
    for (int64_t k = 0; k < count; k++)
        if (index[k] < least || index[k] >= end)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "the evidence in the file is damaged: %s holds %d, where %lld to %lld "
                             "are there",
                             name, (int)index[k], (long long)least, (long long)end - 1);
    return BDML_OK;
}

static bdml_status check_finite(bdml_handle *h, const char *name, int64_t count, const double *x)
{
    for (int64_t k = 0; x && k < count; k++)
        if (!isfinite(x[k]))
            return bdml_fail(h, BDML_ERR_FORMAT, "the evidence in the file is damaged: %s holds %g",
                             name, x[k]);
    return BDML_OK;
}

static bdml_status get_constraints(bdml_handle *h, const bdml_container *in, bdml_constraints *c)
{
    c->pairs = c->targets = c->m = -1;
    BDML_TRY(get_i4(h, in, "evidence.pair_i", &c->pairs, &c->pi));
    BDML_TRY(get_i4(h, in, "evidence.pair_j", &c->pairs, &c->pj));
    BDML_TRY(get_i4(h, in, "evidence.target", &c->targets, &c->target));
    BDML_TRY(get_i4(h, in, "evidence.far", &c->m, &c->far));
    BDML_TRY(get_i4(h, in, "evidence.near", &c->m, &c->near));
    BDML_TRY(get_f8(h, in, "evidence.margin", &c->m, &c->margin));
    BDML_TRY(get_f8(h, in, "evidence.weight", &c->m, &c->weight));
    if (c->m < 1) return refuse(h, "there is no constraint");
    BDML_TRY(check_indices(h, "evidence.pair_i", c->pairs, c->pi, 0, c->n));
    BDML_TRY(check_indices(h, "evidence.pair_j", c->pairs, c->pj, 0, c->n));
    BDML_TRY(check_indices(h, "evidence.target", c->targets, c->target, 0, c->pairs));
    BDML_TRY(check_indices(h, "evidence.far", c->m, c->far, 0, c->pairs));
    BDML_TRY(check_indices(h, "evidence.near", c->m, c->near, -1, c->pairs));
    for (int64_t t = 0; t < c->m; t++) {
        if (c->margin && !(c->margin[t] >= 0.0 && isfinite(c->margin[t])))
            return refuse(h, "a margin is negative or not finite");
        if (c->weight && !(c->weight[t] >= 0.0 && isfinite(c->weight[t])))
            return refuse(h, "a weight is negative or not finite");
    }
    return BDML_OK;
}

static bdml_status get_reference(bdml_handle *h, const bdml_container *c, bdml_evidence *e)
{
    int64_t rows = -1, columns = -1, map_rows = -1;
    BDML_TRY(bdml_container_get_f8(h, c, "evidence.reference", &rows, &columns, &e->reference));
    if (!e->reference) return BDML_OK;
    BDML_TRY(bdml_container_get_f8(h, c, "evidence.map", &map_rows, &rows, &e->map));
    e->reference_rows = (int)rows;
    e->reference_columns = (int)columns;
    e->map_rows = e->map ? (int)map_rows : 0;
    if (rows < 1 || columns < 1) return refuse(h, "the reference is empty");
    BDML_TRY(check_finite(h, "evidence.reference", rows * columns, e->reference));
    return check_finite(h, "evidence.map", e->map_rows * rows, e->map);
}

bdml_status bdml_evidence_get(bdml_handle *h, const bdml_container *c, bdml_evidence **out)
{
    bdml_status status = BDML_OK;
    bdml_evidence *e = NULL;
    const json_t *o = json_object_get(bdml_container_header((bdml_container *)c), "evidence");

    *out = NULL;
    if (!o) return BDML_OK;
    BDML_NEW(h, e, 1);
    BDML_NEW(h, e->constraints, 1);
    BDML_GO(get_header(h, o, e, &e->constraints->n));
    BDML_GO(get_constraints(h, c, e->constraints));
    BDML_GO(get_reference(h, c, e));
    e->duals = -1;
    BDML_GO(get_i4(h, c, "evidence.dual_constraint", &e->duals, &e->dual_constraint));
    BDML_GO(get_f8(h, c, "evidence.dual", &e->duals, &e->dual));
    if (!e->dual) BDML_GO(refuse(h, "evidence.dual"));
    status = check_indices(h, "evidence.dual_constraint", e->duals, e->dual_constraint, 0,
                           e->constraints->m);
done:
    if (status == BDML_OK)
        *out = e;
    else
        bdml_evidence_free(e);
    return status;
}
