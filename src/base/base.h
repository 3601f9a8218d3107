/* base.h - what every other folder stands on: the handle, errors, memory, settings, progress,
 * random numbers, timers, number text, safe file writing. Depends on nothing but the C library
 * and OpenMP; every folder may call it. */
#ifndef BDML_BASE_H
#define BDML_BASE_H

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/options.h"
#include "base/spread.h"
#include "bdml/bdml.h"

/* Pass a failure on to the caller; the error text is already on the handle. */
#define BDML_TRY(call)                                  \
    do {                                                \
        bdml_status try_status_ = (call);               \
        if (try_status_ != BDML_OK) return try_status_; \
    } while (0)

/* The same in a function that owns something: `status` is returned after the label `done`. */
#define BDML_GO(call)                     \
    do {                                  \
        status = (call);                  \
        if (status != BDML_OK) goto done; \
    } while (0)

/* Take n objects of type *(ptr) into ptr, or leave through `done` with BDML_ERR_MEMORY. */
#define BDML_NEW(h, ptr, n)                                   \
    do {                                                      \
        (ptr) = bdml_calloc((h), (size_t)(n), sizeof *(ptr)); \
        if (!(ptr)) {                                         \
            status = BDML_ERR_MEMORY;                         \
            goto done;                                        \
        }                                                     \
    } while (0)

/* 1 in builds for fuzzing (tests/fuzz), whose buffers are so small that files of some bytes cross their ends. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BDML_FUZZING = 1 };
#else
enum { BDML_FUZZING = 0 };
#endif

#define BDML_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BDML_MAX(a, b) ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define BDML_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define BDML_PRINTF(fmt, args)
#endif

/* ---- settings (options.c, options.h, options.def) --------------------------------------------- */

/* A value read from text. */
typedef struct bdml_parsed {
    int64_t i;      /* INT; FLAG 0 or 1; CHOICE: position in the list */
    double r;       /* the same as a number; REAL */
    bool automatic; /* INT and REAL: "auto", and the numbers are not set */
} bdml_parsed;

/* Check a text against its row and read it. On failure the reason is in `why`. `c` is the "C" locale. */
bool bdml_option_parse(const bdml_option *o, const char *text, locale_t c, bdml_parsed *out,
                       char *why, size_t why_size);
/* All settings of a handle back to their defaults. */
void bdml_options_reset(bdml_handle *h);
/* Setting number i as text. */
const char *bdml_option_text(const bdml_handle *h, int i);
enum { BDML_SAID_SIZE = 64 };
/* Setting number i of `o` as text: as the user of the handle said it where the value is the user's, as the table
 * says it where it is the default, else made from the value. The text lives as long as the handle, `o` and `room`. */
const char *bdml_option_said(const bdml_handle *h, const bdml_options *o, int i,
                             char room[BDML_SAID_SIZE]);

/* ---- phases -------------------------------------------------------------------------------- */

typedef enum bdml_phase {
    BDML_PHASE_OTHER,
    BDML_PHASE_READ,
    BDML_PHASE_PREPARE,
    BDML_PHASE_NEIGHBORS,
    BDML_PHASE_CONSTRAINTS,
    BDML_PHASE_SOLVE,
    BDML_PHASE_EIGEN,
    BDML_PHASE_GRADIENT,
    BDML_PHASE_CERTIFY,
    BDML_PHASE_EVALUATE,
    BDML_PHASE_WRITE,
    BDML_PHASE_COUNT
} bdml_phase;

/* ---- handle (handle.c) --------------------------------------------------------------------- */

enum { BDML_ERROR_SIZE = 1024, BDML_WARNED_SIZE = 32 };

struct bdml_handle {
    char error[BDML_ERROR_SIZE];
    bdml_options options; /* what the user has set, for the public calls to read: see options.h */
    char *text[BDML_OPT_COUNT]; /* of the settings that were given, as they were; else NULL */
    double *reference_map;      /* what options.reference_map borrows (given_map.c) */
    locale_t c_locale;          /* number text never depends on the host program's locale */

    const bdml_comm *comm; /* borrowed; never NULL */

