/* test_report.c - pages and figures made of results: what is told, what is escaped, what is refused. */
#include "check.h"

#include "report/page.h"
#include "solver/engine.h"

static const char PAGE[] = "test_report.html";

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);
    if (!f || !text) fail_msg("%s is not there", path);
    size_t n = fread(text, 1, (1 << 22) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *o = json_loads(text, 0, &error);
    if (!o) fail_msg("%s", error.text);
    return o;
}

static char *page_of(bdml_handle *h, const char *text)
{
    json_t *runs = parse(text);
    check_ok(h, study_page_write(h, runs, PAGE));
    json_decref(runs);
    char *page = slurp(PAGE);
    remove(PAGE);
    return page;
}

static const char EVALUATION[] =
    "[{\"data\": \"some/wi<ne>.csv\", \"points\": 10, \"dimension\": 2, \"neighbors\": 3, "
    "\"splits\": 4, \"test_fraction\": 0.3, \"classes\": [\"<b>&\", \"two\"], "
    "\"warnings\": [\"2 rows are the same under two classes\"], "
    "\"command_line\": \"bdml eval x.csv\", \"methods\": ["
    "{\"method\": \"euclidean\", \"error_mean\": 20.0, \"error_std\": 1.0, \"kappa\": 1.0, "
    "\"fit_seconds\": 0.00001, \"errors\": [19, 21, 20, 20], \"confusion\": [[8, 2], [2, 8]]}, "
    "{\"method\": \"bdml\", \"chosen\": {\"distortion\": {\"30\": 3, \"10\": 1}, \"weight\": "
    "{\"2\": 4}}, "
    "\"error_mean\": 10.0, \"error_std\": 1.0, \"kappa\": null, "
    "\"fit_seconds\": 1.5, \"errors\": [9, 11, 11, 9], \"confusion\": [[9, 1], [0, 10]]}]}]";

static void evaluation_is_told(void **state)
{
    char *page = page_of(*state, EVALUATION);
    check_true(strstr(page, "bdml chose, inside the training rows of each split: cap K 30 (3), 10 "
                            "(1); softness 2 (4).") != NULL);
    check_true(strstr(page, "∞ where a direction counts nothing") != NULL);
    /* two sentences, with the paired difference worked by hand: -10, -10, -9, -11 */
    check_true(strstr(page, "bdml, which errs on 10.00 %") != NULL);
    check_true(strstr(page, "-10.00 ± 0.41 points, paired by split: more than chance gives") !=
               NULL);
    /* names are text, not tags */
    check_true(strstr(page, "wi&lt;ne&gt;.csv") && !strstr(page, "<ne>"));
    check_true(strstr(page, "&lt;b&gt;&amp;") != NULL);
    check_true(strstr(page, "2 rows are the same under two classes") != NULL);
    check_true(strstr(page, "&lt; 0.001") && strstr(page, "∞"));
    check_true(strstr(page, "10.0 %") && strstr(page, "90.0 %")); /* confusions of bdml */
    check_true(strstr(page, "bdml eval x.csv") != NULL);
    check_true(strstr(page, "Nothing looks wrong") == NULL); /* there is a warning */
    /* self-contained: nothing is fetched */
    check_true(!strstr(page, "http://") && !strstr(page, "src=\"") && !strstr(page, "<link"));
    check_true(strstr(page, "default-src 'none'") && strstr(page, "class=\"panel\""));
    free(page);
}

static void as_good_as_euclidean_is_said(void **state)
{
    char *page = page_of(
        *state,
        "[{\"methods\": [{\"method\": \"euclidean\", \"error_mean\": 2, \"errors\": [2, 2, 2]},"
        "{\"method\": \"whiten\", \"error_mean\": 1, \"errors\": [1, 1, 1.1]},"
        "{\"method\": \"bdml\", \"error_mean\": 2, \"errors\": [1, 2, 3]}]}]");
    check_true(strstr(page, "That learning pays here is not shown") != NULL);
    check_true(strstr(page, "within what chance gives, so it may be noise") != NULL);
    check_true(strstr(page, "whiten errs less than bdml") == NULL); /* 0.97 +- 0.55 is no case */
    free(page);
    page = page_of(
        *state,
        "[{\"methods\": [{\"method\": \"whiten\", \"error_mean\": 1, \"errors\": [1, 1, 1]},"
        "{\"method\": \"bdml\", \"error_mean\": 2, \"errors\": [2, 2, 2.1]}]}]");
    check_true(strstr(page, "whiten errs less than bdml on these splits: by 1.03 ± 0.03") != NULL);
    free(page);
}

