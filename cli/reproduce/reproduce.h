/* reproduce.h - the paper's experiments, cell by cell.
 *
 * A study is a list of cells. Each cell is computed once and kept in RESULTS/<study>.json, so that a run
 * that was stopped goes on where it was. What a study prints is Markdown, for the terminal and for the
 * page alike: ours beside the paper's figures. */
#ifndef BDML_REPRODUCE_H
#define BDML_REPRODUCE_H

#include "cli.h"

enum { RP_KEY = 512 }; /* room for the name of a cell */

typedef struct rp_run {
    cli *c;
    bool quick;       /* fewer splits: all parts in minutes */
    bool kept;        /* run nothing: what is there is printed */
    const char *data; /* DATA of the command line, or NULL */
    int64_t done, total;
    char what[RP_KEY + 32]; /* the cell in work, for the progress */
} rp_run;

typedef struct rp_study {
    const char *name, *title;
    const char *about; /* protocol, for the page */
    int (*count)(const rp_run *r);
    /* The name of cell i, unique in the study; it also says how much is asked (splits, ...). */
    void (*key)(const rp_run *r, int i, char *out, size_t size);
    /* *cell: what was found, an object; {"missing": why} where it cannot be had here, {"refused": why} where
     * the method says no to these data. */
    bdml_status (*run)(rp_run *r, int i, json_t **cell);
    /* cells: object of all cells by key. */
    bdml_status (*print)(rp_run *r, const json_t *cells, FILE *f);
    /* Draw into `path`; NULL: nothing to draw. */
    bdml_status (*draw)(rp_run *r, const json_t *cells, const char *path);
} rp_study;

extern const rp_study rp_table1, rp_small, rp_claim, rp_figure2, rp_adaptation, rp_faces,
    rp_distortion, rp_trace_width, rp_runtime, rp_geometry, rp_unseen;

/* The cell i of a study, or NULL; in a cell the result of a method, or NULL. */
const json_t *rp_cell(const rp_study *s, const rp_run *r, const json_t *cells, int i);
const json_t *rp_method(const json_t *cell, const char *name);

/* ---- what studies share (share.c) --------------------------------------------------------------------- */

/* A handle of its own for a cell: threads and seed of the command's, its progress, nothing else. */
bdml_status rp_handle(rp_run *r, bdml_handle **out);
/* NAME, VALUE, ..., NULL */
bdml_status rp_set(bdml_handle *h, ...);
bdml_status rp_set_real(bdml_handle *h, const char *name, double v);
/* Settings of the paper's solver that were given on the command line: into the handle of a cell, and, " name=value"
 * each, into its key. */
bdml_status rp_pass(const rp_run *r, bdml_handle *h);
void rp_passed(const rp_run *r, char *out, size_t size);
/* A failure on a cell's handle, told on the command's. */
bdml_status rp_failed(rp_run *r, bdml_handle *h, bdml_status status);
/* JSON text (freed) as a cell. */
bdml_status rp_take(rp_run *r, char *text, json_t **cell);
json_t *rp_missing(const char *fmt, ...) CLIENT_PRINTF(1, 2);
/* Cell i as one measurement of one data set, on a handle of its own: `prepare` sets it up and reads the data. What
 * `measure` refuses is a result too: {"refused": why, "infeasible": that is proven}. */
typedef bdml_status rp_prepare(rp_run *r, int i, bdml_handle *h, bdml_dataset **data);
typedef bdml_status rp_measure(bdml_handle *h, const bdml_dataset *data, char **json);
bdml_status rp_run_cell(rp_run *r, int i, rp_prepare *prepare, rp_measure *measure, json_t **cell);
/* A file of the data that are not bundled ($BDML_DATA, else ../shared/data, else the folder of the setting),
 * or NULL. out: PATH_MAX bytes. */
enum { RP_PATH = 4096 };
const char *rp_data(const char *name, char *out);
/* "1.13 +- 0.4", "-": not there */
void rp_cell_pair(cli_table *t, const char *fmt, double v, double spread);

/* ---- results on disk (store.c) -------------------------------------------------------------------------- */

/* The cells of a study in folder/<name>.json, empty when there is no such file. */
bdml_status rp_load(cli *c, const char *folder, const rp_study *s, json_t **cells);
bdml_status rp_save(cli *c, const char *folder, const rp_study *s, const json_t *cells);

#endif
