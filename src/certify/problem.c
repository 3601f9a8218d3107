/* problem.c - level "problem": preparation, reference, objective, weights and constraints are what the data and
 * the settings in the model give. */
#include "certify/stated.h"

/* Numbers and words of the problem that are set, and not computed. */
static void check_settings(bdml_plain *w, const bdml_stated *s)
{
    const bdml_evidence *e = w->e;
    struct {
        const char *what;
        double in_file, stated;
    } pairs[] = {
        {"distortion", e->K, s->K},
        {"margin", e->margin, s->margin},
        {"trace", e->R, s->R},
        {"gap", e->gap_asked, s->gap},
        {"hard", e->hard, s->hard},
        {"diagonal", e->diagonal, s->diagonal},
        {"loss", e->squared, s->squared},
        {"objective", e->pull, s->pull},
    };
    static const char fields[] =
        "method settings.distortion settings.margin settings.trace settings.gap settings.hard "
        "settings.diagonal settings.loss selection.distortion evidence.K evidence.margin "
        "evidence.R "
        "evidence.gap_asked evidence.hard evidence.diagonal evidence.squared evidence.pull";
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k].in_file != pairs[k].stated) {
            bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "settings", fields, false,
                              "%s: the problem has %.12g, the settings say %.12g", pairs[k].what,
                              pairs[k].in_file, pairs[k].stated);
            return;
        }
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "settings", fields, true,
                      "distortion, margin, trace, gap and form are those of the settings%s",
                      s->chosen ? " and of the choice that is told" : "");
}

static bdml_status check_constraints(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    bool mined = s->origin == BDML_ORIGIN_RULE || s->origin == BDML_ORIGIN_RECIPE;
    if (mined && s->o->neighbors.search.value == BDML_SEARCH_APPROXIMATE) {
        bdml_verdict_trust(w->v, "constraints", BDML_CONSTRAINT_FIELDS,
                           "constraints taken on trust: they were mined by an approximate search, "
                           "which may miss a neighbour; training again (level repeat) finds them "
                           "again");
        return BDML_OK;
    }
    switch (s->origin) {
    case BDML_ORIGIN_FILES:
        return bdml_check_given(w, s);
    case BDML_ORIGIN_RULE:
    case BDML_ORIGIN_RECIPE:
        return bdml_check_mining(h, w, s);
    case BDML_ORIGIN_GIVEN:
        bdml_verdict_trust(
            w->v, "constraints", BDML_CONSTRAINT_FIELDS,
            "constraints taken on trust: a program gave them, and no file holds them");
        return BDML_OK;
    case BDML_ORIGIN_RELEVANT:
        bdml_verdict_trust(
            w->v, "constraints", BDML_CONSTRAINT_FIELDS,
            "constraints taken on trust: they were mined from the positives of %.120s; "
            "training again (level repeat) mines them again",
            s->o->constraints.relevant_file.value);
        return BDML_OK;
    case BDML_ORIGIN_UNKNOWN:
        break;
    }
    return BDML_OK;
}

bdml_status bdml_check_problem(bdml_handle *h, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    bdml_stated s;

    BDML_TRY(bdml_stated_open(h, w, &s));
    if (!s.own) return BDML_OK;
    if (s.origin == BDML_ORIGIN_UNKNOWN) { /* written by an older version */
        bdml_verdict_trust(w->v, "constraints", BDML_CONSTRAINT_FIELDS,
                           "all of the problem taken on trust: the model does not say where its "
                           "constraints come from");
        goto done;
    }
    check_settings(w, &s);
    BDML_GO(bdml_check_preparation(h, w, &s));
    if (s.o->rank.rank.value > 0) { /* Q was learned, or drawn from what is not kept */
        bdml_verdict_trust(
            w->v, "rank",
            BDML_CONSTRAINT_FIELDS " evidence.reference certificate.reference "
                                   "evidence.cost evidence.g_scale "
                                   "certificate.softness",
            "map Q and the problem among the points that it maps taken on trust: how "
            "Q was found is not in the file");
        goto done;
    }
    BDML_GO(bdml_check_reference(h, w, &s));
    BDML_GO(bdml_check_weight(h, w, &s));
    BDML_GO(check_constraints(h, w, &s));
    BDML_GO(bdml_check_threshold(h, w, &s));
done:
    bdml_stated_close(&s);
    return status;
}