    bdml_progress_fn progress;
    void *progress_user;
    double progress_last; /* when the callback was last called */
    int calling;          /* a callback is under way: settings stay as the call has read them */
    bool cancelled;
    bool leaving;    /* the callback last said BDML_LEAVE */
    double limit_at; /* bdml_limit_time: when all calls together are to end; 0: each by itself */
    double
        deadline; /* of the call under way, on the clock of bdml_now: bdml_progress ends it; 0: none */
    double
        stop_by; /* what iterates stops with the best so far, early enough for what follows; 0: never */
    struct {     /* set: what is reported instead of the progress of parts (bdml_progress_hold) */
        const char *what;
        int64_t done, total;
    } outer;
    bdml_log_fn log;
    void *log_user;
    uint64_t warned[BDML_WARNED_SIZE]; /* hashes of the latest warnings: each is told once */
    int warnings;

    bdml_phase phase; /* running phase, the time it was entered, and what each has cost so far */
    double phase_since;
    double phase_seconds[BDML_PHASE_COUNT];

    double eigen_pace; /* seconds of an eigenproblem over d^3, as last measured; 0: not yet */
    int blas_depth;    /* nested calls that hold BLAS to one thread (linalg/guard.c) */
    int most_threads;  /* that have room to work in; 0: any number */
    struct bdml_checkpoint
        *checkpoint;        /* of the training under way (train/checkpoint.h), or NULL */
    int64_t checkpoints;    /* written by the last training */
    struct bdml_warm *warm; /* what the training under way starts from (train/warm.h), or NULL */

    /* Fault injection and accounting, for tests: fail the n-th allocation or write from now
     * (0 = never); allocations made so far. */
    int64_t fail_alloc, fail_write, alloc_count;
    int64_t whole_image; /* bytes up to which rows under a map are held whole; 0: train/image.c's */
    double
        pretend_free;   /* bytes of memory that the machine is taken to have free; 0: it is asked */
    double memory_held; /* bytes that the work under way takes beside blocks (bdml_memory_take) */
    double memory_share;    /* of the setting "memory", for work that runs beside other work */
    double memory_estimate; /* all that the work taken last was said to take, blocks included */
};

/* Threads to use in our own parallel regions: always `num_threads(bdml_threads(h))`, or where the work
 * may be small, `num_threads(bdml_threads_for(h, operations))`: 1 when waking threads would cost more
 * than it gives. Which of the two never changes the bits. */
int bdml_threads(const bdml_handle *h);
int bdml_threads_for(const bdml_handle *h, double operations);
void bdml_set_threads(bdml_handle *h, int threads);
/* A child of a process that used the library: it has one thread, whatever is set. */
bool bdml_is_forked(void);
/* Memory for blocks, in bytes: what the setting leaves beside what is held (bdml_memory_take), at most 256 MiB where it is not
 * given; results do not depend on it. */
size_t bdml_memory(const bdml_handle *h);
/* Whether bits must not depend on the threads. */
bool bdml_is_deterministic(const bdml_handle *h);

/* A handle for work that runs beside other work in a parallel region of the parent's: its memory and
 * determinism, one thread, no callbacks. Settings come with the work. */
bdml_status bdml_handle_child(bdml_handle *parent, bdml_handle **out);

/* ---- jobs (jobs.c) ---- */

/* One job of several, with the handle of its worker. */
typedef bdml_status (*bdml_job_fn)(bdml_handle *own, void *user, int64_t job);

typedef struct bdml_jobs {
    const char *what;    /* for progress and messages */
    int64_t done, total; /* finished before these, and with them: for the progress */
    int64_t count;
    int workers; /* jobs at a time; they share the threads of the handle */
    bdml_job_fn run;
    void *user;
    double
        bytes; /* memory that one job takes; fewer run at a time where not all would fit; 0: little */
    double
        until; /* on the clock of bdml_now: what is not finished then is cut short, and not counted; 0: never */
    /* Job k leaves `size` numbers at result + k*size, and nothing else that counts: then jobs are dealt out to the ranks
     * of the handle, and every rank has the numbers of all in the end. NULL: each rank does all jobs. */
    double *result;
    int64_t size;
    bool *finished; /* of each job, or NULL */
    bool *late;     /* set when `until` cut some short, or NULL */
    char *why; /* BDML_ERROR_SIZE, "" before: a job that ends in BDML_ERR_DATA is excused, and the
                * first such reason is put here; NULL: none is */
} bdml_jobs;

