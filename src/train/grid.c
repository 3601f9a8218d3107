/* grid.c - the distortions of the setting "grid". */
#include "train/train.h"

static bdml_status add_distortion(bdml_handle *h, const char *s, size_t n, bdml_grid *g)
{
    char word[BDML_EXCERPT_SIZE];
    const bdml_option *row = bdml_option_at(BDML_OPT_DISTORTION);
    double k, last = g->count > 0 ? g->K[g->count - 1] : 0.0;
    bdml_excerpt(s, n, word);
    if (!bdml_parse_double(h->c_locale, s, n, &k))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: '%s' is not a number", word);
    if (!isfinite(k))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: a distortion must be finite, got %s", word);
    if (k < row->min)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "grid: a distortion is at least %g (the largest over the smallest "
                         "eigenvalue), got %s",
                         row->min, word);
    if (k > row->max)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: a distortion is at most %g, got %s", row->max,
                         word);
    if (k <= last)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid must ascend: %s comes after %g", word, last);
    if (g->count == BDML_GRID_MOST)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: more than %d distortions", BDML_GRID_MOST);
    g->K[g->count++] = k;
    return BDML_OK;
}

bdml_status bdml_grid_read(bdml_handle *h, const bdml_path_options *o, bdml_grid *g)
{
    const char *p = o->grid.value;
    g->count = 0;
    if (!p[strspn(p, " \t")])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "grid is empty: give distortions, ascending, such as 1,3,10,30,100");
    for (;; p++) {
        size_t n = strcspn(p, ",");
        BDML_TRY(add_distortion(h, p, n, g));
        p += n;
        if (!*p) return BDML_OK;
    }
}
