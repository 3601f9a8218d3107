/* entrants.h - who takes part in the tables of classification: each a method with its settings. */
#ifndef BDML_ENTRANTS_H
#define BDML_ENTRANTS_H

#include "reproduce.h"

enum { RP_SETS = 5, RP_SETTINGS = 12 };

/* The paper's sets, scaled as fits its Euclidean row best. */
typedef struct rp_set {
    const char *name, *title, *path, *scale, *trace; /* trace: ten times the dimension */
    bool bundled;
    bool large; /* costly entrants get fewer splits */
} rp_set_row;
extern const rp_set_row rp_sets[RP_SETS];
/* Without its file Waveform is generated as its authors describe it. */
bool rp_set_is_generated(int set);
bdml_status rp_read_set(bdml_handle *h, int set, bdml_dataset **out);

/* What bdml_set takes for an entrant, beside the scale of the set. */
typedef struct rp_entrant {
    char name[64]; /* in tables and keys */
    const char *method;
    const char *setting[RP_SETTINGS]; /* name, value, ..., NULL */
    const double *error, *deviation;  /* as the paper prints them, by set; NULL: it does not */
    bool ours;                        /* a form of method bdml */
    bool tuned;                       /* scale and main parameter by cross-validation */
    bool bounded_trace;               /* needs the trace of the set */
    bool costly;                      /* minutes a fit where there are thousands of rows */
} rp_entrant;

int rp_entrant_count(void);
rp_entrant rp_entrant_at(int i);
/* The number of the recipe, which the others are compared with. */
int rp_recipe(void);
/* All settings of an entrant on a set into the handle of a cell. */
bdml_status rp_enter(bdml_handle *h, const rp_entrant *e, const rp_set_row *set);

/* ---- entrants side by side (comparison.c) ----------------------------------------------------------------------- */

/* A study whose cell number a * rp_entrant_count() + k is entrant k on set[a]. */
typedef struct rp_table {
    const rp_study *study;
    int sets;
    const int *set;
    int (*splits)(const rp_run *r, int set, int entrant);
    bool paper; /* the paper's figures beside ours */
} rp_table;
bdml_status rp_print_table(rp_run *r, const rp_table *of, const json_t *cells, FILE *f);

#endif
