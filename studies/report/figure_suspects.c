/* figure_suspects.c - the rows that weigh most in a contradiction: those to look at first. */
#include "report/figures.h"

enum { MOST_ROWS = 12, KNOWN = 256 };

bool study_has_suspects(const json_t *run)
{
    return json_array_size(json_object_get(run, "contradictions")) > 0;
}

typedef struct suspect {
    double row, weight;
} suspect;

/* Each constraint lays its multiplier on the rows it names. */
static int gather(const json_t *list, suspect s[KNOWN])
{
    static const char *const keys[] = {"i", "j", "k"};
    int n = 0;
    size_t t;
    json_t *constraint;
    json_array_foreach(list, t, constraint)
    {
        for (int k = 0; k < 3; k++) {
            double row = client_real(constraint, keys[k]);
            int at = 0;
            while (at < n && s[at].row != row) at++;
            if (isnan(row) || at == KNOWN) continue;
            if (at == n) s[n++] = (suspect){row, 0.0};
            s[at].weight += client_real(constraint, "multiplier");
        }
    }
    return n;
}

bdml_status study_draw_suspects(const json_t *run, study_drawing *d)
{
    suspect s[KNOWN];
    int n = gather(json_object_get(run, "contradictions"), s), shown = MIN(n, MOST_ROWS);
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *series = study_drawing_series(d, STUDY_PLOT_COLUMNS, shown, false);
    if (!series) return BDML_ERR_MEMORY;
    for (int i = 0; i < shown; i++) { /* the heaviest of those left; ties to the one named first */
        int best = i;
        for (int k = i + 1; k < n; k++)
            if (s[k].weight > s[best].weight) best = k;
        suspect heaviest = s[best];
        memmove(&s[i + 1], &s[i], (size_t)(best - i) * sizeof *s);
        s[i] = heaviest;
        study_series_x(series)[i] = heaviest.weight;
        study_series_y(series)[i] = i + 1;
        d->name[i] = study_drawing_text(d, "row %.0f", heaviest.row);
    }
    panel->x_label = "sum of multipliers";
    panel->x_from_zero = true;
    panel->name_count = shown;
    panel->name = d->name;
    d->plot.width = 440;
    d->plot.height = 60 + 20 * shown;
    client_format(d->alt, sizeof d->alt,
                  "The rows that weigh most in the contradiction, first of all %s.",
                  shown ? d->name[0] : "none");
    return BDML_OK;
}
