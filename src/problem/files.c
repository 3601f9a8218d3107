/* files.c - constraints from text files of row numbers.
 *
 *     targets-file    i,j          impostors-file   i,k
 *     pairs-file      i,j,same     triplets-file    i,j,k
 *
 * Fields are separated by commas, semicolons or blanks; a first line without a number is a header;
 * empty lines and lines that begin with # are skipped; gzip is undone. */
#include "problem/problem.h"

#include <stdlib.h>

enum { WIDEST = 3 };

/* One kind of file: its setting, columns, and how many of them are row numbers. */
typedef struct form {
    bdml_opt option;
    const char *name;
    int columns, rows;
    const char *example;
} form;

enum { TARGETS, IMPOSTORS, PAIRS, TRIPLETS, FORMS };
static const form forms[FORMS] = {
    {BDML_OPT_TARGETS_FILE, "targets-file", 2, 2, "i,j"},
    {BDML_OPT_IMPOSTORS_FILE, "impostors-file", 2, 2, "i,k"},
    {BDML_OPT_PAIRS_FILE, "pairs-file", 3, 2, "i,j,same"},
    {BDML_OPT_TRIPLETS_FILE, "triplets-file", 3, 3, "i,j,k"},
};

/* All that the files hold. */
typedef struct contents {
    bdml_lists lists;
    int32_t *triplet;
    int64_t triplets;
    size_t capacity;
} contents;

static bool given(const bdml_handle *h, int f)
{
    return bdml_opt_text(h, forms[f].option)[0] != '\0';
}

/* ---- one line -------------------------------------------------------------------------------------- */

typedef struct field {
    const char *text;
    size_t n;
} field;

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Split into fields: at commas or semicolons where there are any, else at runs of blanks. Returns
 * their number, of which at most WIDEST + 1 are stored. */
static int split(const char *line, field *fields)
{
    const char *mark = strpbrk(line, ",;");
    int count = 0;
    while (blank(*line)) line++;
    for (const char *p = line; *p || (mark && count > 0);) {
        const char *from = p;
        while (*p && (mark ? *p != *mark : !blank(*p))) p++;
        size_t n = (size_t)(p - from);
        if (count <= WIDEST) {
            while (n > 0 && blank(from[n - 1])) n--;
            while (n > 0 && blank(*from)) from++, n--;
            fields[count] = (field){from, n};
        }
        count++;
        if (mark && *p == '\0') break;
        if (mark) p++;
        while (!mark && blank(*p)) p++;
    }
    return count;
}

/* Names only: nothing that begins like a number. */
static bool is_header(int count, const field *fields)
{
    for (int f = 0; f < BDML_MIN(count, WIDEST + 1); f++)
        if (fields[f].n > 0 && strchr("0123456789+-.", fields[f].text[0])) return false;
    return true;
}

/* One field as a row number, or as 0 or 1 where it is not a row. */
static bdml_status parse_field(bdml_handle *h, const bdml_input *in, const form *f, int column,
                               const field *text, int64_t n, int32_t *out)
{
    bool row = column < f->rows;
    int64_t v, top = row ? n - 1 : 1;
    if (bdml_parse_int(text->text, text->n, &v) && v >= 0 && v <= top) {
        *out = (int32_t)v;
        return BDML_OK;
    }
    const char *where = bdml_input_name(in);
    long long line = (long long)bdml_input_line_number(in);
    int shown = (int)BDML_MIN(text->n, (size_t)40);
    if (row)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: line %lld, column %d: '%.*s' is not a row number; the data have %lld "
                         "rows, 0 to %lld",
                         where, line, column + 1, shown, text->text, (long long)n, (long long)top);
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s: line %lld, column %d: '%.*s' must be 1 (same class) or 0 (different)",
                     where, line, column + 1, shown, text->text);
}

static bdml_status parse_line(bdml_handle *h, const bdml_input *in, const form *f, int count,
                              const field *fields, int64_t n, int32_t *value)
{
    if (count != f->columns)
        return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld has %d column%s; a %s has %d: %s",
                         bdml_input_name(in), (long long)bdml_input_line_number(in), count,
                         count == 1 ? "" : "s", f->name, f->columns, f->example);
    for (int c = 0; c < count; c++) {
        BDML_TRY(parse_field(h, in, f, c, &fields[c], n, &value[c]));
        for (int b = 0; c < f->rows && b < c; b++)
            if (value[b] == value[c])
                return bdml_fail(
                    h, BDML_ERR_DATA,
                    "%s: line %lld, column %d: row %d stands there twice; a constraint "
                    "is about different rows",
                    bdml_input_name(in), (long long)bdml_input_line_number(in), c + 1,
                    (int)value[c]);
    }
    return BDML_OK;
}

/* ---- one file -------------------------------------------------------------------------------------- */

