/* doubt.c - do the labels that were read look like classes, or like numbers that were measured? */
#include "data/columns.h"

#include <stdlib.h>

enum {
    FEW_CLASSES = 20,   /* of which nothing is said, whatever the rows */
    FEW_FRACTIONS = 10, /* different numbers with decimals that may still be grades */
    MANY_NUMBERS = 100, /* different whole numbers that are worth a word */
    CLASS_ROWS = 3      /* rows of a class, on average, that make numbers classes */
};

/* Are all names of the classes numbers, and does one have decimals? */
static bool are_numbers(const bdml_handle *h, int classes, char *const *names, bool *fractions)
{
    *fractions = false;
    for (int c = 0; c < classes; c++) {
        const char *name = names[c];
        double v;
        if (!bdml_parse_double(h->c_locale, name, strlen(name), &v)) return false;
        *fractions = *fractions || v != floor(v);
    }
    return true;
}

/* "column 14 (proline)" and, behind it, which column would be better. */
static void name_column(const bdml_source *s, char *out, size_t size)
{
    char name[BDML_EXCERPT_SIZE];
    const char *text = s->columns ? s->columns->column[s->label_column].name : "";
    if (s->label_column < 0)
        snprintf(out, size, "the labels");
    else if (s->columns && s->columns->named)
        snprintf(out, size, "column %d (%s)", s->label_column + 1,
                 bdml_excerpt(text, strlen(text), name));
    else
        snprintf(out, size, "column %d", s->label_column + 1);
}

static void name_remedy(const bdml_source *s, char *out, size_t size)
{
    char name[BDML_EXCERPT_SIZE], taken[BDML_EXCERPT_SIZE];
    int better = s->columns ? bdml_columns_guess(s->columns) : -1;
    if (better >= 0)
        snprintf(out, size, "column %d looks like the label: --label %s", better + 1,
                 bdml_column_argument(s->columns, better, name));
    else if (s->columns && s->label_column >= 0)
        snprintf(
            out, size,
            "name the label column with --label COLUMN, or --label none; if these are classes: "
            "--label %s",
            bdml_column_argument(s->columns, s->label_column, taken));
    else
        snprintf(out, size, "if these are classes, say so: --label auto");
}

bdml_status bdml_doubt_labels(bdml_handle *h, const bdml_input_options *o, const bdml_source *s,
                              int64_t n, int classes, char *const *names, char **text, bool *grave)
{
    char column[BDML_EXCERPT_SIZE + 32], remedy[BDML_ERROR_SIZE / 3], line[BDML_ERROR_SIZE];
    bool given = o->label.given || o->labels_file.given || o->label_variable.given, fractions;
    *text = NULL;
    *grave = false;
    if (!s->labelled || classes <= FEW_FRACTIONS) return BDML_OK;
    bool numbers = are_numbers(h, classes, names, &fractions);
    bool sparse = classes > FEW_CLASSES && n < CLASS_ROWS * (int64_t)classes;
    bool unlike = sparse && 2 * n < 3 * (int64_t)classes;
    bool measured = numbers && (fractions || sparse);
    bool odd = sparse || (numbers && classes > MANY_NUMBERS);
    if (!unlike && !measured && !odd) return BDML_OK;
    name_column(s, column, sizeof column);
    name_remedy(s, remedy, sizeof remedy);
    bdml_snprintf(h->c_locale, line, sizeof line,
                  "%s: %s, taken for the label%s, %s %d different %s in %lld rows%s%s%s", s->path,
                  column, !given && s->label_found == BDML_LABEL_PLACED ? " as it is the last" : "",
                  s->label_column < 0 ? "have" : "has", classes, numbers ? "numbers" : "values",
                  (long long)n, measured ? ": measurements, it seems, not classes" : "",
                  given ? "" : "; ", given ? "" : remedy);
    *grave = !given && (unlike || measured);
    *text = bdml_strdup(h, line);
    return *text ? BDML_OK : BDML_ERR_MEMORY;
}
