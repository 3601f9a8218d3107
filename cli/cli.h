/* cli.h - the command `bdml`: parsing, talking to the user, and one file per subcommand.
 *
 * commands.c lists the commands and the option groups each takes; options come from the library's
 * table (bdml_option_at) and from cli/options.def, in the same form. Parser, --help, man page,
 * completion and docs/settings.md all walk these two tables through the functions below.
 *
 * A command is a function from `cli` to bdml_status: it fills c->result (what --json prints),
 * prints for people unless cli_json(c), and leaves errors on c->h. main.c turns the status into the
 * error line and the exit code. */
#ifndef BDML_CLI_H
#define BDML_CLI_H

#include "bdml/comm.h"
#include "client.h"
#include "remaining.h"

typedef enum cli_opt {
#define BDML_OPT(id, name, group, type, def, lo, hi, choices, meta, help) CLI_OPT_##id,
#include "options.def"
#undef BDML_OPT
    CLI_OPT_COUNT
} cli_opt;

typedef struct cli cli;

/* Under which heading 'bdml help' lists a command. */
typedef enum cli_kind { CLI_EVERYDAY, CLI_MORE, CLI_PAPER, CLI_ABOUT, CLI_KINDS } cli_kind;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "DATA [QUERY]": the required ones, then those in brackets */
    const char *synopsis;  /* its most used options, for the usage line */
    const char *help;      /* one line */
    const char *about;     /* a paragraph */
    const char *takes;     /* groups, and single options as "--name" */
    const char *examples;  /* one a line, NULL = none */
    bdml_status (*run)(cli *c);
    cli_kind kind;
} cli_command;

typedef struct cli_progress {
    bool terminal;   /* a bar that is rewritten; else plain lines */
    bool shown;      /* a bar stands on the current line */
    double printed;  /* when last something was shown */
    int told;        /* the percent of the last plain line */
    remaining whole; /* of the command: begun, share done, time left */
    double from, to; /* what the part under way is of it */
    char phase[64];
} cli_progress;

enum { CLI_MAX_ARGUMENTS = 8 };

/* The value of an option of the command's own. */
typedef struct cli_value {
    char *text;   /* as given */
    int64_t i;    /* INT; FLAG 0 or 1; CHOICE: position in the list */
    double r;     /* REAL (and INT) */
    bool changed; /* given */
} cli_value;

/* The command on several ranks (mpi/main.c). */
enum { CLI_FAILURE = CLIENT_ERROR + 320 };
typedef struct cli_ranks {
    const bdml_comm *comm;
    int here;                  /* ranks on this machine, which share its processors */
    char failure[CLI_FAILURE]; /* out: what went wrong, for the caller to say */
} cli_ranks;

struct cli {
    const cli_command *command; /* NULL until known */
    bdml_handle *h;
    cli_ranks *ranks; /* or NULL: there is one process */
    cli_value own[CLI_OPT_COUNT];
    int arguments;
    const char *argument[CLI_MAX_ARGUMENTS];
    json_t *result;   /* object for --json */
    json_t *warnings; /* array */
    cli_progress progress;
    bool refuted;       /* certify: the claim does not hold */
    bool output_failed; /* the failure was in writing, not in reading */
    char kept[256];     /* what an interrupted run leaves behind; "" = nothing */
    client_memory text; /* of cli_text_begin under --json */
};

static inline bool cli_json(const cli *c)
{
    return c->own[CLI_OPT_JSON].i != 0;
}
static inline bool cli_quiet(const cli *c)
{
    return c->own[CLI_OPT_QUIET].i != 0;
}
static inline bool cli_verbose(const cli *c)
{
    return c->own[CLI_OPT_VERBOSE].i != 0 && !cli_quiet(c);
}
static inline const char *cli_text_of(const cli *c, cli_opt id)
{
    return c->own[id].text;
}
/* Is there something for a person to read on standard output beside the results? */
static inline bool cli_chatty(const cli *c)
{
    return !cli_json(c) && !cli_quiet(c);
}

