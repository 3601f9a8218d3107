/* ranks.h - threads as ranks, for tests: a communicator whose calls meet at a barrier */
#ifndef BDML_TESTS_RANKS_H
#define BDML_TESTS_RANKS_H

#include "check.h"

#include <pthread.h>

#include "base/base.h"

enum { MOST_RANKS = 4 };

typedef struct meeting {
    int size;
    pthread_barrier_t barrier;
    double *part[MOST_RANKS];
    const void *sent[MOST_RANKS];
    int64_t bytes[MOST_RANKS];
} meeting;

typedef struct member {
    meeting *all;
    int rank;
    double *result; /* of the last sum, room for so many: */
    int64_t room;
} member;

static inline void wait_for_all(const member *me)
{
    pthread_barrier_wait(&me->all->barrier);
}

/* Every rank adds in the order of the ranks, and so to the same bits. */
static inline void meet(member *me, int64_t count, double *a, bool largest)
{
    double **part = me->all->part;
    if (count > me->room) {
        me->result = realloc(me->result, sizeof *a * (size_t)count);
        me->room = count;
    }
    part[me->rank] = a;
    wait_for_all(me);
    for (int64_t k = 0; k < count; k++) {
        double v = part[0][k];
        for (int r = 1; r < me->all->size; r++) v = largest ? fmax(v, part[r][k]) : v + part[r][k];
        me->result[k] = v;
    }
    wait_for_all(me);
    if (count > 0) memcpy(a, me->result, sizeof *a * (size_t)count);
}

static inline void meet_sum(void *user, int64_t count, double *a)
{
    meet(user, count, a, false);
}

static inline void meet_max(void *user, int64_t count, double *a)
{
    meet(user, count, a, true);
}

static inline void meet_shift(void *user, int64_t out_bytes, const void *out, int64_t in_bytes,
                              void *in)
{
    member *me = user;
    int before = (me->rank - 1 + me->all->size) % me->all->size;
    me->all->sent[me->rank] = out;
    me->all->bytes[me->rank] = out_bytes;
    wait_for_all(me);
    assert_int_equal(me->all->bytes[before], in_bytes);
    memcpy(in, me->all->sent[before], (size_t)in_bytes);
    wait_for_all(me);
}

static inline void meeting_begin(meeting *all, int size)
{
    *all = (meeting){.size = size};
    pthread_barrier_init(&all->barrier, NULL, (unsigned)size);
}

static inline bdml_comm meeting_join(meeting *all, int rank, member *me)
{
    *me = (member){.all = all, .rank = rank};
    return (bdml_comm){.sum = meet_sum,
                       .max = meet_max,
                       .rank = rank,
                       .size = all->size,
                       .user = me,
                       .shift = meet_shift};
}

static inline void meeting_leave(member *me)
{
    free(me->result);
}

static inline void meeting_end(meeting *all)
{
    pthread_barrier_destroy(&all->barrier);
}

/* ---- a function on every rank -------------------------------------------------------------------------- */

typedef struct rank {
    bdml_handle *h;
    bdml_comm comm;
    member me;
    void (*run)(struct rank *r);
    void *user;
} rank;

static inline void *run_rank(void *user)
{
    rank *r = user;
    r->run(r);
    return NULL;
}

/* `run` on so many ranks, each with a handle of its own and its item of user, where there is one. */
static inline void on_ranks(int size, void (*run)(rank *r), void *user, size_t item)
{
    meeting all;
    rank list[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    meeting_begin(&all, size);
    for (int k = 0; k < size; k++) {
        list[k] = (rank){.run = run, .user = user ? (char *)user + (size_t)k * item : NULL};
        list[k].comm = meeting_join(&all, k, &list[k].me);
        check_ok(NULL, bdml_create(&list[k].h));
        check_ok(list[k].h, bdml_set(list[k].h, "threads", "1"));
        check_ok(list[k].h, bdml_set_comm(list[k].h, &list[k].comm));
        assert_int_equal(pthread_create(&thread[k], NULL, run_rank, &list[k]), 0);
    }
    for (int k = 0; k < size; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < size; k++) {
        bdml_free(list[k].h);
        meeting_leave(&list[k].me);
    }
    meeting_end(&all);
}

#endif
