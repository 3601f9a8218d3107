/* available.c - how much memory this process can still take, and estimates held against it.
 *
 * Linux gives out more memory than there is, and ends a program that then uses it. So what is large is estimated before it
 * is taken, and refused with what would fit. The least of these counts, whatever of it the machine tells:
 *
 *     /proc/meminfo                        MemAvailable + SwapFree
 *     the memory group of the process      memory.max - memory.current, less what it only keeps of files
 *     setrlimit                            RLIMIT_AS less the size of the process, RLIMIT_DATA likewise */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

enum { LINE = 512 };
static const double GIB = 1073741824.0, MIB = 1048576.0;

/* The number behind `key` in a file of lines "key number", times unit; NaN: none. key "": the first word of the file. */
static double number_in(const char *path, const char *key, double unit)
{
    char line[LINE], *end;
    double found = NAN;
    FILE *f = fopen(path, "re");
    while (f && isnan(found) && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *digits = line + strlen(key) + strspn(line + strlen(key), ": \t");
        unsigned long long v = strtoull(digits, &end, 10); /* no locale in it */
        if (end != digits) found = (double)v * unit;
        if (!*key) break;
    }
    if (f) fclose(f);
    return found;
}

/* What the group of this process, or one that it is in, leaves; infinite: there is no limit, or none to be seen. */
static double left_in_group(void)
{
    char line[LINE], folder[2 * LINE] = "", path[3 * LINE];
    double least = INFINITY;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", line + 3);
    }
    if (f) fclose(f);
    while (strlen(folder) >= strlen("/sys/fs/cgroup")) {
        snprintf(path, sizeof path, "%s/memory.max", folder);
        double most = number_in(path, "", 1.0);
        snprintf(path, sizeof path, "%s/memory.current", folder);
        double taken = number_in(path, "", 1.0);
        snprintf(path, sizeof path, "%s/memory.stat", folder);
        double files = number_in(path, "inactive_file ", 1.0);
        if (isfinite(most) && isfinite(taken))
            least = BDML_MIN(least, most - taken + (isfinite(files) ? files : 0.0));
        char *last = strrchr(folder, '/');
        *last = '\0';
    }
    return least;
}

/* What a limit of the shell leaves; taken: field of /proc/self/statm, in pages. */
static double left_of_limit(int resource, int field)
{
    struct rlimit limit;
    char line[160], *at = line;
    long taken = 0;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f) return INFINITY;
    if (!fgets(line, sizeof line, f)) line[0] = '\0';
    fclose(f);
    for (int k = 0; k <= field; k++) taken = strtol(at, &at, 10); /* 0 where there is none */
    return (double)limit.rlim_cur - (double)taken * (double)sysconf(_SC_PAGESIZE);
}

double bdml_memory_free(const bdml_handle *h)
{
    if (h->pretend_free > 0.0) return h->pretend_free;
    double free = number_in("/proc/meminfo", "MemAvailable", 1024.0);
    double swap = number_in("/proc/meminfo", "SwapFree", 1024.0);
    if (isnan(free)) free = INFINITY;
    if (isfinite(swap)) free += swap;
    free = BDML_MIN(free, left_in_group());
    free = BDML_MIN(free, left_of_limit(RLIMIT_AS, 0));
    free = BDML_MIN(free, left_of_limit(RLIMIT_DATA, 5));
    return BDML_MAX(free, 0.0);
}

/* In whole numbers, which no locale changes. */
const char *bdml_bytes_text(double bytes, char out[BDML_BYTES_SIZE])
{
    const char *unit = bytes >= GIB ? "GiB" : "MiB";
    double tenths = round(10.0 * BDML_MIN(bytes, 1e18) / (bytes >= GIB ? GIB : MIB));
    unsigned long long v = (unsigned long long)tenths;
    snprintf(out, BDML_BYTES_SIZE, "%llu.%llu %s", v / 10, v % 10, unit);
    return out;
}

/* Of what is free: the rest is for what others take meanwhile, and for what was not thought of. */
static const double SHARE_OF_FREE = 0.5;

double bdml_memory_limit(const bdml_handle *h)
{
    const bdml_int *set = &h->options.general.memory;
    double share = h->memory_share > 0.0 ? h->memory_share : 1.0;
    return share *
           (set->automatic ? SHARE_OF_FREE * bdml_memory_free(h) : MIB * (double)set->value);
}

