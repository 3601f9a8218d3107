/* cmd_report.c - bdml report RUN.json ... | MODEL ... | DATA -o report.html: one page to look at; and bdml plot: one of
 * its pictures alone. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

#include "report/report.h"

/* ---- report -------------------------------------------------------------------------------------------- */

static bdml_status take_files(cli *c, json_t *runs)
{
    for (int i = 0; i < c->arguments; i++) {
        json_t *run = NULL;
        bdml_status status = cli_is_model(c->argument[i]) ? cli_model_run(c, c->argument[i], &run)
                                                          : cli_read_run(c, c->argument[i], &run);
        if (status != BDML_OK) {
            json_decref(run);
            return status;
        }
        json_t *list =
            json_object_get(run, "runs"); /* several in one file, as --save writes them */
        if (json_is_array(list))
            json_array_extend(runs, list);
        else
            json_array_append(runs, run);
        json_decref(run);
    }
    return BDML_OK;
}

/* "page.html" -> "page" + ending */
static bdml_status beside(cli *c, const char *page, const char *ending, char **out)
{
    size_t stem = strlen(page), size = stem + strlen(ending) + 1;
    if (stem > 5 && strcmp(page + stem - 5, ".html") == 0) stem -= 5;
    *out = client_alloc(c->h, size, 1);
    if (!*out) return BDML_ERR_MEMORY;
    snprintf(*out, size, "%.*s%s", (int)stem, page, ending);
    return BDML_OK;
}

/* A path is one of rows of known classes. Where the task is another, 'eval' is 'retrieve', and goes along K itself. */
static bdml_status set_grid(cli *c)
{
    bool known = strcmp(bdml_get(c->h, "task"), "classify") == 0;
    if (known || bdml_is_given(c->h, "grid") || bdml_is_given(c->h, "distortion")) return BDML_OK;
    return bdml_set(c->h, "grid", "1,3,10,30,100,1000");
}

/* Evaluate, walk the path over K and train: everything that a page can show about labelled data. */
static bdml_status make_runs(cli *c, const char *page, const char *save, json_t *runs)
{
    bdml_status status = BDML_OK;
    char *model = NULL;
    static const char *const steps[] = {"eval", "path", "train"};
    double left = bdml_time_left(c->h), began = client_now();

    if (c->arguments > 1)
        return client_fail(
            c->h, BDML_ERR_ARGUMENT,
            "report takes one data file, or any number of results of --json; %s is not "
            "JSON",
            c->argument[0]);
    if (cli_reads_once(c->argument[0]))
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "report reads its file several times: give a file instead of '%s'",
                           c->argument[0]);
    if (!bdml_is_given(c->h, "methods") && !bdml_is_given(c->h, "method"))
        TRY(bdml_set(c->h, "methods", "euclidean,whiten,lda,bdml"));
    /* bdml chooses a scaling by itself: the others shall not suffer from the units of columns */
    if (!bdml_is_given(c->h, "scale")) TRY(bdml_set(c->h, "scale", "zscore"));
    TRY(set_grid(c));
    TRY(beside(c, page, ".report.bdml", &model)); /* never over a model that train saved */
    GO(cli_check_output(c, model));
    GO(cli_check_apart(c, save, model));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        json_t *run = NULL;
        bool train = strcmp(steps[i], "train") == 0;
        /* a path is left out where the settings leave none, as with a given K */
        if (strcmp(steps[i], "path") == 0 && bdml_check_path(c->h) != BDML_OK) continue;
        if (cli_chatty(c)) {
            cli_progress_clear(c);
            client_print(stdout, "%s ...\n", steps[i]);
            fflush(stdout);
        }
        cli_progress_part(c, (int)i, (int)(sizeof steps / sizeof *steps));
        if (isfinite(left))
            bdml_limit_time(c->h, (left - (client_now() - began)) / (double)(3 - i));
        status = cli_make_run(c, steps[i], train ? model : NULL, &run);
        if (status == BDML_OK) json_array_append(runs, run);
        json_decref(run);
        bool late = status == BDML_ERR_CANCELLED && isfinite(left) && !cli_interrupted();
        if (late && (!train || json_array_size(runs) > 0)) { /* the page goes without it */
            bdml_log_line(c->h, BDML_LOG_WARNING, bdml_last_error(c->h));
            status = BDML_OK;
        }
        if (status != BDML_OK) goto done;
    }
    cli_put(c->result, "model", client_text(model));
    json_t *last = json_array_get(runs, json_array_size(runs) - 1);
    if (json_array_size(c->warnings) > 0) json_object_set(last, "warnings", c->warnings);