/* The first method refused: the others are shown, the reason is told, and nothing is NaN. */
static void refusals_are_told(void **state)
{
    bdml_handle *h = *state;
    char *page = page_of(
        h,
        "[{\"neighbors\": \"auto\", \"methods\": [{\"method\": \"bdml\", \"error\": \"no "
        "<metric>\", "
        "\"error_mean\": null}, {\"method\": \"lda\", \"error_mean\": 2, \"errors\": [1, 3]}]}]");
    check_true(
        strstr(page, "bdml gave no metric (no &lt;metric&gt;); of the others the best is lda"));
    check_true(strstr(page, "bdml gave no result: no &lt;metric&gt;") != NULL);
    check_true(strstr(page, "Error of each method") && !strstr(page, "nan %"));
    free(page);
    json_t *nothing = parse("[{}]");
    check_fails(h, study_page_write(h, nothing, PAGE), BDML_ERR_DATA, "nothing to show");
    json_decref(nothing);
}

/* Random splits share rows: s/sqrt(n) times sqrt(1 + n test/train). Here differences 1 and 3, s = sqrt(2),
 * n = 2, test/train = 1/2: se = sqrt(2 (1/2 + 1/2)). Folds are left as they are. */
static void shared_rows_are_counted(void **state)
{
    (void)state;
    json_t *run = parse("{\"folds\": 0, \"train_points\": 10, \"test_points\": 5}");
    json_t *a = parse("{\"errors\": [2, 4]}"), *b = parse("{\"errors\": [1, 1]}");
    json_t *c = parse("{\"accuracies\": [98, 96]}"), *d = parse("{\"accuracies\": [99, 99]}");
    bdml_paired p = study_paired_errors(run, a, b);
    check_close(p.difference, 2.0, 1e-15);
    check_close(p.error_corrected, sqrt(2.0), 1e-15);
    check_true(!study_is_clear(&p)); /* two splits show nothing */
    check_close(study_paired_errors(run, c, d).difference, 2.0, 1e-15); /* the same errors */
    json_object_set_new(run, "folds", json_integer(2));
    check_close(study_paired_errors(run, a, b).error_corrected, 1.0, 1e-15);
    check_true(isnan(study_paired_errors(run, a, d).difference));
    json_decref(run);
    json_decref(a);
    json_decref(b);
    json_decref(c);
    json_decref(d);
}

static void infeasible_is_told(void **state)
{
    char *page = page_of(
        *state,
        "[{\"status\": \"infeasible\", \"error\": \"proven infeasible\", \"proof\": \"every trace "
        "and "
        "margin\", \"proof_file\": \"m.bdml.proof\", \"data\": \"iris.csv\", \"distortion\": 10, "
        "\"constraints\": 1350, \"active\": 211, \"contradictions\": [{\"constraint\": 1, \"i\": "
        "138, "
        "\"j\": null, \"k\": 70, \"multiplier\": 0.5}]}]");
    check_true(strstr(page, "Found: there is none; 211 of the constraints contradict") != NULL);
    check_true(strstr(page, "bdml certify m.bdml.proof iris.csv") != NULL);
    check_true(strstr(page, "<td>138</td><td>–</td><td>70</td>") != NULL);
    check_true(strstr(page, "Leave out <code>--hard</code>") != NULL);
    check_true(strstr(page, "<title>row 138 0.5</title>") != NULL); /* the row to look at first */
    check_true(strstr(page, "What distortion is") == NULL); /* no metric, no picture of it */
    free(page);
}

static const char TRAINING[] =
    "{\"data\": \"x.csv\", \"points\": 4, \"features\": 2, \"classes\": 2, \"fit_seconds\": 0.1, "
    "\"method\": \"bdml\", \"status\": \"optimal\", \"lower\": 1.0, \"upper\": 1.001, \"gap\": "
    "0.001, "
    "\"distortion\": 10, \"kappa\": 10, \"constraints\": 5, \"spectrum\": {\"eigenvalues\": [4, 2, "
    "0]}, "
    "\"history\": {\"iteration\": [1, 2, 3], \"lower\": [0, 0.5, 1], \"upper\": [null, 2, 1.001]}, "
    "\"features_that_matter\": {\"kind\": \"features\", \"name\": [\"w<i>dth\", \"height\"], "
    "\"column\": [1, 0], \"weight\": [0.75, 0.25], \"direction\": [{\"share\": 0.6, \"feature\": "
    "[\"w<i>dth\", \"height\"], \"loading\": [0.9, -0.436]}]}, "
    "\"view\": {\"rows\": 8, \"row\": [0, 2, 4, 6], \"class\": [0, 0, 1, 1], \"classes\": [\"a\", "
    "\"</script>\"], \"feature\": [\"w<i>dth\"], \"value\": [[1.5], [2], [3], [4]], "
    "\"before\": {\"points\": [[0, 1], [1, 0], [2, 2], [3, 1]], \"share\": [0.6, 0.4], "
    "\"neighbors\": "
    "[[1], [0], [3], [2]]}, \"after\": {\"points\": [[0, 1], [1, 0], [2, 2], [3, 1]], \"share\": "
    "[0.7, "
    "0.3], \"neighbors\": [[1], [0], [3], [2]]}}}";

