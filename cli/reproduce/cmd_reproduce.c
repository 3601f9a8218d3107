/* cmd_reproduce.c - bdml reproduce STUDY|all: run what is not there yet, print ours beside the paper's, and
 * write the page. */
#include "reproduce.h"

#include <stdlib.h>

static const rp_study *const studies[] = {&rp_table1,     &rp_small,       &rp_claim,
                                          &rp_figure2,    &rp_adaptation,  &rp_faces,
                                          &rp_distortion, &rp_trace_width, &rp_runtime,
                                          &rp_geometry,   &rp_unseen};
enum { STUDIES = sizeof studies / sizeof *studies };

/* A cell is of a seed: 0 goes without saying. */
static void cell_key(const rp_study *s, const rp_run *r, int i, char key[RP_KEY])
{
    s->key(r, i, key, RP_KEY);
    size_t used = strlen(key);
    if (bdml_is_given(r->c->h, "seed") && bdml_get_number(r->c->h, "seed") != 0.0)
        snprintf(key + used, RP_KEY - used, " seed %s", bdml_get(r->c->h, "seed"));
}

const json_t *rp_cell(const rp_study *s, const rp_run *r, const json_t *cells, int i)
{
    char key[RP_KEY];
    cell_key(s, r, i, key);
    return json_object_get(cells, key);
}

/* The studies asked for: *first to *last. */
static bdml_status choose(cli *c, const char *name, int *first, int *last)
{
    char list[512] = "all";
    *first = 0;
    *last = STUDIES - 1;
    if (strcmp(name, "all") == 0) return BDML_OK;
    for (int i = 0; i < STUDIES; i++) {
        size_t used = strlen(list);
        *first = *last = i;
        if (strcmp(studies[i]->name, name) == 0) return BDML_OK;
        snprintf(list + used, sizeof list - used, ", %s", studies[i]->name);
    }
    return client_fail(c->h, BDML_ERR_ARGUMENT, "there is no study '%.100s'; the studies are: %s",
                       name, list);
}

/* ---- one study ------------------------------------------------------------------------------------------ */

static bdml_status run_cells(rp_run *r, const rp_study *s, const char *folder, json_t *cells)
{
    for (int i = 0; i < s->count(r); i++, r->done++) {
        char key[RP_KEY];
        json_t *cell = NULL;
        cell_key(s, r, i, key);
        snprintf(r->what, sizeof r->what, "%s: %s", s->name, key);
        /* what was missing, or stood in for it, may be there now; what is marked as older is made anew */
        const json_t *kept = json_object_get(cells, key);
        if (r->kept || (json_is_object(kept) && !json_object_get(kept, "missing") &&
                        !json_object_get(kept, "generated") && !json_object_get(kept, "older")))
            continue;
        TRY(cli_progress_step(r->c, r->what, r->done, r->total));
        double start = client_now();
        bdml_status status = s->run(r, i, &cell);
        if (status != BDML_OK) {
            json_decref(cell);
            return status;
        }
        if (!json_object_get(cell, "missing"))
            json_object_set_new(cell, "cell_seconds", json_real(client_now() - start));
        if (json_object_set_new(cells, key, cell) != 0)
            return client_fail(r->c->h, BDML_ERR_MEMORY, "out of memory while keeping results");
        if (folder[0]) TRY(rp_save(r->c, folder, s, cells));
    }
    return BDML_OK;
}

/* Is there a cell that was computed, or refused? */
static bool has_results(const rp_study *s, const rp_run *r, const json_t *cells)
{
    for (int i = 0; i < s->count(r); i++) {
        const json_t *cell = rp_cell(s, r, cells, i);
        if (cell && !json_object_get(cell, "missing")) return true;
    }
    return false;
}

/* Why a cell has no figures, or in what its figures are older than the code; false: nothing to say. */
static bool reason(const rp_study *s, const rp_run *r, const json_t *cells, int i, size_t size,
                   char *out)
{
    const json_t *cell = rp_cell(s, r, cells, i);
    const char *missing = client_string(cell, "missing"), *refused = client_string(cell, "refused"),
               *older = client_string(cell, "older");
    char key[RP_KEY];
    cell_key(s, r, i, key);
    if (refused[0])
        snprintf(out, size, "refused: %s: %s", key, refused);
    else if (older[0])
        snprintf(out, size, "older than the code: %s", older);
    else
        snprintf(out, size, "not run: %s", missing);
    return missing[0] || refused[0] || older[0];
}

