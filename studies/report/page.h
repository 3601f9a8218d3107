/* page.h - parts of the HTML page. Private to report. */
#ifndef BDML_PAGE_H
#define BDML_PAGE_H

#include "report/figures.h"

/* Where the page goes while it is made: memory. */
typedef struct study_html {
    bdml_handle *h;
    FILE *f;
} study_html;

/* ---- html.c --------------------------------------------------------------------------------------- */

void study_html_text(study_html *p, const char *s); /* escaped */
void study_html_printf(study_html *p, const char *fmt, ...)
    CLIENT_PRINTF(2, 3); /* the format as it stands, escaped what %s brings; no number: – or ∞ */
void study_html_number(study_html *p, const char *fmt,
                       double v); /* a dash for NaN, ∞ for infinity */
/* A plot inside a page: <figure> with its panels, one key for all, and a caption. */
enum { HTML_KEY = 40 }; /* entries at most */
bdml_status study_html_plot(bdml_handle *h, FILE *f, const study_plot *plot, const char *name,
                            const char *alt, const char *caption);
/* Data for the script of the page, inside the element they belong to; takes over `data`. */
bdml_status study_html_data(bdml_handle *h, FILE *f, json_t *data);

extern const char study_page_style[];       /* page.css */
extern const char study_page_script[];      /* page.js */
extern const char study_page_script_hash[]; /* SHA-256 of it, base64 */

/* ---- results of all runs together (page.c) ------------------------------------------------------------ */

/* The first run that `has` something, or NULL. */
const json_t *study_find_run(const json_t *runs, bool (*has)(const json_t *run));
bool study_is_evaluation(const json_t *run); /* classification errors */
bool study_is_training(const json_t *run);   /* a model, or the proof that there is none */
bool study_is_infeasible(const json_t *run);
bool study_is_verification(const json_t *run);
bool study_is_retrieval(const json_t *run);
const char *study_retrieval_title(const json_t *run);                 /* (page_retrieval.c) */
const json_t *study_find_method(const json_t *run, const char *name); /* or NULL */

/* Errors of a minus those of b over the splits or folds; NaN where either has no list of errors or accuracies. */
bdml_paired study_paired_errors(const json_t *run, const json_t *a, const json_t *b);
/* More than chance: a difference that would come by chance in less than one of twenty such comparisons. */
bool study_is_clear(const bdml_paired *p);

/* What was asked and found, in two sentences (summary.c). */
void study_page_summary(study_html *p, const json_t *runs);
/* Of retrieval: what follows the name of the data, and the table (page_retrieval.c). */
void study_say_retrieval(study_html *p, const json_t *run);
void study_page_retrieval(study_html *p, const json_t *run);
/* What looks wrong and what to do about it (hints.c); false: nothing does. */
bool study_page_hints(study_html *p, const json_t *runs);
/* Tables (page_tables.c). */
void study_page_methods(study_html *p, const json_t *run);
const json_t *
study_page_confused(const json_t *run); /* the method whose confusions are shown, or NULL */
void study_page_confusion(study_html *p, const json_t *run);
bdml_status study_page_certificate(study_html *p, const json_t *run);
void study_page_directions(study_html *p, const json_t *run);
void study_page_contradictions(study_html *p, const json_t *run);
void study_page_settings(study_html *p, const json_t *runs);

#endif