static bdml_status keep(bdml_handle *h, int f, const int32_t *v, contents *all)
{
    switch (f) {
    case TARGETS:
        return bdml_pairs_add(h, &all->lists.target, v[0], v[1]);
    case IMPOSTORS:
        return bdml_pairs_add(h, &all->lists.impostor, v[0], v[1]);
    case PAIRS:
        return bdml_pairs_add(h, v[2] ? &all->lists.target : &all->lists.impostor, v[0], v[1]);
    default:
        BDML_TRY(bdml_grow(h, &all->triplet, &all->capacity, 3 * (size_t)all->triplets + 3,
                           sizeof *all->triplet));
        memcpy(all->triplet + 3 * all->triplets++, v, sizeof *v * 3);
        return BDML_OK;
    }
}

static bdml_status read_lines(bdml_handle *h, bdml_input *in, int f, int64_t n, contents *all)
{
    bool first = true;
    int64_t kept = 0;
    for (;;) {
        char *line;
        size_t length;
        field fields[WIDEST + 1];
        int32_t value[WIDEST];
        BDML_TRY(bdml_input_line(h, in, &line, &length));
        if (!line) break;
        int count = split(line, fields);
        if (count == 0 || fields[0].text[0] == '#') continue;
        bool header = first && is_header(count, fields);
        first = false;
        if (header) continue;
        BDML_TRY(parse_line(h, in, &forms[f], count, fields, n, value));
        BDML_TRY(keep(h, f, value, all));
        kept++;
    }
    if (kept == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: there is no constraint in it; a %s has lines %s",
                         bdml_input_name(in), forms[f].name, forms[f].example);
    return BDML_OK;
}

static bdml_status read_file(bdml_handle *h, int f, int64_t n, contents *all)
{
    bdml_input *in = NULL;
    BDML_TRY(bdml_input_open(h, bdml_opt_text(h, forms[f].option), &in));
    bdml_status status = read_lines(h, in, f, n, all);
    bdml_input_close(in);
    return status;
}

/* ---- all files -------------------------------------------------------------------------------------- */

/* Combinations of files and kind that make no problem. */
static bdml_status check_combination(bdml_handle *h, int kind)
{
    bool target = given(h, TARGETS) || given(h, PAIRS), triplet = given(h, TRIPLETS);
    bool impostor = given(h, IMPOSTORS) || given(h, PAIRS);
    if (kind == BDML_KIND_PAIR && triplet)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "triplets-file holds triplets, but kind is pair; set kind triplet");
    if (triplet && (target || !impostor)) return BDML_OK;
    if (!target)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "impostors-file alone says only what is far; give targets-file too, or "
                         "pairs-file");
    if (!impostor)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "targets-file alone says only what is near; give impostors-file too, or "
                         "pairs-file%s",
                         kind == BDML_KIND_TRIPLET ? " or triplets-file" : "");
    return BDML_OK;
}

/* Triplets alone: their near pairs are the objective. */
static bdml_status targets_of_triplets(bdml_handle *h, contents *all)
{
    bdml_keys seen = {0};
    bdml_status status = BDML_OK;
    for (int64_t t = 0; t < all->triplets; t++) {
        int32_t i = all->triplet[3 * t], j = all->triplet[3 * t + 1], id;
        int64_t before = seen.count;
        BDML_GO(bdml_keys_add(h, &seen, (uint64_t)i << 32 | (uint64_t)j, &id));
        if (seen.count > before) BDML_GO(bdml_pairs_add(h, &all->lists.target, i, j));
    }
done:
    bdml_keys_free(&seen);
    return status;
}

static bdml_status need_some(bdml_handle *h, const contents *all)
{
    const char *pairs = bdml_opt_text(h, BDML_OPT_PAIRS_FILE);
    if (all->lists.target.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no pair is of the same class (1)", pairs);
    if (all->triplets == 0 && all->lists.impostor.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no pair is of different classes (0)", pairs);
    return BDML_OK;
}

bool bdml_constraint_files_given(const bdml_handle *h)
{
    for (int f = 0; f < FORMS; f++)
        if (given(h, f)) return true;
    return false;
}

bdml_status bdml_constraint_files_read_as(bdml_handle *h, int64_t n, int kind,
                                          bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    contents all = {0};

    *out = NULL;
    BDML_TRY(check_combination(h, kind));
    for (int f = 0; f < FORMS; f++)
        if (given(h, f)) BDML_GO(read_file(h, f, n, &all));
    if (all.triplets > 0 && all.lists.target.count == 0) BDML_GO(targets_of_triplets(h, &all));
    BDML_GO(need_some(h, &all));
    BDML_GO(bdml_constraints_combine(h, n, kind, &all.lists, all.triplets, all.triplet, out));
    if ((*out)->m == 0) {
        bdml_free_constraints(*out);
        *out = NULL;
        status = bdml_fail(h, BDML_ERR_DATA,
                           "no row is first in both a target and an impostor pair, so there are no "
                           "triplets; give pairs with the same first row, or set kind pair");
    }
done:
    bdml_lists_free(&all.lists);
    free(all.triplet);
    return status;
}

bdml_status bdml_constraint_files_read(bdml_handle *h, int64_t n, bdml_constraints **out)
{
    return bdml_constraint_files_read_as(h, n, (int)bdml_opt_int(h, BDML_OPT_KIND), out);
}
