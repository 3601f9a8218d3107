/* columns.c - what each column of a text file is for: number, words, label, or left out. */
#include "data/columns.h"

#include <stdlib.h>
#include <strings.h>

enum { ID_ROWS = 20 }; /* so many different numbers under the name of an identifier are some */

/* ---- life ------------------------------------------------------------------------------------------ */

bdml_status bdml_columns_new(bdml_handle *h, int count, char *const *names, bool named,
                             bdml_columns **out)
{
    bdml_status status = BDML_OK;
    bdml_columns *c;
    BDML_NEW(h, c, 1);
    *out = c;
    c->label = c->recurs = -1;
    c->named = named;
    c->column = bdml_alloc(h, (size_t)count, sizeof *c->column);
    if (!c->column) BDML_GO(BDML_ERR_MEMORY);
    for (int j = 0; j < count; j++) {
        char number[BDML_NUMBER_SIZE];
        BDML_GO(bdml_columns_ask(h, j));
        c->column[c->count++] = (bdml_column){.role = BDML_ROLE_NUMBER};
        snprintf(number, sizeof number, "x%d", j + 1);
        c->column[j].nameless = !named || !names[j][0];
        c->column[j].name = bdml_strdup(h, c->column[j].nameless ? number : names[j]);
        if (!c->column[j].name) BDML_GO(BDML_ERR_MEMORY);
    }
done:
    return status;
}

void bdml_columns_free(bdml_columns *c)
{
    if (!c) return;
    for (int j = 0; c->column && j < c->count; j++) {
        free(c->column[j].name);
        bdml_names_free(&c->column[j].words);
        bdml_names_free(&c->column[j].look.values);
    }
    free(c->column);
    free(c);
}

/* ---- lists of columns ---------------------------------------------------------------------------- */

/* "7", "3-5" or "9-" as first and last number, from 1. */
static bool read_range(const char *s, size_t n, int count, int64_t *first, int64_t *last)
{
    const char *dash = n > 1 ? memchr(s + 1, '-', n - 1) : NULL;
    size_t left = dash ? (size_t)(dash - s) : n;
    if (!bdml_parse_int(s, left, first)) return false;
    *last = dash ? count : *first;
    return !dash || left + 1 == n || bdml_parse_int(dash + 1, n - left - 1, last);
}

static int find_name(int count, char *const *names, const char *s, size_t n)
{
    for (int j = 0; names && j < count; j++)
        if (strlen(names[j]) == n && memcmp(names[j], s, n) == 0) return j;
    return -1;
}

bdml_status bdml_columns_list(bdml_handle *h, const char *path, const char *what, const char *list,
                              int count, char *const *names, bool lenient, bool *mark)
{
    char text[BDML_EXCERPT_SIZE], meant[BDML_MEANT_SIZE];
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        const char *s = p;
        int64_t first, last;
        p += n + (p[n] == ',');
        while (n > 0 && *s == ' ') s++, n--;
        while (n > 0 && s[n - 1] == ' ') n--;
        int j = find_name(count, names, s, n);
        if (j >= 0) {
            mark[j] = true;
        } else if (!read_range(s, n, count, &first, &last)) {
            if (lenient) continue;
            bdml_excerpt(s, n, text);
            return bdml_fail(h, BDML_ERR_DATA, "%s: --%s: no column is called '%s'%s", path, what,
                             text,
                             names ? bdml_column_meant(text, count, names, meant)
                                   : ", for there is no header; columns have numbers from 1");
        } else if (first < 1 || last > count || first > last) {
            if (lenient) continue;
            return bdml_fail(h, BDML_ERR_DATA, "%s: --%s: '%s' is not among the columns 1 to %d",
                             path, what, bdml_excerpt(s, n, text), count);
        } else {
            for (int64_t k = first; k <= last; k++) mark[k - 1] = true;
        }
    }
    return BDML_OK;
}

/* ---- what is left out ------------------------------------------------------------------------------ */

