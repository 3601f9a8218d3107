/* checking.c - the lines that check a certificate: bdml-check reads plain numbers and a label alone, so that any other
 * file is written so first, by the options it was trained with. */
#include "cli.h"

/* A setting of group "input" as it was for the training data: given now, or kept by the model; NULL: its default. */
static const char *reading_of(const cli *c, const json_t *settings, const bdml_option *o)
{
    const char *text =
        bdml_is_given(c->h, o->name) ? bdml_get(c->h, o->name) : client_string(settings, o->name);
    if (strcmp(o->group, "input") != 0 || !text[0] || strcmp(text, o->default_value) == 0)
        return NULL;
    return text;
}

static bool changes_reading(const cli *c, const json_t *settings)
{
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *o = bdml_option_at(i);
        if (strcmp(o->name, "label") != 0 && reading_of(c, settings, o)) return true;
    }
    return false;
}

/* Are all columns numbers, or the label? *label: its number from 1 when it is not the last, else 0. */
static bdml_status columns_are_plain(const cli *c, const bdml_source *source, bool *plain,
                                     int *label)
{
    int columns = bdml_source_columns(source);
    bdml_column_info info;
    *plain = columns > 0;
    *label = 0;
    for (int j = 0; j < columns; j++) {
        TRY(bdml_source_column(c->h, source, j, &info));
        if (strcmp(info.use, "label") == 0)
            *label = j + 1 < columns ? j + 1 : 0;
        else if (strcmp(info.use, "feature") != 0 || !strstr(info.looks, "numbers"))
            *plain = false;
    }
    return BDML_OK;
}

static bdml_status is_plain(const cli *c, const bdml_model *model, const json_t *settings,
                            const char *data, bool *plain, int *label)
{
    bdml_source *source = NULL;
    *plain = false;
    *label = 0;
    if (changes_reading(c, settings) || client_ends_in(data, ".arff") ||
        client_ends_in(data, ".gz"))
        return BDML_OK;
    TRY(bdml_open_model_source(c->h, model, data, &source));
    bdml_status status = columns_are_plain(c, source, plain, label);
    bdml_close_source(source);
    return status;
}

static bdml_status print_convert(cli *c, const json_t *settings, const char *data)
{
    printf("  bdml convert ");
    TRY(cli_say_shell_word(c, data));
    printf(" plain.csv");
    for (int i = 0; i < bdml_option_count(); i++) {
        const char *text = reading_of(c, settings, bdml_option_at(i));
        if (!text) continue;
        client_print(stdout, " --%s ", bdml_option_at(i)->name);
        TRY(cli_say_shell_word(c, text));
    }
    printf("\n");
    return BDML_OK;
}

bdml_status cli_say_how_to_check(cli *c, const bdml_model *model, const char *certificate,
                                 const char *data)
{
    bdml_status status = BDML_OK;
    bool plain;
    int label;
    json_t *description = NULL;
    if (strcmp(data, "-") == 0) return BDML_OK; /* it is not there any more */
    if (!(description = cli_describe(c, model))) return BDML_ERR_MEMORY;
    const json_t *settings = json_object_get(description, "settings");
    GO(is_plain(c, model, settings, data, &plain, &label));
    printf("check it:\n");
    if (!plain) GO(print_convert(c, settings, data));
    printf("  bdml-check ");
    GO(cli_say_shell_word(c, certificate));
    printf(" ");
    GO(cli_say_shell_word(c, plain ? data : "plain.csv"));
    if (plain && label > 0) printf(" %d", label);
    printf("\n");
done:
    json_decref(description);
    return status;
}