/* Run jobs 0..count-1, started in this order; those of a rank are every size-th. The first failure stops the rest and is returned; `until` is no
 * failure: a job that is cut short, and has asked whether it was, returns BDML_ERR_CANCELLED. What a
 * job writes is its own affair, and must not depend on which worker runs it. Warnings reach
 * the log when all are done, each once, in the order of the jobs; the rest only of the calling thread's worker. */
bdml_status bdml_jobs_run(bdml_handle *h, const bdml_jobs *jobs);
/* Asked by a job: is it being cut short? What it returns then does not count. */
bool bdml_jobs_stopped(const bdml_handle *own);
/* BDML_ERR_CANCELLED when it is: iterations that were stopped gave what they had. */
bdml_status bdml_jobs_check(bdml_handle *own);
/* By whoever runs, job or not: is there a limit to the time? */
bool bdml_jobs_limited(const bdml_handle *h);
/* By whoever runs, job or not: BDML_ERR_CANCELLED where time will be over in so many seconds, which cannot be cut short. */
bdml_status bdml_jobs_ahead(bdml_handle *h, const char *what, double seconds);

/* "; did you mean NAME?" for error lines, "" where no word is near. */
enum { BDML_MEANT_SIZE = 96 };
const char *bdml_did_you_mean(const char *word, bdml_word_fn at, const void *user,
                              char out[BDML_MEANT_SIZE]);

/* Put one line on the handle and return `status`. Number text in it is locale-proof. */
bdml_status bdml_fail(bdml_handle *h, bdml_status status, const char *fmt, ...) BDML_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* tell it what the function does: the status comes back */
#define bdml_fail(h, status, ...) (bdml_fail(h, status, __VA_ARGS__), (status))
#endif
/* Put "prefix: " before the line that is there: the caller knows the file or the split. */
bdml_status bdml_fail_context(bdml_handle *h, bdml_status status, const char *fmt, ...)
    BDML_PRINTF(3, 4);
void bdml_log(bdml_handle *h, bdml_log_level level, const char *fmt, ...) BDML_PRINTF(3, 4);

/* Report progress; BDML_ERR_CANCELLED when the user wants to stop. Cheap: the callback is called
 * ten times a second at most, and at done == 0 and done == total. Inside a parallel region only
 * thread 0 may call it; the others look at h->cancelled. */
bdml_status bdml_progress(bdml_handle *h, const char *what, int64_t done, int64_t total);

/* Until bdml_progress_release: whatever the parts report, the callback hears of the whole. */
void bdml_progress_hold(bdml_handle *h, const char *what, int64_t done, int64_t total);
void bdml_progress_release(bdml_handle *h);

double bdml_now(void); /* seconds on a clock that never goes back */

/* The time of a public call: `limit` seconds (0: none) from now, or what bdml_limit_time left. The call within a
 * call counts by the outer one: true where this one began, and ends it. */
bool bdml_deadline_begin(bdml_handle *h, double limit);
void bdml_deadline_end(bdml_handle *h, bool began);
/* For what goes on after a mere stop, such as the proof of what was found: is the user leaving? Asks as often as
 * bdml_progress does, by thread 0; the others look at h->leaving. */
bool bdml_leaves(bdml_handle *h, const char *what);
/* BDML_ERR_CANCELLED when the user is leaving, or the deadline over. */
bdml_status bdml_leave_check(bdml_handle *h, const char *what);
/* BDML_ERR_CANCELLED once it is over; bdml_progress looks at it too. */
bdml_status bdml_deadline_check(bdml_handle *h, const char *what);
bdml_status bdml_deadline_over(bdml_handle *h, const char *what); /* the failure of it */
/* Will it not be over in so many seconds? */
bool bdml_deadline_allows(const bdml_handle *h, double seconds);
/* BDML_ERR_CANCELLED also where it will be over in so many seconds: they would be for nothing. Time is up from then on. */
bdml_status bdml_deadline_ahead(bdml_handle *h, const char *what, double seconds);
/* There is a result: what is left to do with it is done, whatever the clock says. Returns the deadline. */
double bdml_deadline_lift(bdml_handle *h);
/* When this share of the time left will be over; 0: no limit. */
double bdml_time_share(const bdml_handle *h, double share);
/* What iterates is to stop with the best so far. */
bool bdml_time_is_up(const bdml_handle *h);
/* It is also to stop where its next piece of work, of so many seconds, would end too late; then time is up from here on. */
bool bdml_time_is_short(bdml_handle *h, double seconds);
/* BDML_ERR_CANCELLED when it is up: there is nothing yet to stop with. */
bdml_status bdml_time_check(bdml_handle *h, const char *what);
/* Did the clock end something with this status? What a user stops is of no more use. */
bool bdml_is_late(const bdml_handle *h, bdml_status status);
/* In a long sum, asked by each thread now and then: is it to be left as it is, because time is up or the user leaves? */
bool bdml_is_cut(bdml_handle *h, const char *what, int thread);

