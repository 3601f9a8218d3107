/* info_expect.c - what training will make of a data file, and what to do about it. */
#include "survey.h"

#include <inttypes.h>

/* Widths of features that differ by more than this are worth a word: the wide ones are the whole distance. */
static const double UNEVEN = 100.0;
enum { FEW_ROWS = 5 }; /* of a class: too few for folds and neighbours */

static void say(json_t *list, const char *fmt, ...) CLIENT_PRINTF(2, 3);
static void say(json_t *list, const char *fmt, ...)
{
    char line[CLIENT_ERROR];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    json_array_append_new(list, client_text(line));
}

static void expect_widths(const survey *s, json_t *list)
{
    double least = INFINITY, most = 0.0;
    int narrow = 0, wide = 0;
    char a[64], b[64];
    for (int j = 0; j < s->d; j++) {
        double width = survey_deviation(&s->column[j]);
        if (width <= 0.0) continue;
        if (width < least) least = width, narrow = j;
        if (width > most) most = width, wide = j;
    }
    if (!(most > UNEVEN * least)) return;
    survey_name(s, narrow, a, sizeof a);
    survey_name(s, wide, b, sizeof b);
    say(list,
        "the spread of %s is %.0f times that of %s: train brings features to one scale by itself; "
        "for "
        "plain distances and for eval's euclidean say --scale zscore",
        b, most / least, a);
}

static void expect_classes(const survey *s, json_t *list)
{
    int few = 0, first = -1, classes = bdml_source_classes(s->source);
    for (int k = 0; k < classes; k++) {
        if (s->count[k] == 0 || s->count[k] >= FEW_ROWS) continue;
        if (few++ == 0) first = k;
    }
    if (few > 0)
        say(list,
            "%d of %d classes have fewer than %d rows (%s has %" PRId64
            "): too few to learn them from and to test on",
            few, classes, FEW_ROWS, bdml_source_class_name(s->source, first), s->count[first]);
    if (s->contradictions > 0)
        say(list, "%" PRId64 " rows equal others of another class: no metric can tell them apart",
            s->contradictions);
}

json_t *survey_expect(const survey *s)
{
    json_t *list = json_array();
    const char *doubt = s->problem[0] ? "" : bdml_source_doubt(s->c->h, s->source);
    bool labelled = bdml_source_labelled(s->source) != 0;
    if (s->problem[0]) say(list, "training stops: %s", s->problem);
    if (doubt[0]) say(list, "training stops, or warns: %s", doubt);
    if (!labelled)
        say(list, "there is no label: name its column with --label, or a file with --labels-file");
    if (labelled && !s->problem[0] && bdml_source_classes(s->source) < 2)
        say(list, "all rows are of one class: nothing can be learned from it");
    if (s->missing > 0)
        say(list,
            "training stops at the first missing value: --missing mean fills in, --missing drop "
            "leaves "
            "out %" PRId64 " of %" PRId64 " rows",
            s->incomplete, s->rows);
    if (s->problem[0]) return list;
    expect_widths(s, list);
    if (labelled && !doubt[0]) expect_classes(s, list);
    if (s->constant > 0)
        say(list, "%d constant columns tell nothing; they do no harm", s->constant);
    if (s->twins > 0)
        say(list, "%d columns repeat others: --drop them to see features that matter", s->twins);
    return list;
}
