/* suggest.c - "did you mean": the known word nearest to a misspelt one. */
#include "cli.h"

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
            best = MIN(best, MIN(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *cli_suggest(const char *word, cli_word_fn at, const void *user)
{
    const char *best = NULL, *begins = NULL, *candidate;
    int n = (int)strlen(word), least = MAX(1, n / 3) + 1, beginning = 0;

    for (int i = 0; (candidate = at(user, i)) != NULL; i++) {
        int miss = distance(word, candidate);
        if (miss < least) {
            least = miss;
            best = candidate;
        }
        if (n >= 2 && strncmp(word, candidate, (size_t)n) == 0) {
            beginning++;
            begins = candidate;
        }
    }
    if (best) return best;
    return beginning == 1 ? begins : NULL;
}

static const char *command_word(const void *user, int i)
{
    (void)user;
    return i < cli_command_count() ? cli_command_at(i)->name : NULL;
}

const char *cli_suggest_command(const char *word)
{
    return cli_suggest(word, command_word, NULL);
}
