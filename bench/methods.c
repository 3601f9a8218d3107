/* methods.c - fit times of all methods of the table, each in a process of its own.
 *
 *     bench_methods FILE [settings]             data of a file
 *     bench_methods gaussian N D [settings]     Gaussian classes (as bench_engine's, spread 0.3: they overlap)
 *     bench_methods                             gaussian 1000 10
 *
 * settings: NAME=VALUE of the library's (threads=1 unless given), methods=A,B to run only those, points=FILE.npy
 * to write the points, with their labels beside, for other programs. Per method: seconds of processor time and
 * on the clock, the largest memory of its process, and why it stopped where it says so. A method that
 * does not apply says why. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gaussian.h"

#include "train/train.h"

static const double SPREAD = 0.3;

static void check(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_methods: %s\n", bdml_last_error(h));
    exit(1);
}

/* In the child: train, print what can be said of the fit. */
static int fit(bdml_handle *h, const bdml_dataset *data, const char *method)
{
    bdml_model *model = NULL;
    if (bdml_set(h, "method", method) != BDML_OK || bdml_train(h, data, NULL, &model) != BDML_OK) {
        printf("%-10s %s\n", method, bdml_last_error(h));
        fflush(stdout);
        return 1;
    }
    const json_t *s = json_object_get(model->info, "stopping");
    if (s)
        printf("%-10s objective %.6g after %lld iterations; %s %.2g (wanted %.2g)\n", method,
               json_number_value(json_object_get(s, "objective")),
               (long long)json_integer_value(json_object_get(s, "iterations")),
               json_string_value(json_object_get(s, "rule")),
               json_number_value(json_object_get(s, "reached")),
               json_number_value(json_object_get(s, "wanted")));
    fflush(stdout);
    bdml_free_model(model);
    return 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void run(bdml_handle *h, const bdml_dataset *data, const char *method)
{
    struct rusage usage;
    int status;
    double start = bdml_now();
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) _exit(fit(h, data, method));
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) {
        printf("%-10s crashed\n", method);
        return;
    }
    if (WEXITSTATUS(status) != 0) return;
    printf("%-10s %9.3f s of processor time, %9.3f s on the clock, %5.0f MiB\n", method,
           seconds(usage.ru_utime) + seconds(usage.ru_stime), bdml_now() - start,
           (double)usage.ru_maxrss / 1024.0);
}

/* Is `name` in the list "a,b,c"? An empty list holds all. */
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == length && strncmp(p, name, length) == 0) return true;
    return !*list;
}

int main(int argc, char **argv)
{
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    const char *only = "", *points = NULL;
    bool synthetic = argc < 2 || strcmp(argv[1], "gaussian") == 0;
    int first = argc < 2 ? 1 : synthetic ? 4 : 2;

    if (first > argc) {
        fprintf(stderr, "usage: bench_methods [FILE | gaussian N D] [NAME=VALUE ...]\n");
        return 2;
    }
    if (bdml_create(&h) != BDML_OK) return 1;
    check(h, bdml_set(h, "threads", "1"));
    for (int a = first; a < argc; a++) {
        char name[64];
        const char *value = strchr(argv[a], '=');
        if (!value || (size_t)(value - argv[a]) >= sizeof name) {
            fprintf(stderr, "bench_methods: settings are NAME=VALUE, got '%s'\n", argv[a]);
            return 2;
        }
        snprintf(name, sizeof name, "%.*s", (int)(value++ - argv[a]), argv[a]);
        if (strcmp(name, "methods") == 0)
            only = value;
        else if (strcmp(name, "points") == 0)
            points = value;
        else
            check(h, bdml_set(h, name, value));
    }
    if (synthetic)
        data = gaussian(h, argc < 2 ? 1000 : atoll(argv[2]), argc < 2 ? 10 : atoi(argv[3]), SPREAD);
    else
        check(h, bdml_read_dataset(h, argv[1], &data));
    if (points) check(h, bdml_write_npy(h, data, points));
    printf("%lld points, %d features, %d classes\n", (long long)data->n, data->d, data->classes);
    for (int i = 0; i < bdml_method_count(); i++)
        if (listed(only, bdml_method_name(i))) run(h, data, bdml_method_name(i));
    bdml_free_dataset(data);
    bdml_free(h);
    return 0;
}