double bdml_memory_room(const bdml_handle *h)
{
    double held = h->options.general.memory.automatic ? 0.0 : h->memory_held;
    return BDML_MIN(BDML_MAX(bdml_memory_limit(h) - held, 0.0), 1e15);
}

/* The setting does not allow it. */
static bdml_status refuse(bdml_handle *h, double bytes, double allowed, const char *what,
                          const char *advice)
{
    char need[BDML_BYTES_SIZE], have[BDML_BYTES_SIZE];
    bool set = !h->options.general.memory.automatic;
    bdml_bytes_text(bytes, need);
    bdml_bytes_text(BDML_MAX(allowed, 0.0), have);
    if (h->memory_share > 0.0 && h->memory_share < 1.0)
        return bdml_fail(h, BDML_ERR_MEMORY,
                         "%s needs about %s of memory, and %s allows %s for each of those at work "
                         "at a time; fewer of them (--jobs 1) have more%s%s",
                         what, need, set ? "--memory" : "half of what is free", have,
                         *advice ? ", or: " : "", advice);
    if (set)
        return bdml_fail(
            h, BDML_ERR_MEMORY,
            "%s needs about %s of memory, and --memory allows %s; raise it to %.0f%s%s", what, need,
            have, ceil((bytes + h->memory_held) / MIB), *advice ? ", or: " : "", advice);
    return bdml_fail(h, BDML_ERR_MEMORY,
                     "%s needs about %s of memory, and half of what is free are %s; --memory %.0f "
                     "allows it%s%s",
                     what, need, have, ceil(bytes / MIB), *advice ? ", or: " : "", advice);
}

bdml_status bdml_memory_check(bdml_handle *h, double bytes, bool working, const char *what,
                              const char *advice)
{
    char need[BDML_BYTES_SIZE], have[BDML_BYTES_SIZE];
    bool set = !h->options.general.memory.automatic;
    bool ask = bytes >= BDML_MEMORY_ASKED || h->pretend_free > 0.0;
    double free = ask ? bdml_memory_free(h) : INFINITY;
    if (bytes > free)
        return bdml_fail(h, BDML_ERR_MEMORY, "%s needs about %s of memory, and %s are free%s%s",
                         what, bdml_bytes_text(bytes, need), bdml_bytes_text(free, have),
                         *advice ? "; " : "", advice);
    if (!working || (!set && !ask)) return BDML_OK;
    double allowed = bdml_memory_limit(h) - (set ? h->memory_held : 0.0);
    return bytes > allowed ? refuse(h, bytes, allowed, what, advice) : BDML_OK;
}

/* The first two digits, for what is said to be about so many. */
static double two_digits(double v)
{
    double unit = v >= 100.0 ? pow(10.0, floor(log10(v)) - 1.0) : 1.0;
    return v > 0.0 ? unit * floor(v / unit) : 0.0;
}

bdml_status bdml_memory_take(bdml_handle *h, const bdml_need *need, const char *what, int64_t n,
                             double *before)
{
    char advice[256] = "";
    double blocks = BDML_MIN(need->blocks, (double)BDML_LEAST_BLOCKS);
    double bytes = need->rows + need->fixed + blocks;
    bool set = !h->options.general.memory.automatic;
    *before = h->memory_held;
    if (set || bytes >= BDML_MEMORY_ASKED || h->pretend_free > 0.0) {
        double room = BDML_MIN(bdml_memory_limit(h), bdml_memory_free(h)) -
                      (set ? h->memory_held : 0.0) - need->fixed - blocks;
        double fit = need->rows > 0.0 ? two_digits(room / need->rows * (double)n) : 0.0;
        if (fit >= 2.0 && fit < (double)n)
            snprintf(advice, sizeof advice, "about %.0f rows%s%s", fit, need->advice ? ", " : "",
                     need->advice ? need->advice : "");
        else if (need->advice)
            snprintf(advice, sizeof advice, "%s", need->advice);
        BDML_TRY(bdml_memory_check(h, bytes, true, what, advice));
    }
    h->memory_held += need->rows + need->fixed;
    h->memory_estimate = need->rows + need->fixed + BDML_MIN(need->blocks, (double)bdml_memory(h));
    return BDML_OK;
}

void bdml_memory_release(bdml_handle *h, double before)
{
    h->memory_held = before;
}