/* Time is charged to one phase at a time: enter returns the phase to give back to leave. */
bdml_phase bdml_phase_enter(bdml_handle *h, bdml_phase phase);
void bdml_phase_leave(bdml_handle *h, bdml_phase previous);

/* ---- memory (memory.c) --------------------------------------------------------------------- */

/* All memory of the library comes from here and is given back by free(). The product is checked;
 * NULL means BDML_ERR_MEMORY is on the handle. Large blocks are aligned to cache lines. A count of
 * 0 gives a valid pointer. Not to be called inside a parallel region. */
void *bdml_alloc(bdml_handle *h, size_t count, size_t size);
void *bdml_calloc(bdml_handle *h, size_t count, size_t size); /* zeroed */
void *bdml_realloc(bdml_handle *h, void *old, size_t count, size_t size);
char *bdml_strdup(bdml_handle *h, const char *s);
char *bdml_strndup(bdml_handle *h, const char *s, size_t n);
/* Grow *array (of `size`-byte items, room for *capacity) so that it holds `need`, by doubling. */
bdml_status bdml_grow(bdml_handle *h, void *array, size_t *capacity, size_t need, size_t size);
/* What was freed goes back to the system, when it was `bytes` or so and those are many (BDML_MEMORY_ASKED): the C library keeps freed blocks
 * that it did not map, up to 256 MiB of them in the command, and the next phase of the work takes blocks of other sizes beside them. */
void bdml_memory_back(double bytes);

/* ---- memory that is there (available.c) ------------------------------------------------------------- */

/* Bytes that this process can still take, by the machine, its memory group and its limits; infinite where none tells. */
double bdml_memory_free(const bdml_handle *h);
/* What the setting "memory" allows, in bytes: as given, or half of what is free. */
double bdml_memory_limit(const bdml_handle *h);
/* What of that is not held. */
double bdml_memory_room(const bdml_handle *h);
/* BDML_ERR_MEMORY when `what` ("8 splits at a time") needs more bytes than are free, with both figures and the advice ("" or
 * what would fit). working: beside the data, so that the setting "memory" counts too. Below BDML_MEMORY_ASKED the machine is not
 * asked. bdml_alloc refuses single blocks by itself; this is for the sum of several, before hours are spent. */
enum { BDML_MEMORY_ASKED = 64 << 20 };
bdml_status bdml_memory_check(bdml_handle *h, double bytes, bool working, const char *what,
                              const char *advice);
/* What work will take beside the data, estimated before it begins. */
typedef struct bdml_need {
    double rows;        /* bytes in proportion to the rows, */
    double fixed;       /* whatever their number, */
    double blocks;      /* and those that smaller blocks can do without */
    const char *advice; /* a setting that makes it less ("fewer --targets"), or NULL */
} bdml_need;
/* Blocks that any work has room for, whatever the setting says. */
enum { BDML_LEAST_BLOCKS = 1 << 20 };
/* Refuse as bdml_memory_check does, with the rows of n that would fit and the advice; else hold it: blocks get what it leaves, until
 * bdml_memory_release with what was held before. */
bdml_status bdml_memory_take(bdml_handle *h, const bdml_need *need, const char *what, int64_t n,
                             double *before);
void bdml_memory_release(bdml_handle *h, double before);
/* "1.5 GiB" */
enum { BDML_BYTES_SIZE = 32 };
const char *bdml_bytes_text(double bytes, char out[BDML_BYTES_SIZE]);

/* ---- random numbers (random.c) -------------------------------------------------------------- */

/* Philox 4x32-10 (Salmon et al. 2011): a number is a function of (seed, stream, counter), so any
 * thread can make the numbers of its own items. A stream is a purpose (a split, a fold, an item). */