/* ---- commands (commands.c) ------------------------------------------------------------------- */

int cli_command_count(void);
const cli_command *cli_command_at(int i);
const cli_command *cli_command_find(const char *name); /* or NULL */
bool cli_command_takes(const cli_command *command, const bdml_option *o);

/* ---- options (options.c): both tables as one ------------------------------------------------- */

int cli_option_count(void);
const bdml_option *cli_option_at(int i);   /* library first, then the command's own */
const bdml_option *cli_option_own(int id); /* row of cli/options.def */
const bdml_option *cli_option_find(const char *name, size_t n); /* or NULL */
/* The same, and of two of one name (a command's own before the library's) that which the command takes. */
const bdml_option *cli_option_of(const cli_command *command, const char *name, size_t n);
const bdml_option *cli_option_everyday(int i); /* those that help shows first; NULL past the end */
char cli_option_short(const bdml_option *o);   /* 'o' for --output, '\0' = none */
const bdml_option *cli_option_by_short(char letter);
const char *cli_group_title(const char *group);
/* The distinct groups in the order of the tables; NULL past the end. */
const char *cli_group_at(int i);
/* "--output FILE", "--[no-]stratify", "--header auto|yes|no" */
void cli_option_form(const bdml_option *o, char *out, size_t size);
/* Help with choices and default: "scaling ...; one of none, zscore (default: none)" */
void cli_option_text(const bdml_option *o, char *out, size_t size);
/* settings.c: "yes or no", "number, 0 to 1024", "whole number, at least 1", "csv, tsv" */
void cli_option_range(const bdml_option *o, char *out, size_t size);
/* args.c: "train, eval": the commands that take it. */
void cli_option_takers(const bdml_option *o, char *out, size_t size);

/* ---- arguments (args.c) ----------------------------------------------------------------------- */

bdml_status cli_parse(cli *c, int argc, char **argv);

/* ---- talking --------------------------------------------------------------------------------- */

bool cli_colour(FILE *f);
void cli_bold(FILE *f, const char *text);
/* Text wrapped to 79 columns, continued at `indent`; `column` is where the line stands now. */
void cli_wrap(FILE *f, const char *text, int column, int indent);
/* help.c */
void cli_usage(FILE *f);
void cli_help_command(FILE *f, const cli_command *command,
                      bool all); /* all: not everyday options alone */
void cli_help_formats(FILE *f);  /* help_formats.c */
/* man.c, completion.c, settings.c */
void cli_write_man(FILE *f);
void cli_write_settings(FILE *f, bool markdown);
bool cli_write_completion(FILE *f, const char *shell); /* false: unknown shell */

/* Text made by a command: standard output, or under --json the member "text" of the result. */
FILE *cli_text_begin(cli *c);
bdml_status cli_text_end(cli *c, FILE *f);

/* progress.c */
void cli_progress_init(cli *c);
void cli_progress_clear(cli *c);
/* Part `part` of `parts` of the command begins: its own share goes from 0 to 1 within it. */
void cli_progress_part(cli *c, int part, int parts);
int cli_progress_report(void *user, const char *phase, int64_t done, int64_t total);
void cli_log(void *user, bdml_log_level level, const char *line);
void cli_catch_interrupt(void);
bool cli_interrupted(void);
/* From so many seconds on, calls that wait are broken off; have any been? */
void cli_wake_after(double seconds);
bool cli_alarmed(void);
/* Progress of the command's own: BDML_ERR_CANCELLED when the user wants to stop. */
bdml_status cli_progress_step(cli *c, const char *what, int64_t done, int64_t total);
/* "0.31 s", "12 s", "3.4 min", "2.1 h" */
void cli_duration(double seconds, char *out, size_t size);

