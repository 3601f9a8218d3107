/* corpus.h - the list of bad files: each is built into the folder of the test and registered with the
 * status it must give and a piece of the message that must name what is wrong. */
#ifndef BDML_TESTS_CORPUS_H
#define BDML_TESTS_CORPUS_H

#include "make.h"

enum { MAX_BAD = 256 };

typedef struct bad {
    char path[512];
    bdml_status status;
    const char *fragment;
    const char *settings; /* "name=value name=value", or "" */
    bool classes;         /* the file can be read, but not trained on */
} bad;

static bad corpus[MAX_BAD];
static int corpus_size;

static inline bad *expect(const char *path, bdml_status status, const char *fragment)
{
    assert_true(corpus_size < MAX_BAD);
    bad *b = &corpus[corpus_size++];
    snprintf(b->path, sizeof b->path, "%s", path);
    b->status = status;
    b->fragment = fragment;
    b->settings = "";
    return b;
}
static inline bad *expect_text(const char *name, const char *text, bdml_status status,
                               const char *fragment)
{
    return expect(save_text(name, text), status, fragment);
}
static inline void with(bad *b, const char *settings)
{
    b->settings = settings;
}
static inline void needs_classes(bad *b)
{
    b->classes = true;
}

#define DATA   BDML_ERR_DATA
#define FORMAT BDML_ERR_FORMAT

#endif