done:
    free(model);
    return status;
}

static bdml_status save_runs(cli *c, const json_t *runs, const char *path)
{
    json_t *all = json_pack("{s:O}", "runs", runs);
    char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17))
                     : NULL; /* every bit: the same page again */
    bdml_status status = text && client_json_whole()
                             ? client_write_file(c->h, path, text, strlen(text))
                             : client_no_memory(c->h);
    json_decref(all);
    free(text);
    return status;
}

bdml_status cli_report(cli *c)
{
    bdml_status status = BDML_OK;
    const char *page = cli_text_of(c, CLI_OPT_OUTPUT), *save = cli_text_of(c, CLI_OPT_SAVE);
    json_t *runs = json_array();

    if (!page[0]) page = "report.html";
    GO(cli_check_output(c, page));
    if (save[0]) GO(cli_check_output(c, save));
    GO(cli_check_apart(c, page, save));
    bool made = cli_looks_like_json(c->argument[0]) || cli_is_model(c->argument[0]);
    GO(made ? take_files(c, runs) : make_runs(c, page, save, runs));
    if (save[0]) GO(cli_wrote(c, save_runs(c, runs, save)));
    GO(cli_wrote(c, study_page_write(c->h, runs, page)));
    cli_put(c->result, "page", client_text(page));
    cli_put(c->result, "runs", json_integer((json_int_t)json_array_size(runs)));
    cli_progress_clear(c);
    if (cli_chatty(c))
        client_print(stdout, "%s: %.0f KiB, opens in any browser\n", page,
                     (double)cli_file_size(page) / 1024.0);
    const char *model = client_string(c->result, "model");
    if (cli_chatty(c) && model[0]) client_print(stdout, "%s: the model of the page\n", model);
done:
    json_decref(runs);
    return status;
}

/* ---- plot ------------------------------------------------------------------------------------------------- */

/* The run that has the figure; without a name the first figure that a run has. */
static const json_t *choose(const json_t *runs, const char **name)
{
    size_t i;
    json_t *run;
    for (int k = 0; study_figure_at(k); k++) {
        const char *figure = study_figure_at(k)->name;
        if ((*name)[0] && strcmp(*name, figure) != 0) continue;
        json_array_foreach(runs, i, run)
        {
            if (!study_figure_there(figure, run)) continue;
            *name = figure;
            return run;
        }
    }
    return json_array_get(runs, 0);
}

bdml_status cli_plot(cli *c)
{
    bdml_status status = BDML_OK;
    const char *path = cli_text_of(c, CLI_OPT_OUTPUT), *name = cli_text_of(c, CLI_OPT_FIGURE);
    json_t *runs = json_array();
    bool drawn = false;

    if (!path[0]) path = "figure.svg";
    GO(study_plot_check_name(c->h, path));
    GO(cli_check_output(c, path));
    GO(take_files(c, runs));
    const json_t *run = choose(runs, &name);
    if (!name[0]) name = "ellipsoids";
    GO(cli_wrote(c,
                 study_figure_write(c->h, name, run, path, (int)c->own[CLI_OPT_WIDTH].i, &drawn)));
    if (!drawn) GO(cli_wrote(c, client_fail(c->h, BDML_ERR_IO, "%s was not drawn", path)));
    cli_put(c->result, "figure", client_text(name));
    cli_put(c->result, "plot", client_text(path));
    if (cli_chatty(c)) client_print(stdout, "%s: %s\n", path, name);
done:
    json_decref(runs);
    return status;
}
