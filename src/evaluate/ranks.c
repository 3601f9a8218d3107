/* ranks.c - what the methods reached, after jobs that were dealt out to ranks: on every rank that of all.
 *
 * The numbers of the jobs have been exchanged; here the rest: confusion matrices, what was chosen, who refused. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static bdml_status gather_confusion(bdml_handle *h, bdml_confusion *c)
{
    bdml_status status = BDML_OK;
    const size_t n = (size_t)c->classes, cells = c->count ? n * n : 0;
    const struct {
        int64_t *count;
        size_t n;
    } parts[] = {{&c->total, 1}, {&c->wrong, 1}, {c->right, n}, {c->given, n}, {c->count, cells}};
    double *count = NULL, *p;
    BDML_NEW(h, count, 2 + 2 * n + cells);
    p = count;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; k < parts[i].n; k++) *p++ = (double)parts[i].count[k];
    bdml_comm_sum(h->comm, (int64_t)(2 + 2 * n + cells), count);
    p = count;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; k < parts[i].n; k++) parts[i].count[k] = (int64_t)*p++;
done:
    free(count);
    return status;
}

/* What one rank chose on a split, as text, which every rank reads: so all have the same. */
static bdml_status gather_choice(bdml_handle *h, json_t **chosen)
{
    bdml_status status = BDML_OK;
    char *own = *chosen ? json_dumps(*chosen, JSON_COMPACT) : NULL, *text = NULL;
    bool lost = *chosen && !own; /* agreed upon before anyone waits for the text */
    int64_t length = (int64_t)bdml_comm_total(h->comm, own ? (double)strlen(own) : 0.0);
    if (bdml_comm_largest(h->comm, lost) > 0.0) {
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
        goto done;
    }
    if (length == 0) goto done;
    BDML_NEW(h, text, length + 1);
    if (own) memcpy(text, own, (size_t)length);
    bdml_comm_text(h->comm, own != NULL, (size_t)length, text);
    json_decref(*chosen);
    *chosen = json_loads(text, 0, NULL);
    if (!*chosen) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
done:
    free(own); /* of jansson, whose memory is that of malloc */
    free(text);
    return status;
}

/* The first split that the method refused, on any rank, and why. */
static void gather_refusal(const bdml_comm *comm, bdml_score *s)
{
    double first = bdml_comm_least(comm, s->failed);
    if (first >= s->splits) return;
    bool mine = s->failed == (int)first; /* a split of a method is the job of one rank */
    s->status = (bdml_status)bdml_comm_total(comm, mine ? (double)s->status : 0.0);
    bdml_comm_text(comm, mine, sizeof s->reason, s->reason);
    s->failed = (int)first;
}

bdml_status bdml_scores_gather(bdml_handle *h, int methods, bdml_score *score)
{
    for (int m = 0; m < methods && h->comm->size > 1; m++) {
        BDML_TRY(gather_confusion(h, &score[m].confusion));
        for (int split = 0; split < score[m].splits; split++)
            BDML_TRY(gather_choice(h, &score[m].chosen[split]));
        gather_refusal(h->comm, &score[m]);
    }
    return BDML_OK;
}
