/* share.c - what the studies share. */
#include "reproduce.h"

#include <stdlib.h>
#include <unistd.h>

static int progress(void *user, const char *phase, int64_t done, int64_t total)
{
    rp_run *r = user;
    (void)phase;
    (void)done;
    (void)total;
    return cli_progress_report(r->c, r->what, r->done, r->total);
}

bdml_status rp_handle(rp_run *r, bdml_handle **out)
{
    TRY(bdml_create(out));
    bdml_set_progress(*out, progress, r);
    return rp_set(*out, "threads", bdml_get(r->c->h, "threads"), "seed", bdml_get(r->c->h, "seed"),
                  "memory", bdml_get(r->c->h, "memory"), NULL);
}

bdml_status rp_set(bdml_handle *h, ...)
{
    bdml_status status = BDML_OK;
    va_list args;
    va_start(args, h);
    for (const char *name; status == BDML_OK && (name = va_arg(args, const char *));)
        status = bdml_set(h, name, va_arg(args, const char *));
    va_end(args);
    return status;
}

bdml_status rp_set_real(bdml_handle *h, const char *name, double v)
{
    char text[CLIENT_NUMBER];
    client_number(v, text);
    return bdml_set(h, name, text);
}

/* What the authors tuned. */
static const char *const tuned[] = {"rounds", "rho-negative", "row-scaling", "distortion-weight",
                                    "weight-floor"};
enum { TUNED = sizeof tuned / sizeof *tuned };

bdml_status rp_pass(const rp_run *r, bdml_handle *h)
{
    for (int i = 0; i < TUNED; i++) {
        const char *name = tuned[i];
        if (bdml_is_given(r->c->h, name)) TRY(bdml_set(h, name, bdml_get(r->c->h, name)));
    }
    return BDML_OK;
}

void rp_passed(const rp_run *r, char *out, size_t size)
{
    for (int i = 0; i < TUNED; i++) {
        const char *name = tuned[i];
        size_t used = strlen(out);
        if (bdml_is_given(r->c->h, name))
            snprintf(out + used, size - used, " %s=%s", name, bdml_get(r->c->h, name));
    }
}

bdml_status rp_failed(rp_run *r, bdml_handle *h, bdml_status status)
{
    return client_fail(r->c->h, status, "%s: %s", r->what, bdml_last_error(h));
}

bdml_status rp_take(rp_run *r, char *text, json_t **cell)
{
    *cell = text ? json_loads(text, 0, NULL) : NULL;
    bdml_free_bytes(text);
    return *cell ? BDML_OK : client_fail(r->c->h, BDML_ERR_MEMORY, "%s: out of memory", r->what);
}

json_t *rp_missing(const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return json_pack("{s:o}", "missing", client_text(text));
}

bdml_status rp_run_cell(rp_run *r, int i, rp_prepare *prepare, rp_measure *measure, json_t **cell)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    char *text = NULL;

    GO(rp_handle(r, &h));
    GO(prepare(r, i, h, &data));
    status = measure(h, data, &text);
    if (status == BDML_ERR_DATA || status == BDML_ERR_LAPACK || status == BDML_ERR_INFEASIBLE) {
        *cell = json_pack("{s:o, s:b}", "refused", client_text(bdml_last_error(h)), "infeasible",
                          status == BDML_ERR_INFEASIBLE);
        status = BDML_OK;
        goto done;
    }
    GO(status);
    status = rp_take(r, text, cell);
done:
    if (status != BDML_OK && h && bdml_last_error(h)[0]) rp_failed(r, h, status);
    bdml_free_dataset(data);
    bdml_free(h);
    return status;
}

const json_t *rp_method(const json_t *cell, const char *name)
{
    size_t i;
    json_t *m;
    json_array_foreach(json_object_get(cell, "methods"), i, m)
    {
        if (name && strcmp(client_string(m, "method"), name) == 0) return m;
    }
    return NULL;
}

const char *rp_data(const char *name, char *out)
{
    const char *root = getenv("BDML_DATA");
    snprintf(out, RP_PATH, "%s/%s", root ? root : "../shared/data", name);
    return access(out, R_OK) == 0 ? out : NULL;
}

void rp_cell_pair(cli_table *t, const char *fmt, double v, double spread)
{
    char number[64], both[160];
    if (isnan(v)) {
        cli_cell(t, "-");
        return;
    }
    snprintf(number, sizeof number, fmt, v);
    snprintf(both, sizeof both, "%s", number);
    if (!isnan(spread)) {
        snprintf(number, sizeof number, fmt, spread);
        snprintf(both + strlen(both), sizeof both - strlen(both), " (%s)", number);
    }
    cli_cell(t, "%s", both);
}