/* table.c: cells are added in reading order, the first row is the heading. */
typedef struct cli_table {
    bdml_handle *h;
    const char *align; /* one letter a column: l or r */
    bool markdown;     /* as a Markdown table, of any width */
    char **cell;
    size_t count, capacity;
    bool failed;
} cli_table;
void cli_table_init(cli_table *t, bdml_handle *h, const char *align);
void cli_cell(cli_table *t, const char *fmt, ...) CLIENT_PRINTF(2, 3);
void cli_cell_real(cli_table *t, const char *fmt, double v); /* "-" for NaN, "inf" */
/* Prints, with the first column cut so that the table stays under 80 columns, and frees. */
bdml_status cli_table_print(cli_table *t, FILE *f);

/* curves.c: lines through points; y[s * points + k], NaN: no point. */
typedef struct cli_curves {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
    int series, points;
    const char *const *name;
    const double *x, *y;
} cli_curves;
bdml_status cli_curves_write(cli *c, const cli_curves *p,
                             const char *path); /* .svg, .png or .pdf */

/* json.c: into c->result; when memory for it runs out, printing it fails (client_json_whole). */
void cli_put(json_t *object, const char *key, json_t *value); /* takes over value */
json_t *cli_real(double v);                                   /* null when not finite */
bdml_status cli_json_print(cli *c, json_t *object);
/* JSON text of the library: its members become those of c->result. */
bdml_status cli_take_result(cli *c, const char *text);

/* ---- what a result tells beside figures ------------------------------------------------------- */

/* line.c: "command_line" of the result. */
bdml_status cli_note_command(cli *c);
/* A word as a POSIX shell reads it, on standard output. */
bdml_status cli_say_shell_word(cli *c, const char *s);
/* checking.c: the lines that check a certificate of the model, and of these data. */
bdml_status cli_say_how_to_check(cli *c, const bdml_model *model, const char *certificate,
                                 const char *data);

/* model.c: the self-description of a model as JSON; NULL: out of memory, said on the handle. */
json_t *cli_describe(cli *c, const bdml_model *model);
/* Into a result, from what the model says of itself: the bracket on the optimum; all that train tells of a model; and what only
 * a report wants, the spectrum, the features that matter, how the bracket closed. */
void cli_certificate_json(const json_t *description, json_t *result);
void cli_model_result(const bdml_model *model, const json_t *description, double seconds,
                      json_t *result);
bdml_status cli_model_pictures(cli *c, const bdml_model *model, const json_t *description,
                               json_t *result);
/* A model file as the result of the training that made it, but for the points. *run: the caller's, also on failure. */
bdml_status cli_model_run(cli *c, const char *path, json_t **run);

/* spectrum.c */
typedef struct cli_spectrum {
    int d;
    double *lambda; /* ascending */
    double trace, frobenius, log_det;
    int relative_d; /* the same of the metric in the coordinates of its reference, where it has one */
    double *relative;
    int holding; /* how many of the largest hold 90 % of the trace: what the metric really looks at */
} cli_spectrum;
bdml_status cli_spectrum_init(cli *c, const bdml_model *model, cli_spectrum *s);
void cli_spectrum_json(const cli_spectrum *s, json_t *out);
void cli_spectrum_print(const cli_spectrum *s);
void cli_spectrum_free(cli_spectrum *s);

/* features.c: "features_that_matter" of out, heaviest first, and the leading directions; and for people. */
bdml_status cli_features_json(cli *c, const bdml_model *model, json_t *out);
void cli_features_print(const json_t *result);

/* summary.c: lines about a model; what it says of itself. */
void cli_say_next(const json_t *model, const char *path); /* what people do with it */
void cli_say_choice(const json_t *model);
void cli_say_certificate(const json_t *model);
void cli_say_condition(const bdml_model *model);
void cli_say_threshold(const json_t *model);

