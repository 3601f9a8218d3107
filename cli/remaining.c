/* remaining.c - the time left of a run.
 *
 *     guess = elapsed (1 - share) / share,     made anew when the whole percent has changed
 *
 * While the percentage stands, elapsed grows and the guess would with it: it counts down instead, and after STALL seconds
 * nothing is said, as nobody knows how much longer a piece takes that already took long. */
#include "remaining.h"

#include <math.h>

static const double STALL = 5.0; /* seconds without a new percent */
static const double LEAP =
    1.5; /* a guess is moved by this factor at most: pieces of work differ in size */
static const double LEAST = 0.1; /* seconds: below, a countdown is over */
enum { TELLS = 2 };              /* percent; less tells nothing */

int remaining_percent(const remaining *r)
{
    return (int)floor(100.0 * r->share + 1e-9);
}

/* What was said last, less the time since; 0: nothing. */
static double counted_down(const remaining *r, double now)
{
    double since = now - r->made;
    return r->percent > 0 && since <= STALL ? fmax(r->seconds - since, 0.0) : 0.0;
}

double remaining_seconds(remaining *r, double now)
{
    int percent = remaining_percent(r);
    if (percent < TELLS || percent >= 100) return 0.0;
    double before = counted_down(r, now);
    if (percent == r->percent) return before;
    double guess = (now - r->started) * (1.0 - r->share) / r->share;
    if (before > LEAST) guess = fmin(fmax(guess, before / LEAP), before * LEAP);
    r->percent = percent;
    r->seconds = guess;
    r->made = now;
    return guess;
}
