/* survey.h - a data file looked at once, as it stands: what is in it, and what may be wrong with it. */
#ifndef BDML_CLI_SURVEY_H
#define BDML_CLI_SURVEY_H

#include "cli.h"

typedef struct survey_column {
    double min, max, mean, squares; /* squares: sum of squared deviations from the mean */
    int64_t missing, there;
    uint64_t hash; /* of its values in order */
    int twin;      /* an earlier column with the same values, or -1 */
} survey_column;

typedef struct survey_row {
    uint64_t hash;
    int32_t label;
} survey_row;

typedef struct survey {
    cli *c;
    bdml_source *source;
    int d;
    double *x; /* a block of rows, their classes and places */
    int32_t *label;
    int64_t *line;
    int64_t rows, incomplete, missing, unlabelled;
    survey_column *column;
    int64_t *count; /* per class */
    size_t count_room;
    int32_t counted;
    survey_row *row;
    size_t row_room;
    int64_t duplicates, contradictions;
    int constant, twins;
    char problem[CLIENT_ERROR]; /* why the rows could not be read to the end; "" = they were */
} survey;

/* Read all of s->source. What is wrong with the data goes to s->problem. */
bdml_status survey_read(survey *s);
void survey_free(survey *s);
/* "width", or "column 3" where the file has no names */
void survey_name(const survey *s, int j, char *out, size_t size);
double survey_deviation(const survey_column *c);

/* info_expect.c: what will happen in training, and what to do about it, one sentence each: a JSON array. */
json_t *survey_expect(const survey *s);

#endif