/* view.c: some of the rows, for pictures; false where there are too few of them, or very many dimensions. */
typedef struct cli_view {
    const bdml_dataset *data;
    int64_t n, step; /* rows 0, step, ... */
    int neighbors;
} cli_view;
bool cli_view_open(cli *c, const bdml_dataset *data, cli_view *v);
/* Row numbers, classes, and the values of the features that matter most (or NULL). */
void cli_view_points(const cli_view *v, const json_t *features, json_t *out);
/* *out: the rows in their two leading directions, prepared or mapped by the model, and the neighbours that each
 * has among them. like: a cloud to lie alike, or NULL. */
bdml_status cli_view_cloud(cli *c, const cli_view *v, const bdml_model *model, bool mapped,
                           const json_t *like, json_t **out);
/* "view" of the result: before and after. */
bdml_status cli_view_json(cli *c, const bdml_dataset *data, const bdml_model *model);

/* walk.c: "walk" of the result of a path. */
bdml_status cli_walk_json(cli *c, const bdml_dataset *data);

/* methods.c: --method or --methods, not both, and every name is one: told before the data are read. */
bdml_status cli_check_methods(cli *c);

/* runs.c: results as --json prints them. */
bool cli_looks_like_json(const char *path);
bdml_status cli_read_run(cli *c, const char *path, json_t **out);
/* Run a command on the arguments and settings of c; output: its -o, or NULL. *out: its result, which is
 * the caller's also when it failed. A proof of infeasibility is a result. */
bdml_status cli_make_run(cli *c, const char *name, const char *output, json_t **out);

/* ---- files (files.c) ------------------------------------------------------------------------- */

/* Refuse an output that is one of the inputs, is a folder, or lies in no writable folder. */
bdml_status cli_check_output(cli *c, const char *path);
/* The same of points, whose labels go beside: those of NAME.npy to NAME.labels.npy. */
bdml_status cli_check_points(cli *c, const char *path);
/* The same of what may be written beside path: its first `stem` characters and what is added. */
bdml_status cli_check_beside(cli *c, const char *path, size_t stem, const char *added);
/* Refuse two outputs that are one file; "" = none. */
bdml_status cli_check_apart(cli *c, const char *a, const char *b);
/* Refuse a checkpoint that is the output or one of the inputs. */
bdml_status cli_check_checkpoint(cli *c, const char *output);
/* With --json, standard output is taken. */
bdml_status cli_check_stdout(cli *c, const char *path);
/* Note that a failure was in writing. */
bdml_status cli_wrote(cli *c, bdml_status status);
/* "data/wine.csv" -> "wine" + ending */
bdml_status cli_default_name(cli *c, const char *path, const char *ending, char **out);
int64_t cli_file_size(const char *path); /* -1 when there is none */
/* Standard input, a pipe or a device: what is read of it is gone, a look at its beginning too. */
bool cli_reads_once(const char *path);
bool cli_is_model(const char *path); /* does it begin like one? Of what is read once: no */

/* The model of the first argument; told when the arguments stand the wrong way round. */
bdml_status cli_load_model(cli *c, bdml_model **out);

/* Read a second data file: --labels-file belongs to the first. */
bdml_status cli_read_other(cli *c, const char *path, bdml_dataset **out);

/* Rows of text into a file that appears whole or not at all. */
typedef struct cli_writer {
    cli *c;
    bdml_file *file;
    char separator; /* ',' or tab */
    bool started;   /* a cell stands on this row already */
    bool safe;      /* names that a spreadsheet would run get a ' before them */
} cli_writer;
bdml_status cli_writer_open(cli *c, const char *path, cli_writer *w); /* .tsv: tab, else comma */
bdml_status cli_writer_text(cli_writer *w, const char *s);            /* quoted where needed */
bdml_status cli_writer_real(cli_writer *w, double v);
bdml_status cli_writer_int(cli_writer *w, int64_t v);
bdml_status cli_writer_end_row(cli_writer *w);
bdml_status cli_writer_close(cli_writer *w); /* commit */
void cli_writer_discard(cli_writer *w);

