/* repeat.c - level "repeat": training again, with the settings in the model, gives the same bytes, those of clocks and of
 * the name of the data file aside. */
#include "certify/stated.h"

#include <stdlib.h>

#include "train/train.h"

/* The model's bytes with what may differ from run to run taken from `as`. */
static bdml_status comparable(bdml_handle *h, bdml_model *m, const bdml_model *as, void **bytes,
                              size_t *size)
{
    static const char *const aside[] = {"times", "data"};
    for (size_t k = 0; k < sizeof aside / sizeof *aside; k++) {
        json_t *value = json_object_get(as->info, aside[k]);
        if (value)
            BDML_TRY(bdml_model_tell(h, m, aside[k], json_incref(value)));
        else
            json_object_del(m->info, aside[k]);
    }
    return bdml_save_model_bytes(h, m, bytes, size);
}

static void note(const bdml_plain *w, bool same, const char *detail)
{
    bdml_verdict_note(w->v, BDML_LEVEL_REPEAT, "repeat", "", same, "%.230s", detail);
}

/* The settings of the model, on its own handle, as training wants them: the scale that was chosen was left open, and the
 * files are where they are now. */
static bdml_status prepare(bdml_handle *h, const bdml_plain *w, bdml_handle *own)
{
    const bdml_constraint_options *now = w->files;
    const bdml_text *files[] = {&now->targets_file, &now->impostors_file, &now->pairs_file,
                                &now->triplets_file, &now->relevant_file};
    static const char *const names[] = {"targets-file", "impostors-file", "pairs-file",
                                        "triplets-file", "relevant-file"};
    const json_t *selection = json_object_get(w->model->info, "selection");
    if (json_object_get(selection, "scale")) BDML_TRY(bdml_set(own, "scale", "auto"));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (files[k]->value[0] && bdml_is_given(own, names[k]))
            BDML_TRY(bdml_set(own, names[k], files[k]->value));
    bdml_set_threads(own, bdml_threads(h));
    bdml_set_progress(own, h->progress, h->progress_user);
    return BDML_OK;
}

static bdml_status compare(bdml_handle *h, const bdml_plain *w, bdml_model *again)
{
    bdml_status status = BDML_OK;
    void *then = NULL, *now = NULL;
    size_t then_size = 0, now_size = 0;

    BDML_GO(bdml_save_model_bytes(h, w->model, &then, &then_size));
    BDML_GO(comparable(h, again, w->model, &now, &now_size));
    bool same = then_size == now_size && memcmp(then, now, now_size) == 0;
    note(w, same,
         same ? "training again gives the same model, to the bit"
              : "training again gives another model");
done:
    bdml_free_bytes(then);
    bdml_free_bytes(now);
    return status;
}

static bool cut_by_clock(const json_t *info)
{
    static const char *const parts[] = {"selection", "certificate"};
    if (json_object_get(info, "passes_done")) return true;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const json_t *by = json_object_get(json_object_get(info, parts[k]), "stopped_by");
        if (json_is_string(by) && strcmp(json_string_value(by), "time") == 0) return true;
    }
    return false;
}

bdml_status bdml_check_repeat(bdml_handle *h, const bdml_plain *w)
{
    bdml_status status = BDML_OK;
    bdml_stated s;
    bdml_model *again = NULL;
    bdml_plain quiet = *w;
    bdml_verdict none = *w->v; /* what is wrong with the settings was said before */

    quiet.v = &none;
    if (cut_by_clock(w->model->info)) {
        note(w, false,
             "the time limit cut its training short: no other run is cut at the same place");
        return BDML_OK;
    }
    BDML_TRY(bdml_stated_open(h, &quiet, &s));
    if (!s.own || s.origin == BDML_ORIGIN_GIVEN || s.origin == BDML_ORIGIN_UNKNOWN) {
        note(w, false,
             s.own ? "the constraints stand in no file: train again with them"
                   : "the settings are not known");
        goto done;
    }
    BDML_GO(prepare(h, w, s.own));
    bdml_status trained = bdml_train(s.own, w->data, NULL, &again);
    if (trained != BDML_OK && trained != BDML_ERR_INFEASIBLE) {
        if (trained == BDML_ERR_CANCELLED || trained == BDML_ERR_MEMORY)
            status = bdml_fail(h, trained, "%s", bdml_last_error(s.own));
        else
            note(w, false, bdml_last_error(s.own));
        goto done;
    }
    status = compare(h, w, again);
done:
    bdml_free_model(again);
    bdml_stated_close(&s);
    return status;
}