/* The settings columns and drop. */
static bdml_status apply_lists(bdml_handle *h, const bdml_input_options *o, char *const *names,
                               bool lenient, const bdml_source *s, bool *mark)
{
    bdml_columns *c = s->columns;
    if (*o->columns.value) {
        BDML_TRY(bdml_columns_list(h, s->path, "columns", o->columns.value, c->count, names, false,
                                   mark));
        for (int j = 0; j < c->count; j++)
            if (!mark[j]) c->column[j].role = BDML_ROLE_SKIP;
    }
    if (!*o->drop.value) return BDML_OK;
    for (int j = 0; j < c->count; j++) mark[j] = false;
    BDML_TRY(bdml_columns_list(h, s->path, "drop", o->drop.value, c->count, names, lenient, mark));
    for (int j = 0; j < c->count; j++) {
        if (mark[j]) c->column[j].role = BDML_ROLE_SKIP;
        c->column[j].dropped = mark[j];
    }
    return BDML_OK;
}

static bool all_differ(const bdml_look *l)
{
    return l->rows > 1 && l->values.count == BDML_MIN(l->rows, (int64_t)BDML_MOST_VALUES);
}

/* Does the first column number or name the rows? Programs that write tables with an index leave its name
 * out (R, pandas), and pandas calls it "Unnamed: 0" when it reads that again. */
static bool first_is_index(const bdml_columns *c)
{
    const bdml_column *first = &c->column[0];
    bool unnamed = c->named && (first->nameless || strncmp(first->name, "Unnamed: 0", 10) == 0);
    if (c->count < 3) return false;
    return (unnamed && all_differ(&first->look)) || bdml_look_is_count(&first->look);
}

static bdml_status leave_out_index(bdml_handle *h, const bdml_input_options *o, char *const *names,
                                   bool silent, const bdml_source *s, bool *mark)
{
    bdml_columns *c = s->columns;
    const char *setting = o->index_column.value;
    char text[BDML_EXCERPT_SIZE];
    int index = 0;
    if (strcmp(setting, "none") == 0) return BDML_OK;
    if (strcmp(setting, "auto") != 0) {
        for (int j = 0; j < c->count; j++) mark[j] = false;
        BDML_TRY(
            bdml_columns_list(h, s->path, "index-column", setting, c->count, names, silent, mark));
        while (index < c->count && !mark[index]) index++;
        if (index == c->count) return BDML_OK;
    } else if (c->column[0].role != BDML_ROLE_NUMBER || !first_is_index(c) ||
               (o->columns.given && *o->columns.value)) {
        return BDML_OK;
    } else {
        bdml_log(h, silent ? BDML_LOG_INFO : BDML_LOG_WARNING,
                 "%s: column 1 (%s) numbers the rows and is left out; --index-column none keeps it",
                 s->path, bdml_excerpt(c->column[0].name, strlen(c->column[0].name), text));
    }
    c->column[index].role = BDML_ROLE_SKIP;
    c->column[index].dropped = true;
    return BDML_OK;
}

/* ---- the label --------------------------------------------------------------------------------------- */

/* The column that "auto" means, of those not dropped: called so by the model or by its word; else the last,
 * or for last_words the last column of words. */
static bdml_status automatic_label(bdml_handle *h, const bdml_columns *c, char *const *names,
                                   const bdml_wanted *wanted, bool last_words,
                                   bdml_label_found *how, int *label)
{
    int64_t number;
    const char *known = wanted && wanted->label ? wanted->label : NULL;
    *label = known ? find_name(c->count, names, known, strlen(known)) : -1;
    *how = BDML_LABEL_NAMED;
    if (known && *label < 0 && !c->named && bdml_parse_int(known, strlen(known), &number) &&
        number >= 1 && number <= c->count)
        *label = (int)number - 1;
    if (*label < 0 && names) BDML_TRY(bdml_label_by_word(h, c->count, names, label));
    if (*label >= 0 && !c->column[*label].dropped) return BDML_OK;
    *how = BDML_LABEL_PLACED;
    for (*label = c->count - 1; *label >= 0; --*label) {
        const bdml_column *col = &c->column[*label];
        BDML_TRY(bdml_columns_ask(h, *label));
        if (!col->dropped && (!last_words || col->look.kind[BDML_FIELD_WORD] > 0)) break;
    }
    return BDML_OK;
}

