/* checkpoint.h - what a training keeps so that it can be taken up again to the same bits: scores of
 * finished cross-validation jobs, finished solves, and the state of the solve under way. Private to
 * train.
 *
 * It hangs on the handle of the training while that lasts. All calls are fine without one. */
#ifndef BDML_CHECKPOINT_H
#define BDML_CHECKPOINT_H

#include "solver/solver.h"
#include "train/train.h"

typedef struct bdml_checkpoint bdml_checkpoint;

/* By the settings "checkpoint", "every" and "resume"; h->checkpoint stays NULL when none is set. A file
 * that belongs to other data or settings is refused: BDML_ERR_ARGUMENT with what differs. */
bdml_status bdml_checkpoint_open(bdml_handle *h, const bdml_options *o, const bdml_dataset *data);
/* Write what is not yet written, unless `status` is that of a failed training, and let go. A file that
 * cannot be written is a warning: the training itself does not suffer. */
void bdml_checkpoint_close(bdml_handle *h, bdml_status status);

/* As bdml_problem_solve, but a solve that is already finished is not done again, one that was under way
 * goes on, and this one is kept. */
bdml_status bdml_checkpoint_solve(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  bdml_solve_result *r);

/* Cross-validation by so many jobs, of `size` scores each, begins. */
bdml_status bdml_checkpoint_jobs(bdml_handle *h, int jobs, int size);
/* Scores of a job that was finished before; false: it was not. */
bool bdml_checkpoint_take_job(const bdml_handle *h, int job, double *score);
/* Keep the scores of a finished job; from any thread. */
void bdml_checkpoint_put_job(bdml_handle *h, int job, const double *score);

/* ---- inside (checkpoint.c, checkpoint_file.c) ------------------------------------------------------ */

typedef struct bdml_kept_solve {
    uint64_t fingerprint;
    int64_t count;
    double *number; /* the result, as checkpoint_result.c writes it */
} bdml_kept_solve;

struct bdml_checkpoint {
    bdml_handle *own;   /* writes: its own, since jobs end on any thread */
    const char *path;   /* to write, or NULL */
    json_t *made_of;    /* data and settings */
    double every, last; /* seconds between writes; when the last was */
    bool changed;       /* since then */
    bool cut;           /* a limit ended a solve: what comes later is not kept */

    /* cross-validation; jobs 0: none yet */
    int jobs, size;
    int32_t *finished; /* per job: 1, or 0 */
    double *score;     /* jobs rows of size */

    int64_t next, solves; /* number of the next solve; finished ones */
    size_t capacity;
    bdml_kept_solve *solve;
    bdml_solve_state running; /* of solve number `solves`, or number NULL */
};

/* A result as numbers, and back: m is the number of constraints. Whatever sizes or indexes is checked (checkpoint_result.c). */
bdml_status bdml_kept_pack(bdml_handle *h, int64_t m, const bdml_solve_result *r,
                           bdml_kept_solve *kept);
bdml_status bdml_kept_unpack(bdml_handle *h, const bdml_kept_solve *kept, int64_t m,
                             bdml_solve_result *r);

bdml_status bdml_checkpoint_write(bdml_checkpoint *k); /* the error is on k->own */
bdml_status bdml_checkpoint_read(bdml_handle *h, bdml_checkpoint *k, const char *path);

#endif
