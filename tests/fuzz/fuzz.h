/* fuzz.h - one program that reads whatever bytes it is given, as each of the readers would.
 *
 * A target is a function of bytes. What settings a reader gets is told by the last byte, so that the files of a corpus are
 * plain files, and a change of that byte is a change of settings. Nothing touches a disk: files are in memory.
 *
 *     fuzz.c     the table of targets; with libFuzzer its entry, else a program that replays corpora (ctest)
 *     readers.c  data files, labels, lists of constraints
 *     own.c      what bdml itself writes: models, checkpoints, results as JSON; and settings
 *     proofs.c   certificates, by the reader and prover of bdml-check
 */
#ifndef BDML_FUZZ_H
#define BDML_FUZZ_H

#include "base/base.h"

typedef struct fuzz_target {
    const char *name;
    void (*run)(const unsigned char *data, size_t size);
} fuzz_target;

extern const fuzz_target fuzz_readers[], fuzz_own[], fuzz_proofs[]; /* each ends with name NULL */

/* The path of a file in memory that holds these bytes, until the next call. */
const char *fuzz_file(const unsigned char *data, size_t size);
/* A handle with these settings, "name=value name=value"; made once, and kept. */
bdml_handle *fuzz_handle(const char *settings);
/* Which of n ways, by the last byte. */
size_t fuzz_way(const unsigned char *data, size_t size, size_t n);
/* What every call promises: a status that is known, never want of memory (for files so small), and with a failure one line of
 * text. */
void fuzz_promise(bdml_handle *h, bdml_status status);

#endif
