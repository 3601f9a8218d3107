/* methods.c - the table of methods: bdml, and the rows of baselines/methods.def. */
#include "train/plan.h"

#include <strings.h>

static const bdml_method methods[] = {
    {"bdml",
     "bounded distortion, certified: soft triplets with K chosen by cross-validation, or the "
     "problem that the settings state",
     BDML_USES_LABELS | BDML_USES_PAIRS | BDML_USES_TRIPLETS, bdml_need_bdml, bdml_fit_bdml, NULL},
#define BDML_METHOD(name, function, uses, help) \
    {name, help, uses, bdml_need_##function, bdml_fit_##function, NULL},
#define BDML_CLASSIFIER(name, function, uses, help) \
    {name, help, uses, NULL, NULL, bdml_classify_##function},
#include "baselines/methods.def"
#undef BDML_METHOD
#undef BDML_CLASSIFIER
};
enum { METHODS = sizeof methods / sizeof *methods };

int bdml_method_count(void)
{
    return METHODS;
}

const bdml_method *bdml_method_at(int i)
{
    return i >= 0 && i < METHODS ? &methods[i] : NULL;
}

const char *bdml_method_name(int i)
{
    return i >= 0 && i < METHODS ? methods[i].name : NULL;
}

const char *bdml_method_help(int i)
{
    return i >= 0 && i < METHODS ? methods[i].help : NULL;
}

int bdml_method_uses(int i)
{
    return i >= 0 && i < METHODS ? methods[i].uses : 0;
}

int bdml_find_method(bdml_handle *h, const char *name)
{
    if (!h) return -1;
    const bdml_method *m = bdml_method_find(h, name ? name : "", name ? strlen(name) : 0);
    return m ? (int)(m - methods) : -1;
}

static const char *method_word(const void *user, int i)
{
    (void)user;
    return bdml_method_name(i);
}

const bdml_method *bdml_method_find(bdml_handle *h, const char *name, size_t length)
{
    char list[512] = "", meant[BDML_MEANT_SIZE], word[101];
    for (; length > 0 && *name == ' '; length--) name++; /* "a, b" is a list too */
    while (length > 0 && name[length - 1] == ' ') length--;
    for (int i = 0; i < METHODS; i++) {
        if (strlen(methods[i].name) == length && strncasecmp(methods[i].name, name, length) == 0)
            return &methods[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", methods[i].name);
    }
    snprintf(word, sizeof word, "%.*s", (int)BDML_MIN(length, sizeof word - 1), name);
    bdml_did_you_mean(word, method_word, NULL, meant);
    bdml_fail(h, BDML_ERR_ARGUMENT, "there is no method '%s'%s%s the methods are: %s", word, meant,
              meant[0] ? "" : ";", list);
    return NULL;
}
