/* options.h - settings by value: the rows of options.def as typed structs.
 *
 * The handle keeps what the user has set (bdml_set). A public call reads it there, once, and passes it on:
 * below the public functions, code takes the struct of its part, or all of them, by const pointer, and never
 * looks at the handle for a setting. Whoever wants other settings for a part of the work copies the struct
 * and changes the copy: texts are borrowed from the handle, which outlives the call. */
#ifndef BDML_OPTIONS_H
#define BDML_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bdml/bdml.h"
#include "base/choices.h"

/* A setting. given: the user set it, be it to its default. automatic: the number is "auto", and value what
 * stands where nothing chooses. */
typedef struct bdml_flag {
    bool value, given;
} bdml_flag;
typedef struct bdml_int {
    int64_t value;
    bool given, automatic;
} bdml_int;
typedef struct bdml_real {
    double value;
    bool given, automatic;
} bdml_real;
typedef struct bdml_choice {
    int value; /* of the type in choices.h */
    bool given;
} bdml_choice;
typedef struct bdml_text {
    const char *value; /* never NULL */
    bool given;
} bdml_text;

#define BDML_FIELD_FLAG   bdml_flag
#define BDML_FIELD_INT    bdml_int
#define BDML_FIELD_REAL   bdml_real
#define BDML_FIELD_CHOICE bdml_choice
#define BDML_FIELD_TEXT   bdml_text
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    BDML_FIELD_##type field;

typedef struct bdml_general_options {
#include "base/options/general.def"
} bdml_general_options;
typedef struct bdml_input_options {
#include "base/options/input.def"
} bdml_input_options;
typedef struct bdml_prepare_options {
#include "base/options/prepare.def"
} bdml_prepare_options;
typedef struct bdml_neighbor_options {
#include "base/options/neighbors.def"
} bdml_neighbor_options;
typedef struct bdml_constraint_options {
#include "base/options/constraints.def"
} bdml_constraint_options;
typedef struct bdml_train_options {
#include "base/options/train.def"
} bdml_train_options;
typedef struct bdml_solve_options {
#include "base/options/solve.def"
} bdml_solve_options;
typedef struct bdml_mwu_options {
#include "base/options/mwu.def"
} bdml_mwu_options;
typedef struct bdml_rank_options {
#include "base/options/rank.def"
} bdml_rank_options;
typedef struct bdml_method_options {
#include "base/options/methods.def"
} bdml_method_options;
typedef struct bdml_evaluate_options {
#include "base/options/evaluate.def"
} bdml_evaluate_options;
typedef struct bdml_adapt_options {
#include "base/options/adapt.def"
} bdml_adapt_options;
typedef struct bdml_verify_options {
#include "base/options/verify.def"
} bdml_verify_options;
typedef struct bdml_path_options {
#include "base/options/path.def"
} bdml_path_options;
typedef struct bdml_retrieve_options {
#include "base/options/retrieve.def"
} bdml_retrieve_options;
typedef struct bdml_certify_options {
#include "base/options/certify.def"
} bdml_certify_options;
typedef struct bdml_write_options {
#include "base/options/write.def"
} bdml_write_options;
#undef BDML_OPT

/* A linear map, `rows` rows of `columns`, borrowed like a text; map NULL: none was given. */
typedef struct bdml_given_map {
    int rows, columns;
    const double *map;
} bdml_given_map;

typedef struct bdml_options {
    bdml_general_options general;
    bdml_input_options input;
    bdml_prepare_options prepare;
    bdml_neighbor_options neighbors;
    bdml_constraint_options constraints;
    bdml_train_options train;
    bdml_solve_options solve;
    bdml_mwu_options mwu;
    bdml_rank_options rank;
    bdml_method_options methods;
    bdml_evaluate_options evaluate;
    bdml_adapt_options adapt;
    bdml_verify_options verify;
    bdml_path_options path;
    bdml_retrieve_options retrieve;
    bdml_given_map reference_map; /* of "reference = given" */
    const bdml_model *warm_model; /* of "warm = given", the caller's, or NULL */
    bdml_certify_options certify;
    bdml_write_options write;
} bdml_options;

/* One id per row of options.def, in its order: BDML_OPT_THREADS, BDML_OPT_SEED, ... */
typedef enum bdml_opt {
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    BDML_OPT_##id,
#include "base/options.def"
#undef BDML_OPT
    BDML_OPT_COUNT
} bdml_opt;

/* Position of `word` in a list "a|b|c", or -1; and the other way: the word's start, its length in *n. */
int bdml_choice_index(const char *choices, const char *word);
const char *bdml_choice_word(const char *choices, int index, size_t *n);

/* By id: was the setting given; its value as a number, NaN for a text; another number in its place, as if given, for
 * settings that are whole or real numbers. */
bool bdml_options_given(const bdml_options *o, bdml_opt id);
double bdml_options_number(const bdml_options *o, bdml_opt id);
void bdml_options_put(bdml_options *o, bdml_opt id, double value);
/* The setting as bdml_set would have it, in these options alone; text outlives them. */
bdml_status bdml_options_set(bdml_handle *h, bdml_options *o, bdml_opt id, const char *text);
/* The id of a name, or -1. */
int bdml_option_named(const char *name);

/* All settings at their defaults, whatever is set on the handle. */
void bdml_options_default(const bdml_handle *h, bdml_options *out);

#endif