static void figures_are_found(void **state)
{
    bdml_handle *h = *state;
    json_t *run = parse(TRAINING), *other = parse(EVALUATION);
    bool drawn;
    static const char *const there[] = {"spectrum", "convergence", "view", "features",
                                        "ellipsoids"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        check_true(study_figure_there(there[i], run));
        check_ok(h, study_figure_write(h, there[i], run, "test_report.svg", 0, &drawn));
        check_true(drawn);
        char *svg = slurp("test_report.svg");
        check_true(strstr(svg, "<svg") != NULL);
        free(svg);
        remove("test_report.svg");
    }
    check_true(!study_figure_there("path", run) && !study_figure_there("roc", run));
    check_true(study_figure_there("errors", json_array_get(other, 0)));
    check_fails(h, study_figure_write(h, "path", run, "test_report.svg", 0, &drawn), BDML_ERR_DATA,
                "bdml path --json");
    check_fails(h, study_figure_write(h, "pie", run, "test_report.svg", 0, &drawn),
                BDML_ERR_ARGUMENT, "the figures are: errors, path");
    json_decref(run);
    json_decref(other);
}

/* A file that was changed has more points than rows, and names that are no text: what belongs together is drawn. */
static void changed_results_are_drawn(void **state)
{
    bdml_handle *h = *state;
    json_t *run = parse(TRAINING), *view = json_object_get(run, "view");
    bool drawn;
    size_t circles = 0;
    json_array_set_new(json_object_get(view, "feature"), 0, json_integer(3));
    json_array_set_new(json_object_get(json_object_get(run, "features_that_matter"), "name"), 0,
                       json_null());
    for (int k = 0; k < 50; k++)
        json_array_append_new(json_object_get(json_object_get(view, "after"), "points"),
                              json_pack("[ii]", k, 1));
    check_ok(h, study_figure_write(h, "view", run, "test_report.svg", 0, &drawn));
    char *svg = slurp("test_report.svg");
    for (const char *at = svg; (at = strstr(at, "data-i=")) != NULL; at++) circles++;
    assert_int_equal(circles, 8); /* four rows, before and after */
    check_true(strstr(svg, "? 1.5") != NULL);
    free(svg);
    check_ok(h, study_figure_write(h, "features", run, "test_report.svg", 0, &drawn));
    remove("test_report.svg");
    json_decref(run);
}

/* The page draws by itself: every figure is there on a machine with nothing else installed. */
static void page_needs_no_program(void **state)
{
    char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), text[4096];
    setenv("PATH", "/nonexistent", 1);
    snprintf(text, sizeof text, "[%s]", TRAINING);
    char *page = page_of(*state, text);
    setenv("PATH", path, 1);
    free(path);
    static const char *const there[] = {"spectrum", "convergence", "view", "features",
                                        "ellipsoids"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        char tag[64];
        snprintf(tag, sizeof tag, "<figure data-figure=\"%s\">", there[i]);
        check_true(strstr(page, tag) != NULL);
    }
    check_true(strstr(page, "it ends at [1, 1.001]") != NULL); /* the same in words */
    /* what a point says: row, class, feature that matters */
    check_true(strstr(page, "<title>row 2, class a\nw&lt;i&gt;dth 2</title>") != NULL);
    check_true(strstr(page, "+0.90 w&lt;i&gt;dth, -0.44 height") != NULL);
    /* names in the data of the script end nothing: two scripts open, two close */
    int open = 0, closed = 0;
    for (const char *at = page; (at = strstr(at, "<script")); at++) open++;
    for (const char *at = page; (at = strstr(at, "</script>")); at++) closed++;
    assert_int_equal(open, 2);
    assert_int_equal(closed, 2);
    check_true(strstr(page, "\\u003c/script>") != NULL);
    check_true(strstr(page, "</html>") != NULL);
    free(page);
}

