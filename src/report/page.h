/* page.h - parts of the HTML page. Private to report. */
#ifndef BDML_PAGE_H
#define BDML_PAGE_H

#include "report/figures.h"

/* Where the page goes while it is made: memory. */
typedef struct bdml_html {
    bdml_handle *h;
    FILE *f;
} bdml_html;

/* ---- html.c --------------------------------------------------------------------------------------- */

void bdml_html_text(bdml_html *p, const char *s); /* escaped */
void bdml_html_printf(bdml_html *p, const char *fmt, ...)
    BDML_PRINTF(2, 3); /* as it stands, numbers with a point */
void bdml_html_number(bdml_html *p, const char *fmt, double v); /* a dash for NaN, ∞ for infinity */
/* A picture inside the page: <figure> with base64 data, alternative text and caption. */
void bdml_html_svg(bdml_html *p, const char *svg, const char *alt, const char *caption);

extern const char bdml_page_style[]; /* style.c */

/* ---- results of all runs together (page.c) ------------------------------------------------------------ */

/* The first run that `has` something, or NULL. */
const json_t *bdml_find_run(const json_t *runs, bool (*has)(const json_t *run));
bool bdml_is_evaluation(const json_t *run); /* classification errors */
bool bdml_is_training(const json_t *run);   /* a model, or the proof that there is none */
bool bdml_is_infeasible(const json_t *run);
bool bdml_is_verification(const json_t *run);
const json_t *bdml_find_method(const json_t *run, const char *name); /* or NULL */

/* Mean error of a minus that of b over the splits or folds, and its standard error; NaN where either has no
 * list of errors or accuracies. */
double bdml_paired_errors(const json_t *run, const json_t *a, const json_t *b, double *se);

/* What was asked and found, in two sentences (summary.c). */
void bdml_page_summary(bdml_html *p, const json_t *runs);
/* What looks wrong and what to do about it (hints.c); false: nothing does. */
bool bdml_page_hints(bdml_html *p, const json_t *runs);
/* Tables (page_tables.c). */
void bdml_page_methods(bdml_html *p, const json_t *run);
void bdml_page_confusion(bdml_html *p, const json_t *run);
void bdml_page_certificate(bdml_html *p, const json_t *run);
void bdml_page_contradictions(bdml_html *p, const json_t *run);
void bdml_page_settings(bdml_html *p, const json_t *runs);

#endif