static int kept(const bdml_columns *c)
{
    int n = 0;
    for (int j = 0; j < c->count; j++) n += c->column[j].role != BDML_ROLE_SKIP;
    return n;
}

static bdml_status assign_label(bdml_handle *h, const bdml_input_options *o,
                                const bdml_wanted *wanted, char *const *names, bool last_words,
                                bool matched, bdml_source *s)
{
    bdml_columns *c = s->columns;
    bdml_label_found how;
    int automatic;
    BDML_TRY(automatic_label(h, c, names, wanted, last_words, &how, &automatic));
    bool full = !matched && wanted && kept(c) == wanted->d;
    if (c->count == 1 || full || (matched && how == BDML_LABEL_PLACED)) automatic = -1;
    if (automatic >= 0 && matched && c->column[automatic].role != BDML_ROLE_SKIP) automatic = -1;
    BDML_TRY(bdml_label_column(h, o, s->path, c->count, names, automatic, &c->label));
    if (c->label >= 0) c->column[c->label].role = BDML_ROLE_LABEL;
    s->labelled = c->label >= 0;
    s->label_column = c->label;
    s->label_found = strcmp(bdml_label_setting(o), "auto") == 0 ? how : BDML_LABEL_GIVEN;
    return BDML_OK;
}

/* ---- the features ------------------------------------------------------------------------------------- */

/* Words of "NAME=word" among the features that a model wants, from *first on. */
static bdml_status wanted_words(bdml_handle *h, const bdml_wanted *wanted, bdml_column *col)
{
    size_t n = strlen(col->name);
    int32_t id;
    for (int k = 0; k < wanted->d; k++) {
        const char *text = wanted->feature[k];
        if (strncmp(text, col->name, n) != 0 || text[n] != '=') continue;
        if (col->words.count == 0) col->feature = k;
        BDML_TRY(bdml_names_add(h, &col->words, text + n + 1, strlen(text + n + 1), &id));
    }
    return BDML_OK;
}

/* A named file may have its columns in any order, and more than a model wants: they are found by their names.
 * *matched: all of them were, each once; two columns of one name must not stand for two features. */
static bdml_status match_names(bdml_handle *h, const bdml_wanted *wanted, bdml_columns *c,
                               bool *matched)
{
    bdml_status status = BDML_OK;
    bdml_names seen = {0};
    bool *there = NULL, twice = false;
    int found = 0;
    int32_t id;
    *matched = false;
    BDML_NEW(h, there, wanted->d);
    for (int k = 0; k < wanted->d; k++) {
        BDML_GO(bdml_columns_ask(h, k));
        BDML_GO(bdml_names_add(h, &seen, wanted->feature[k], strlen(wanted->feature[k]), &id));
        if (id < k) goto done; /* two of one name: by place alone */
    }
    for (int j = 0; j < c->count; j++) {
        bdml_column *col = &c->column[j];
        BDML_GO(bdml_columns_ask(h, j));
        id = bdml_names_find(&seen, col->name, strlen(col->name));
        col->feature = id;
        if (id < 0) BDML_GO(wanted_words(h, wanted, col));
        col->features = id >= 0 ? 1 : col->words.count;
        found += col->features;
        for (int k = 0; k < col->features; k++) {
            twice = twice || there[col->feature + k];
            there[col->feature + k] = true;
        }
    }
    *matched = found == wanted->d && !twice;
    for (int j = 0; j < c->count; j++) {
        bdml_column *col = &c->column[j];
        if (!*matched) bdml_names_free(&col->words);
        if (*matched)
            col->role = col->words.count   ? BDML_ROLE_WORDS
                        : col->feature < 0 ? BDML_ROLE_SKIP
                                           : BDML_ROLE_NUMBER;
    }
done:
    bdml_names_free(&seen);
    free(there);
    return status;
}

