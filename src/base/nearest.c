/* nearest.c - "did you mean": the known word nearest to a misspelt one. */
#include "base/base.h"

enum { LONGEST_WORD = 40 };

/* Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours
 * count 1 each. Three rows of the usual table are enough. */
static int distance(const char *a, const char *b)
{
    int row[3][LONGEST_WORD + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = BDML_MIN(best, BDML_MIN(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = BDML_MIN(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* A third of the letters, rounded up, may be wrong; the one word that begins so is nearer than two wrong letters. */
int bdml_nearest_word(const char *word, bdml_word_fn at, const void *user)
{
    const char *candidate;
    int n = (int)strlen(word), least = BDML_MAX(1, (n + 2) / 3) + 1, best = -1, begins = -1,
        beginning = 0;

    for (int i = 0; (candidate = at(user, i)) != NULL; i++) {
        int miss = distance(word, candidate);
        if (miss < least) {
            least = miss;
            best = i;
        }
        if (n >= 2 && strncmp(word, candidate, (size_t)n) == 0) {
            beginning++;
            begins = i;
        }
    }
    return beginning == 1 && (best < 0 || least > 1) ? begins : best;
}

const char *bdml_did_you_mean(const char *word, bdml_word_fn at, const void *user,
                              char out[BDML_MEANT_SIZE])
{
    int near = bdml_nearest_word(word, at, user);
    *out = '\0';
    if (near >= 0) snprintf(out, BDML_MEANT_SIZE, "; did you mean %.60s?", at(user, near));
    return out;
}
