/* remaining.h - the seconds that are left of a run, from the share that is done and the clock. */
#ifndef BDML_CLI_REMAINING_H
#define BDML_CLI_REMAINING_H

typedef struct remaining {
    double started; /* when the run began */
    double share;   /* that is done; the run's own reports set it, it never falls */
    int percent;    /* whole percent when the guess was made; 0 = none was made yet */
    double seconds; /* the guess */
    double made;    /* and when */
} remaining;

/* Whole percent that are done: 100 when all is. */
int remaining_percent(const remaining *r);
/* Seconds left, 0 when there is nothing to say: too little is done, all is, or nothing has moved for some seconds. Between two
 * whole percent what was said counts down. */
double remaining_seconds(remaining *r, double now);

#endif
