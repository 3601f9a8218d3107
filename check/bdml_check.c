/* bdml_check.c - bdml-check CERTIFICATE [DATA.csv [LABEL]]: read a certificate, prove its claim with bounds on
 * every rounding error, and say what was proven of which problem. docs/certificate.md states the theorem.
 *
 * Exit: 0 confirmed, 1 not proven (or other data), 2 unreadable or refused. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Text out of files and of the command line: what is not plain ASCII as \xNN, so that no terminal obeys it. */
static void show(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s >= ' ' && *s <= '~')
            fputc(*s, f);
        else
            fprintf(f, "\\x%02x", (unsigned char)*s);
}

static FILE *open_file(checker *k, const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!f) check_refuse(k, "cannot be opened");
    return f;
}

static void say_problem(const certificate *c)
{
    static const char *const losses[] = {"", " + sum_t c_t max(mu_t - <A_t,M>, 0)^2",
                                         " + sum_t c_t max(mu_t - <A_t,M>, 0)"};
    size_t triplets = 0;
    for (size_t t = 0; t < c->m; t++) triplets += c->near[t] != SIZE_MAX;
    printf("problem   ");
    if (c->objective == OBJECTIVE_NONE)
        printf("find");
    else
        printf("minimise <G,M>%s over", losses[c->form]);
    printf(" %s metrics M, %zu x %zu, with kappa(M) <= %.17g",
           c->diagonal ? "diagonal" : "symmetric", c->dim, c->dim, c->K);
    if (isfinite(c->R)) printf(", trace(M) <= %.17g", c->R);
    if (c->form == FORM_HARD) printf(" such that <A_t,M> >= mu_t");
    printf("\n          t = 1..%zu: %zu triplets, %zu pairs; mu_t = %.17g times its own", c->m,
           triplets, c->m - triplets, c->margin);
    if (c->form != FORM_HARD) printf("; c_t = %.17g times its weight / %zu", c->cost, c->m);
    if (c->objective == OBJECTIVE_TARGETS)
        printf("\n          G = %.17g times the mean over %zu target pairs", c->scale, c->targets);
    if (c->objective == OBJECTIVE_WITHIN)
        printf("\n          G = %.17g times the covariance within classes", c->scale);
    printf("\npoints    %zu rows of %zu columns", c->rows, c->columns);
    if (c->unit) printf(", scaled to length 1");
    if (c->width) printf(", over the widths stated");
    if (c->basis) printf(", in the basis stated (%zu rows)", c->basis_rows);
    if (c->reference) printf(", under the reference stated (%zu rows)", c->reference_rows);
    printf("\n");
}

static void say_proof(const certificate *c, const proof *p)
{
    if (c->claim == CLAIM_INFEASIBLE || c->claim == CLAIM_CONTRADICTION) {
        if (p->reach == INFINITY)
            printf("proven    no metric meets them, at any trace and with any positive margins\n");
        else if (p->reach > 0.0)
            printf("proven    no metric with trace below %.17g meets them\n", p->reach);
        return;
    }
    if (isfinite(p->upper)) {
        printf("proven    kappa(M) <= %.17g, trace(M) <= %.17g for the M of the certificate\n",
               p->kappa, p->trace);
        printf("proven    %s <A_t,M> >= %.17g mu_t for every t\n",
               c->form == FORM_HARD ? "all margins hold:" : "", p->worst);
        printf("proven    optimum <= %.17g, the objective at M\n", p->upper);
    }
    printf("proven    optimum >= %.17g, from %zu multipliers\n", p->lower, c->multipliers);
    if (isfinite(p->upper) && p->upper > 0.0)
        printf("gap       at most %.3g of the upper end\n",
               (p->upper - p->lower) / p->upper * (1.0 + 0x1p-40) + 0x1p-1000);
}

static void say_claim(const certificate *c)
{
    switch (c->claim) {
    case CLAIM_BRACKET:
        printf("claim     M is allowed, and the optimum lies in [%.17g, %.17g]\n", c->lower,
               c->upper);
        break;
    case CLAIM_LOWER:
        printf("claim     the optimum is at least %.17g\n", c->lower);
        break;
    case CLAIM_INFEASIBLE:
        printf("claim     no metric with trace at most %.17g\n", c->R);
        break;
    case CLAIM_CONTRADICTION:
        printf("claim     no metric at any trace\n");
        break;
    }
}

int main(int argc, char **argv)
{
    static checker k;
    static certificate c;
    static proof p;
    char text[200] = "no data file given: the rows are taken from the certificate";
    const char *volatile path = argc > 1 ? argv[1] : "";
    static bool same = true;

    if (argc < 2 || argc > 4 || (argv[1][0] == '-' && argv[1][1])) {
        fprintf(stderr,
                "usage: bdml-check CERTIFICATE [DATA.csv [LABEL]]\n"
                "LABEL: number of the label column from 1, 0 = none; else the last, if there "
                "is one more than the certificate's\n");
        return 2;
    }
    if (setjmp(k.door)) {
        fprintf(stderr, "bdml-check: ");
        show(stderr, path);
        fprintf(stderr, ": ");
        show(stderr, k.reason);
        fprintf(stderr, "\n");
        check_free(&k);
        return 2;
    }
    if (!ball_machine_ok()) check_refuse(&k, "this machine does not compute as ball.h needs it");
    FILE *f = open_file(&k, path);
    check_read(&k, f, &c);
    if (f != stdin) fclose(f);
    say_problem(&c);
    if (argc > 2) {
        path = argv[2];
        f = open_file(&k, path);
        same = check_data(&k, &c, f, argc > 3 ? strtol(argv[3], NULL, 10) : -1, text, sizeof text);
        if (f != stdin) fclose(f);
        path = argv[1];
    }
    printf("data      ");
    show(stdout, text);
    printf("\n");
    printf("trusted   scaling, reference, constraints, margins, weights: as the certificate states "
           "them\n");
    say_claim(&c);
    check_prove(&k, &c, &p);
    say_proof(&c, &p);
    if (!same) snprintf(p.failure, sizeof p.failure, "%s", text);
    bool confirmed = p.confirmed && same;
    printf("%s", confirmed ? "confirmed" : "NOT PROVEN: ");
    show(stdout, confirmed ? "" : p.failure);
    printf("\n");
    check_free(&k);
    return fflush(stdout) == 0 && confirmed ? 0 : 1;
}