/* ---- rows of a file for a model (stream.c) --------------------------------------------------- */

typedef struct cli_stream {
    const bdml_model *model;
    bdml_source *source;
    int d;
    int64_t room, n; /* rows that a block can hold, and does */
    double *x;       /* n rows of d */
    int32_t *label;  /* class number of the source, -1 = none */
    int64_t *line;   /* of each row, for messages */
    int64_t *place;  /* of each row in the file, from 0 */
    int64_t read;    /* rows of the file so far */
    int64_t rows;    /* handed out so far */
    int64_t dropped; /* with missing values */
    bool drop, fill; /* what becomes of those */
} cli_stream;
bdml_status cli_stream_open(cli *c, const bdml_model *model, const char *path, cli_stream *s);
/* The next s->n rows; 0 at the end. */
bdml_status cli_stream_next(cli *c, cli_stream *s, const char *what);
/* The status of what was done with the block; of a row that the model refuses the error names file and line. */
bdml_status cli_stream_blame(cli *c, const cli_stream *s, bdml_status status);
void cli_stream_close(cli_stream *s);

/* ---- scores of labelled predictions (score.c) ------------------------------------------------ */

typedef struct cli_score {
    int predicted;   /* classes of the model: columns */
    int32_t *sorted; /* these, in the order of strcmp */
    int truths;      /* classes seen: rows, those of the model first */
    char **truth;
    int64_t *given, *right; /* rows of each that have an answer; that have the right one */
    size_t truth_room, given_room, right_room;
    int64_t *count; /* `truths` rows of `predicted` columns; NULL: too many of them */
    size_t capacity;
    int32_t *row; /* of each class of the source; -1: not met so far */
    int sources;
    size_t row_room;
    int64_t total, wrong;
} cli_score;
bdml_status cli_score_init(cli *c, const bdml_model *model, cli_score *s);
/* truth: a class of the source, by its number there. */
bdml_status cli_score_add(cli *c, cli_score *s, const bdml_source *source, int32_t truth,
                          int32_t predicted);
void cli_score_json(const cli_score *s, const bdml_model *model, json_t *out);
bdml_status cli_score_print(cli *c, const cli_score *s, const bdml_model *model, FILE *f);
void cli_score_free(cli_score *s);

/* ---- one function a command (cmd_*.c) -------------------------------------------------------- */

bdml_status cli_adapt(cli *c);
bdml_status cli_bound(cli *c);
bdml_status cli_certify(cli *c);
bdml_status cli_compare_solvers(cli *c);
bdml_status cli_reproduce(cli *c);
void cli_settle(char **argv); /* process.c: first of all, in a process of the command's own */
/* The whole command; its exit code. ranks NULL: there is one process. */
int cli_main(int argc, char **argv, cli_ranks *ranks);
bdml_status cli_train(cli *c);
bdml_status cli_predict(cli *c);
bdml_status cli_predict_pairs(cli *c); /* --pairs, cmd_predict_pairs.c */
bdml_status cli_verify(cli *c);
bdml_status cli_transform(cli *c);
bdml_status cli_neighbors(cli *c);
bdml_status cli_eval(cli *c);
bdml_status cli_path(cli *c);
bdml_status cli_retrieve(cli *c);
bdml_status cli_convert(cli *c);
bdml_status cli_info(cli *c);
bdml_status cli_info_model(cli *c, const char *path); /* cmd_info_model.c */
bdml_status cli_report(cli *c);
bdml_status cli_plot(cli *c);
bdml_status cli_drift(cli *c);
bdml_status cli_export(cli *c);
bdml_status cli_import(cli *c);
bdml_status cli_generate(cli *c);
bdml_status cli_help(cli *c);
bdml_status cli_version(cli *c);
bdml_status cli_completion(cli *c);
bdml_status cli_man(cli *c);

#endif