/* Each reason once, and with --kept how many cells were never run. */
static void say_missing(const rp_study *s, const rp_run *r, const json_t *cells, FILE *f)
{
    json_t *said = json_object();
    int absent = 0;
    for (int i = 0; i < s->count(r); i++) {
        char line[RP_KEY + CLIENT_ERROR + 16];
        absent += rp_cell(s, r, cells, i) == NULL;
        if (!reason(s, r, cells, i, sizeof line, line) || json_object_get(said, line)) continue;
        fprintf(f, "%s- %s\n", json_object_size(said) ? "" : "\n", line);
        json_object_set_new(said, line, json_true());
    }
    if (absent > 0)
        fprintf(f, "%s- not run yet: %d of %d cells\n", json_object_size(said) ? "" : "\n", absent,
                s->count(r));
    json_decref(said);
}

/* Only the cells that this run asks for, in their order: what --json prints. */
static json_t *asked_cells(const rp_study *s, const rp_run *r, const json_t *cells)
{
    json_t *out = json_object();
    for (int i = 0; i < s->count(r); i++) {
        char key[RP_KEY];
        cell_key(s, r, i, key);
        json_object_set(out, key, json_object_get(cells, key));
    }
    return out;
}

/* ---- the page --------------------------------------------------------------------------------------------- */

static bdml_status write_page(rp_run *r, json_t *const *cells, int first, int last,
                              const char *path)
{
    bdml_status status = BDML_OK;
    client_memory page;
    GO(client_memory_open(r->c->h, &page));
    FILE *f = page.f;
    fprintf(
        f,
        "# The paper's experiments, run again\n\nMade by `bdml reproduce %s%s%s` (bdml %s); do not "
        "edit. \"Paper\" is Liao et al. 2015 as printed; everything else was computed here. A "
        "dash is a figure that the paper does not give, or that this library has no method "
        "for.\n",
        r->c->argument[0], r->quick ? " --quick" : "", r->kept ? " --kept" : "", bdml_version());
    for (int i = first; i <= last; i++) {
        fprintf(f, "\n## %s\n\n%s\n\n    bdml reproduce %s%s\n\n", studies[i]->title,
                studies[i]->about, studies[i]->name, r->quick ? " --quick" : "");
        if (r->quick) fputs("QUICK: few splits, so read no more into it than that it runs.\n\n", f);
        if (has_results(studies[i], r, cells[i])) GO(studies[i]->print(r, cells[i], f));
        say_missing(studies[i], r, cells[i], f);
    }
    GO(client_memory_close(r->c->h, &page));
    status = client_write_file(r->c->h, path, page.text, page.size);
done:
    client_memory_free(&page);
    return cli_wrote(r->c, status);
}

/* ---- the command -------------------------------------------------------------------------------------------- */

static bdml_status check(cli *c, int first, int last, const char *picture, const char *page)
{
    if (picture[0]) TRY(cli_check_output(c, picture));
    if (page[0]) TRY(cli_check_output(c, page));
    TRY(cli_check_apart(c, picture, page));
    if (picture[0] && (first != last || !studies[first]->draw))
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           first != last ? "-o draws one study; give its name instead of 'all'"
                                         : "there is no picture of the study '%s'",
                           studies[first]->name);
    return BDML_OK;
}

bdml_status cli_reproduce(cli *c)
{
    bdml_status status = BDML_OK;
    const char *picture = cli_text_of(c, CLI_OPT_OUTPUT), *page = cli_text_of(c, CLI_OPT_PAGE);
    const char *folder = cli_text_of(c, CLI_OPT_RESULTS);
    json_t *cells[STUDIES] = {0};
    int first, last;
    rp_run r = {.c = c,
                .quick = c->own[CLI_OPT_QUICK].i != 0,
                .kept = c->own[CLI_OPT_KEPT].i != 0,
                .data = c->arguments > 1 ? c->argument[1] : NULL};

    TRY(choose(c, c->argument[0], &first, &last));
    TRY(check(c, first, last, picture, page));
    for (int i = first; i <= last; i++) r.total += studies[i]->count(&r);
    if (folder[0])
        snprintf(c->kept, sizeof c->kept,
                 "finished cells are kept in %.150s, and the same command goes on", folder);
    for (int i = first; i <= last; i++) {
        if (folder[0])
            GO(rp_load(c, folder, studies[i], &cells[i]));
        else
            cells[i] = json_object();
        GO(run_cells(&r, studies[i], folder, cells[i]));
        cli_put(c->result, studies[i]->name, asked_cells(studies[i], &r, cells[i]));
        cli_progress_clear(c);
        if (cli_json(c)) continue;
        printf("%s%s\n\n", i > first ? "\n" : "", studies[i]->title);
        if (r.quick) printf("QUICK: few splits, so read no more into it than that it runs.\n\n");
        if (has_results(studies[i], &r, cells[i])) GO(studies[i]->print(&r, cells[i], stdout));
        say_missing(studies[i], &r, cells[i], stdout);
        fflush(stdout);
    }
    if (picture[0]) GO(studies[first]->draw(&r, cells[first], picture));
    if (page[0]) GO(write_page(&r, cells, first, last, page));
done:
    for (int i = 0; i < STUDIES; i++) json_decref(cells[i]);
    return status;
}
