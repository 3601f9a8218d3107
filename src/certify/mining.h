/* mining.h - constraints of a model beside the rule that they were mined by. Private to certify. */
#ifndef BDML_MINING_H
#define BDML_MINING_H

#include "certify/stated.h"

/* Of a row, as target or impostor of an anchor. */
enum { BDML_NOT, BDML_POSSIBLE, BDML_SURE };

typedef struct bdml_mined_triplet {
    int32_t anchor, near, far;
} bdml_mined_triplet;

typedef struct bdml_mined {
    bdml_plain *w;
    /* the rule */
    bdml_rule rule;
    bool triplets;
    int targets, impostors, random; /* nearest on either side; drawn among the others */
    uint64_t seed;
    int64_t wanted_anchors; /* as the settings or the recipe have it; 0: all rows */
    int64_t anchors;
    unsigned char *is_anchor;
    int64_t *start; /* rows by class: those of class c are row[start[c] .. start[c+1]) */
    int32_t *row;
    /* the points */
    double *p, *error; /* n rows of w->d; how far each may be off */
    double *low, *high, *best;
    int64_t vague; /* anchors whose distances are not told well enough to choose by */
    /* of one anchor */
    unsigned char *target, *impostor;
    int64_t take_targets, take_impostors; /* how many of them; -1: the rule does not say */
    int32_t *near, *far;                  /* triplets that name a row on either side */
    /* of all */
    int64_t *first; /* triplets of anchor i: order[first[i] .. first[i+1]) */
    bdml_mined_triplet *order;
    int32_t *times;        /* of each pair: among the target pairs */
    unsigned char *is_far; /* and: a pair constraint */
    int32_t *least_target, *most_target, *least_far, *most_far;
    int64_t wanted; /* target pairs; -1: the rule does not say */
} bdml_mined;

bdml_status bdml_mined_open(bdml_handle *h, bdml_plain *w, const bdml_stated *s, bdml_mined *m);
void bdml_mined_close(bdml_mined *m);
/* Pairs distinct and in order, each used; constraints of one kind, distinct, without margins or weights of their own;
 * triplets sorted by anchor into m->order. */
bdml_status bdml_mined_shape(bdml_handle *h, bdml_mined *m, bool *fits);
/* Random impostors of anchor i: state[j] = BDML_SURE; their number. */
int64_t bdml_mined_draw(const bdml_mined *m, int64_t i, unsigned char *state);

#endif