/* A path, and a model with another K: each K is said to be what it is. */
static void two_caps_are_told_apart(void **state)
{
    static const char PATH[] =
        "{\"neighbors\": 3, \"chosen\": {\"distortion\": 2}, \"path\": [{\"distortion\": 1, "
        "\"kappa\": 1, \"test_error\": 5}, {\"distortion\": 2, \"kappa\": 2, \"test_error\": 4}]}";
    char text[8192];
    snprintf(text, sizeof text, "[%s, %s]", PATH, TRAINING);
    char *page = page_of(*state, text);
    check_true(strstr(page, "least error, K = 2") &&
               strstr(page, "the model that was kept is another one: K = 10"));
    free(page);
    snprintf(text, sizeof text, "[%s]", PATH);
    page = page_of(*state, text);
    check_true(strstr(page, "least error, K = 2") && !strstr(page, "the model that was kept"));
    free(page);
    snprintf(text, sizeof text, "[%.*s, \"reference\": \"<b>\"}, %.*s, \"reference\": \"<i>\"}]",
             (int)sizeof PATH - 2, PATH, (int)sizeof TRAINING - 2, TRAINING);
    page = page_of(*state, text);
    check_true(strstr(page, "the reference is &lt;b&gt;,") &&
               strstr(page, "relative to &lt;i&gt;"));
    check_true(!strstr(page, "<i>") && !strstr(page, "<b><"));
    free(page);
}

/* The reference alone, and accuracies of pairs, with the difference worked by hand: 3, 5, 4 points. */
static void reference_and_pairs_are_told(void **state)
{
    char *page =
        page_of(*state,
                "[{\"fit_seconds\": 1, \"method\": \"bdml\", \"distortion\": 1, \"reference\": "
                "\"fis<her\", \"upper\": 1, \"lower\": 1, \"gap\": 0, \"kappa\": 7}]");
    check_true(
        strstr(page, "K = 1: the metric is its reference itself (<code>fis&lt;her</code>)") !=
        NULL);
    free(page);
    page = page_of(
        *state,
        "[{\"pairs\": 9, \"methods\": [{\"method\": \"euclidean\", \"accuracy_mean\": 70, \"auc\": "
        "0.8, "
        "\"accuracies\": [70, 70, 70], \"roc\": {\"false_positive\": [0, 1], \"true_positive\": "
        "[0, 1]}}, "
        "{\"method\": \"bdml\", \"accuracy_mean\": 74, \"auc\": 0.8, \"accuracies\": [73, 75, 74], "
        "\"roc\": {\"false_positive\": [0, 1], \"true_positive\": [0, 1]}}]}]");
    check_true(strstr(page, "-4.00 ± 0.58 points, paired by split: more than chance gives") !=
               NULL);
    check_true(strstr(page, "Which pairs are accepted") && strstr(page, "by chance") &&
               strstr(page, "<title>bdml, AUC 0.800</title>"));
    free(page);
}

static void every_allocation_may_fail(void **state)
{
    char text[4096];
    bdml_handle *h = *state;
    snprintf(text, sizeof text, "[%s]", TRAINING);
    json_t *runs = parse(text);
    int64_t *const fail[] = {&client_fail_alloc, &h->fail_alloc}; /* ours, and the library's */
    int64_t failures = 0;
    for (int who = 0; who < 2; who++) {
        for (int64_t n = 1;; n++, failures++) {
            *fail[who] = n;
            bdml_status status = study_page_write(h, runs, PAGE);
            *fail[who] = 0;
            if (status == BDML_OK) break;
            assert_int_equal(status, BDML_ERR_MEMORY);
            check_true(access(PAGE, F_OK) != 0);
        }
        remove(PAGE);
    }
    check_true(failures > 5);
    json_decref(runs);
}

/* Whatever the number of rounds: at most so many rows, the first among them, evenly apart. */
static void history_is_bounded(void **state)
{
    (void)state;
    for (int rounds = 1; rounds < 3000; rounds += 97) {
        bdml_history h = {0};
        for (int k = 0; k < rounds; k++) bdml_history_add(&h, k, k, 2.0 * k);
        check_true(h.count >= 1 && h.count <= BDML_HISTORY_ROWS);
        check_true(rounds > BDML_HISTORY_ROWS || h.count == rounds);
        for (int i = 0; i < h.count; i++) {
            check_close(h.iteration[i], (double)(i * h.every), 0.0);
            check_close(h.upper[i], 2.0 * h.lower[i], 0.0);
        }
        check_true(h.iteration[h.count - 1] + (double)h.every >= rounds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(evaluation_is_told),        handle_test(as_good_as_euclidean_is_said),
        handle_test(refusals_are_told),         handle_test(shared_rows_are_counted),
        handle_test(infeasible_is_told),        handle_test(figures_are_found),
        handle_test(page_needs_no_program),     handle_test(reference_and_pairs_are_told),
        handle_test(two_caps_are_told_apart),   handle_test(every_allocation_may_fail),
        handle_test(changed_results_are_drawn), cmocka_unit_test(history_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