/* Its words, sorted; of two words the second alone becomes a 0/1 column. */
static bdml_status take_words(bdml_handle *h, const bdml_source *s, bdml_column *col)
{
    bdml_status status = BDML_OK;
    const bdml_names *values = &col->look.values;
    int32_t *order = NULL, id;
    char name[BDML_EXCERPT_SIZE];
    if (values->count == BDML_MOST_VALUES)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: column %s has %d different words or more, too many to encode: --drop "
                         "it",
                         s->path, bdml_excerpt(col->name, strlen(col->name), name),
                         BDML_MOST_VALUES);
    BDML_NEW(h, order, values->count);
    BDML_GO(bdml_names_sort(h, values, order));
    for (int32_t k = values->count == 2; k < values->count; k++) {
        const char *word = values->text[order[k]];
        BDML_GO(bdml_names_add(h, &col->words, word, strlen(word), &id));
    }
    col->role = BDML_ROLE_WORDS;
    col->features = col->words.count;
done:
    free(order);
    return status;
}

/* "colour" of a column of numbers, "colour=red" of one of words. */
static bdml_status name_features(bdml_handle *h, const bdml_column *col, char **names)
{
    for (int k = 0; k < col->features; k++) {
        const char *word = col->role == BDML_ROLE_WORDS ? col->words.text[k] : "";
        size_t size = strlen(col->name) + strlen(word) + 2;
        char *name = bdml_alloc(h, size, 1);
        if (!name) return BDML_ERR_MEMORY;
        snprintf(name, size, "%s%s%s", col->name, *word ? "=" : "", word);
        names[col->feature + k] = name;
    }
    return BDML_OK;
}

static bdml_status assign_features(bdml_handle *h, const bdml_input_options *o, bool matched,
                                   bdml_source *s)
{
    bdml_status status = BDML_OK;
    bdml_columns *c = s->columns;
    bool words = false;
    for (int j = 0; j < c->count; j++) {
        bdml_column *col = &c->column[j];
        BDML_GO(bdml_columns_ask(h, j));
        if (col->role == BDML_ROLE_SKIP || col->role == BDML_ROLE_LABEL) {
            col->features = 0;
            continue;
        }
        if (!matched) {
            col->features = 1;
            if (o->encode.value == BDML_ENCODE_ONEHOT && col->look.kind[BDML_FIELD_WORD] > 0)
                BDML_GO(take_words(h, s, col));
            if (s->d > INT32_MAX / 2 - col->features)
                BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: there are too many columns", s->path));
            col->feature = s->d;
        }
        s->d += col->features;
        words = words || col->role == BDML_ROLE_WORDS;
    }
    if (s->d == 0 || !(c->named || words)) goto done;
    BDML_NEW(h, s->feature_name, s->d);
    for (int j = 0; j < c->count; j++) {
        BDML_GO(bdml_columns_ask(h, j));
        BDML_GO(name_features(h, &c->column[j], s->feature_name));
    }
done:
    return status;
}

/* "id", "patient_id", "user ID", "customerId"; not "acid". */
static bool names_identifier(const char *name)
{
    size_t n = strlen(name);
    if (n < 2 || strcasecmp(name + n - 2, "id") != 0) return false;
    if (n == 2 || strchr("_-. ", name[n - 3])) return true;
    return name[n - 2] == 'I' && name[n - 3] >= 'a' && name[n - 3] <= 'z';
}

/* Numbers that differ in every row, under such a name. */
static bdml_status doubt_id(bdml_handle *h, const bdml_source *s)
{
    char text[BDML_EXCERPT_SIZE];
    for (int j = 0; j < s->columns->count; j++) {
        const bdml_column *col = &s->columns->column[j];
        BDML_TRY(bdml_columns_ask(h, j));
        if (col->role == BDML_ROLE_NUMBER && names_identifier(col->name) &&
            col->look.rows >= ID_ROWS && all_differ(&col->look))
            bdml_log(h, BDML_LOG_WARNING,
                     "%s: column %d (%s) has another number in each row: if it is an identifier, "
                     "leave it out with --drop %s",
                     s->path, j + 1, bdml_excerpt(col->name, strlen(col->name), text), text);
    }
    return BDML_OK;
}

