/* proofs.c - certificates by the reader and prover of bdml-check, whose files stand beside this one in the program, and the data
 * that they are compared with. */
#include "fuzz.h"

#include "../../check/check.h"

#include <stdlib.h>

enum { LARGEST = 1 << 14 }; /* numbers in a proof that is worth its time here */

static void run_certificate(const unsigned char *b, size_t n)
{
    static checker k;
    static certificate c;
    static proof p;
    static FILE *f; /* not on the stack: the door leads back here */
    k = (checker){.threads = 1};
    p = (proof){0};
    f = fmemopen((void *)(uintptr_t)b, n ? n : 1, "r");
    if (!f) abort();
    if (n > 0 && setjmp(k.door) == 0) {
        check_read(&k, f, &c);
        if (c.rows * c.columns < LARGEST && c.pairs * c.dim < LARGEST && c.m < LARGEST &&
            c.dim <= 16)
            check_prove(&k, &c, &p);
        if (!p.confirmed && !p.failure[0] && c.dim <= 16 && c.m < LARGEST &&
            c.rows * c.columns < LARGEST && c.pairs * c.dim < LARGEST)
            abort();
    } else if (n > 0 && !k.reason[0]) {
        abort();
    }
    fclose(f);
    check_free(&k);
}

/* A data file against two rows of two columns. */
static void run_check_data(const unsigned char *b, size_t n)
{
    static checker k;
    static FILE *f;
    static double x[] = {1.0, 2.0, -0.5, 4.0};
    static int64_t row[] = {0, 2};
    static const long label[] = {-1, 0, 1, 3};
    char text[200] = "";
    certificate c = {.data_rows = 3, .columns = 2, .rows = 2, .row = row, .x = x};
    k = (checker){.threads = 1};
    f = fmemopen((void *)(uintptr_t)b, n ? n : 1, "r");
    if (!f) abort();
    if (n > 0 && setjmp(k.door) == 0) {
        check_data(&k, &c, f, label[fuzz_way(b, n, 4)], text, sizeof text);
        if (!text[0]) abort();
    } else if (n > 0 && !k.reason[0]) {
        abort();
    }
    fclose(f);
    check_free(&k);
}

const fuzz_target fuzz_proofs[] = {
    {"certificate", run_certificate},
    {"check_data", run_check_data},
    {NULL, NULL},
};
