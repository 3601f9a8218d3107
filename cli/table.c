/* table.c - aligned tables of text, under 80 columns. */
#include "cli.h"

#include <stdlib.h>

enum { TABLE_WIDTH = 79, GAP = 2, LEAST_FIRST = 12 };

void cli_table_init(cli_table *t, bdml_handle *h, const char *align)
{
    *t = (cli_table){.h = h, .align = align};
}

/* Cells may hold names out of files. */
static void add(cli_table *t, const char *text)
{
    size_t size = bdml_visible_text(text, NULL, 0) + 1;
    char *copy = t->failed ? NULL : client_alloc(t->h, size, 1);
    if (copy) bdml_visible_text(text, copy, size);
    if (!copy ||
        client_grow(t->h, &t->cell, &t->capacity, t->count + 1, sizeof *t->cell) != BDML_OK) {
        free(copy);
        t->failed = true;
        return;
    }
    t->cell[t->count++] = copy;
}

void cli_cell(cli_table *t, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add(t, text);
}

void cli_cell_real(cli_table *t, const char *fmt, double v)
{
    char text[64];
    if (isnan(v)) {
        add(t, "-");
        return;
    }
    snprintf(text, sizeof text, fmt, v);
    add(t, text);
}

/* Characters, not bytes, of UTF-8 text. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Cut to `width` characters, marking the cut. */
static void cut(char *s, int width)
{
    int n = 0;
    if (width_of(s) <= width) return;
    for (; *s; s++) {
        n += ((unsigned char)*s & 0xC0) != 0x80;
        if (n > width - 1) break;
    }
    *s++ = '~';
    *s = '\0';
}

static void print_cell(FILE *f, const char *text, char align, int width, bool bold, bool last)
{
    int pad = width - width_of(text);
    if (align == 'r') fprintf(f, "%*s", pad, "");
    if (bold)
        cli_bold(f, text);
    else
        fputs(text, f);
    if (align != 'r' && !last) fprintf(f, "%*s", pad, "");
}

/* | a | b |, padded so that it reads well as it stands. */
static void print_markdown(const cli_table *t, size_t columns, const int *width, FILE *f)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t j = i % columns;
        fputs(j ? " | " : "| ", f);
        print_cell(f, t->cell[i], t->align[j], width[j], false, false);
        if (j + 1 < columns) continue;
        fputs(" |\n", f);
        if (i + 1 != columns) continue;
        for (size_t k = 0; k < columns; k++) {
            fputc('|', f);
            for (int n = 0; n < width[k] + 1; n++) fputc('-', f);
            fputc(t->align[k] == 'r' ? ':' : '-', f);
        }
        fputs("|\n", f);
    }
}

bdml_status cli_table_print(cli_table *t, FILE *f)
{
    size_t columns = strlen(t->align);
    int *width = client_alloc(t->h, columns, sizeof *width), all = 0;

    if (width && !t->failed) {
        for (size_t i = 0; i < t->count; i++)
            width[i % columns] = MAX(width[i % columns], width_of(t->cell[i]));
        if (t->markdown) {
            print_markdown(t, columns, width, f);
            goto done;
        }
        for (size_t j = 0; j < columns; j++) all += width[j] + (j ? GAP : 0);
        if (all > TABLE_WIDTH) width[0] = MAX(LEAST_FIRST, width[0] - (all - TABLE_WIDTH));
        for (size_t i = 0; i < t->count; i++) {
            size_t j = i % columns;
            bool last = j + 1 == columns;
            if (j == 0) cut(t->cell[i], width[0]);
            fprintf(f, "%*s", j ? GAP : 0, "");
            print_cell(f, t->cell[i], t->align[j], width[j], i < columns, last);
            if (last) fputc('\n', f);
        }
    }
done:;
    bool failed = t->failed || !width;
    free(width);
    for (size_t i = 0; i < t->count; i++) free(t->cell[i]);
    free(t->cell);
    *t = (cli_table){0};
    return failed ? BDML_ERR_MEMORY : BDML_OK;
}
