/* stream.c - the rows of a file in blocks, fit for a model: right width, no missing values. */
#include "cli.h"

#include <inttypes.h>

/* Rows a block: enough for BLAS-3 and threads, little beside the memory setting. */
enum { MOST_ROWS = 8192, LEAST_ROWS = 64 };

static int64_t rows_per_block(const cli *c, const bdml_model *model)
{
    /* Raw, prepared and mapped row, and as much again for the search. */
    double bytes = 8.0 * (3.0 * model->prepare.d_in + 3.0 * model->q);
    double fit = (double)bdml_memory(c->h) / 4.0 / bytes;
    return (int64_t)BDML_MAX(LEAST_ROWS, BDML_MIN(MOST_ROWS, fit));
}

/* Columns by another name, or in another order, are not what the model was trained on. */
static bdml_status check_names(cli *c, const bdml_model *model, const bdml_source *s)
{
    for (int j = 0; model->feature_name && s->feature_name && j < s->d; j++)
        if (strcmp(model->feature_name[j], s->feature_name[j]) != 0)
            return bdml_fail(
                c->h, BDML_ERR_DATA,
                "%s: feature %d is called '%.60s', the model was trained with '%.60s' there; "
                "give the columns in the order of training",
                s->path, j + 1, s->feature_name[j], model->feature_name[j]);
    return BDML_OK;
}

bdml_status cli_stream_open(cli *c, const bdml_model *model, const char *path, cli_stream *s)
{
    int wanted = model->prepare.d_in;
    *s = (cli_stream){.model = model};
    BDML_TRY(bdml_source_open(c->h, &c->h->options.input, path, wanted, &s->source));
    if (s->source->d != wanted)
        return bdml_fail(c->h, BDML_ERR_DATA,
                         "%s: has %d feature columns where the model wants %d; --label says which "
                         "column is the label",
                         s->source->path, s->source->d, wanted);
    BDML_TRY(check_names(c, model, s->source));
    return bdml_block_init(c->h, rows_per_block(c, model), wanted, &s->block);
}

/* First missing value of a row, or d. */
static int first_missing(int d, const double *x)
{
    int j = 0;
    while (j < d && !isnan(x[j])) j++;
    return j;
}

static bdml_status refuse_missing(cli *c, const cli_stream *s, int64_t i, int j)
{
    bool asked = bdml_opt_int(c->h, BDML_OPT_MISSING) == BDML_MISSING_MEAN;
    return bdml_fail(c->h, BDML_ERR_DATA, "%s: line %" PRId64 ", column %d: missing value; %s",
                     s->source->path, s->block.line[i], j + 1,
                     asked ? "the model knows no means to fill in: train it with --missing mean"
                           : "train with --missing mean to fill in, or give --missing drop");
}

/* Rows with missing values: filled in by the model, dropped, or refused. */
static bdml_status settle_missing(cli *c, cli_stream *s)
{
    bdml_block *b = &s->block;
    bool drop = bdml_opt_int(c->h, BDML_OPT_MISSING) == BDML_MISSING_DROP;
    int64_t kept = 0;
    if (s->model->prepare.fill && !drop) return BDML_OK;
    for (int64_t i = 0; i < b->n; i++) {
        const double *row = b->x + (size_t)i * (size_t)b->d;
        int j = first_missing(b->d, row);
        if (j < b->d && !drop) return refuse_missing(c, s, i, j);
        if (j < b->d) continue;
        if (kept < i) {
            memcpy(b->x + (size_t)kept * (size_t)b->d, row, (size_t)b->d * sizeof *row);
            b->label[kept] = b->label[i];
            b->line[kept] = b->line[i];
        }
        kept++;
    }
    s->dropped += b->n - kept;
    b->n = kept;
    return BDML_OK;
}

bdml_status cli_stream_next(cli *c, cli_stream *s, const char *what)
{
    bool more = true;
    s->block.n = 0;
    while (more && s->block.n == 0) { /* a block may lose all its rows */
        BDML_TRY(bdml_source_next(c->h, s->source, &s->block));
        more = s->block.n > 0;
        BDML_TRY(settle_missing(c, s));
    }
    int64_t total = BDML_MAX(s->source->rows, 0);
    if (!more && total == 0) total = s->rows;
    BDML_TRY(bdml_progress(c->h, what, s->rows, total));
    s->rows += s->block.n;
    return BDML_OK;
}

void cli_stream_close(cli_stream *s)
{
    bdml_block_free(&s->block);
    bdml_source_close(s->source);
    *s = (cli_stream){0};
}