bdml_status bdml_columns_assign(bdml_handle *h, const bdml_input_options *o,
                                const bdml_wanted *wanted, bool last_words, bdml_source *s)
{
    bdml_status status = BDML_OK;
    bdml_columns *c = s->columns;
    char **names = NULL;
    bool *mark = NULL, matched = false;

    c->decimal = o->decimal.value;
    c->missing = o->missing.value;
    BDML_NEW(h, mark, c->count);
    if (c->named) {
        names = bdml_alloc(h, (size_t)c->count, sizeof *names);
        if (!names) BDML_GO(BDML_ERR_MEMORY);
        for (int j = 0; j < c->count; j++) {
            BDML_GO(bdml_columns_ask(h, j));
            names[j] = c->column[j].name;
        }
    }
    if (wanted && wanted->feature && c->named) BDML_GO(match_names(h, wanted, c, &matched));
    if (!matched) {
        bool lenient = wanted != NULL;
        if (!wanted || c->count != wanted->d) {
            BDML_GO(apply_lists(h, o, names, lenient, s, mark));
            BDML_GO(leave_out_index(h, o, names, lenient, s, mark));
        }
    }
    BDML_GO(assign_label(h, o, wanted, names, last_words, matched, s));
    BDML_GO(assign_features(h, o, matched, s));
    if (!wanted) BDML_GO(doubt_id(h, s));
done:
    free(names);
    free(mark);
    return status;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void trim(const char **s, size_t *n)
{
    while (*n > 0 && (**s == ' ' || **s == '\t')) ++*s, --*n;
    while (*n > 0 && ((*s)[*n - 1] == ' ' || (*s)[*n - 1] == '\t')) --*n;
}

/* The 0/1 columns of a word; a missing one leaves them missing. */
static void take_word(bdml_handle *h, const bdml_source *s, const bdml_column *col,
                      const char *text, size_t n, double *x)
{
    bool missing = bdml_is_missing(text, n);
    char word[BDML_EXCERPT_SIZE], name[BDML_EXCERPT_SIZE];
    int32_t id = bdml_names_find(&col->words, text, n);
    for (int k = 0; k < col->features; k++) x[col->feature + k] = missing ? NAN : k == id;
    if (id < 0 && !missing && col->features > 1)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: '%s' of column %s was not met in training: all its "
                 "0/1 columns are 0",
                 s->path, bdml_excerpt(text, n, word),
                 bdml_excerpt(col->name, strlen(col->name), name));
}

bdml_status bdml_columns_take(bdml_handle *h, bdml_source *s, int column, const char *text,
                              size_t n, bool quoted, double *x, int32_t *label, bool *bad)
{
    const bdml_column *col = &s->columns->column[column];
    bdml_field_kind kind;
    *bad = false;
    switch (col->role) {
    case BDML_ROLE_NUMBER:
        if (s->columns->decimal == BDML_DECIMAL_POINT &&
            bdml_parse_double(h->c_locale, text, n, &x[col->feature]))
            return BDML_OK;
        kind = bdml_field_read(h, s->columns->decimal, text, n, &x[col->feature]);
        *bad = kind > BDML_FIELD_TRUTH;
        return BDML_OK;
    case BDML_ROLE_WORDS:
        if (!quoted) trim(&text, &n);
        take_word(h, s, col, text, n, x);
        return BDML_OK;
    case BDML_ROLE_LABEL:
        if (!quoted) trim(&text, &n);
        *label = -1;
        if (n == 0 || (!quoted && bdml_is_missing(text, n))) return BDML_OK;
        return bdml_names_add(h, &s->classes, text, n, label);
    case BDML_ROLE_SKIP:
        break;
    }
    return BDML_OK;
}