/* Hashes, word by word. The finaliser of splitmix64: every bit of the word moves about half the bits of the result. */
static inline uint64_t bdml_mix(uint64_t hash, uint64_t word)
{
    uint64_t z = (hash ^ word) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

typedef struct bdml_rng {
    uint64_t seed, stream, counter;
} bdml_rng;

bdml_rng bdml_rng_make(uint64_t seed, uint64_t stream);
uint64_t bdml_rng_u64(bdml_rng *r);
uint64_t bdml_rng_below(bdml_rng *r, uint64_t n); /* uniform in 0 .. n-1, unbiased */
double bdml_rng_uniform(bdml_rng *r);             /* in (0, 1), 53 bits */
double bdml_rng_normal(bdml_rng *r);
void bdml_rng_shuffle(bdml_rng *r, int64_t n, int64_t *items);

/* ---- number text (number.c) ------------------------------------------------------------------ */

/* Parse the whole of s[0..n) as a double, correctly rounded, in any locale; surrounding blanks are
 * fine. False when it is not a number. "nan" and "inf" are numbers here. */
bool bdml_parse_double(locale_t c, const char *s, size_t n, double *out);
bool bdml_parse_int(const char *s, size_t n, int64_t *out);
enum { BDML_NUMBER_SIZE = 32 };
/* Shortest of %.15g, %.16g, %.17g that reads back to the same double. Returns the length. */
int bdml_format_double(locale_t c, double v, char out[BDML_NUMBER_SIZE]);
/* What printf("%a") gives in the "C" locale, several times as fast, without a '\0'. Returns the length, below
 * BDML_NUMBER_SIZE. */
int bdml_format_hex(double v, char out[BDML_NUMBER_SIZE]);
/* snprintf in the "C" locale. */
int bdml_snprintf(locale_t c, char *out, size_t size, const char *fmt, ...) BDML_PRINTF(4, 5);
int bdml_vsnprintf(locale_t c, char *out, size_t size, const char *fmt, va_list ap);

/* ---- text that is shown (visible.c) ---------------------------------------------------------- */

enum { BDML_VISIBLE_SIZE = 4 * 4 + 1 };
/* The first character of s[0..n), or what stands for it (see bdml_visible_text), into out; returns how many bytes it
 * has in s. 0: it is not whole yet, and this is not the end. */
size_t bdml_visible_take(const char *s, size_t n, bool end, char out[BDML_VISIBLE_SIZE]);

/* ---- files (file.c) --------------------------------------------------------------------------- */

bool bdml_ends_in(const char *path, const char *ending); /* ".csv", upper or lower case */

/* The only way the library writes a file is bdml_file_* of bdml.h: into a temporary file beside it, then
 * fsync and rename, so that a reader sees the old file or the whole new one. Devices are written directly. */
/* Write the first bytes again, before commit; an error for what cannot be gone back in. */
bdml_status bdml_file_rewrite(bdml_handle *h, bdml_file *f, const void *data, size_t bytes);
/* All of it at once: create, write, commit. */
bdml_status bdml_file_save(bdml_handle *h, const char *path, const void *data, size_t bytes);

/* ---- files as memory (mapped.c) ----------------------------------------------------------------- */

/* `bytes` from `offset` on of the file that is open as fd, to be read only; the descriptor stays the caller's. *out NULL: this
 * file cannot be mapped, and is to be read. A file that others shorten meanwhile does no harm but to what is computed. */
typedef struct bdml_mapped bdml_mapped;
bdml_status bdml_mapped_new(bdml_handle *h, int fd, int64_t offset, size_t bytes,
                            bdml_mapped **out);
void bdml_mapped_free(bdml_mapped *m);
const void *bdml_mapped_bytes(const bdml_mapped *m);
/* These will be read next. */
void bdml_mapped_expect(const bdml_mapped *m, size_t from, size_t bytes);
/* From now on the bytes may be written: pages that are become copies, and the file stays as it is. */
bdml_status bdml_mapped_write(bdml_handle *h, bdml_mapped *m, const char *name);
/* BDML_ERR_IO when the file called so is no longer what was mapped: asked before results are given out. */
bdml_status bdml_mapped_check(bdml_handle *h, const bdml_mapped *m, const char *name);

#endif
