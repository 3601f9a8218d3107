/* store.c - cells on disk: one JSON file a study, written whole after every cell. */
#include "reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_name(const char *folder, const rp_study *s, char *out, size_t size)
{
    snprintf(out, size, "%s/%s.json", folder, s->name);
}

bdml_status rp_load(cli *c, const char *folder, const rp_study *s, json_t **cells)
{
    char path[RP_PATH];
    json_t *root = NULL;
    file_name(folder, s, path, sizeof path);
    *cells = NULL;
    if (access(path, F_OK) == 0) {
        TRY(cli_read_run(c, path, &root));
        *cells = json_incref(json_object_get(root, "cells"));
        json_decref(root);
        if (!json_is_object(*cells)) {
            json_decref(*cells);
            *cells = NULL;
            return client_fail(
                c->h, BDML_ERR_FORMAT,
                "%s: not a file of results of 'bdml reproduce'; move it away or give "
                "another folder by --results",
                path);
        }
    } else {
        *cells = json_object();
    }
    return *cells ? BDML_OK : client_fail(c->h, BDML_ERR_MEMORY, "out of memory");
}

static bdml_status make_folder(cli *c, const char *folder)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST) return BDML_OK;
    return client_fail(c->h, BDML_ERR_IO, "%s: cannot be made: %s", folder, strerror(errno));
}

bdml_status rp_save(cli *c, const char *folder, const rp_study *s, const json_t *cells)
{
    bdml_status status = BDML_OK;
    char path[RP_PATH];
    json_t *root =
        json_pack("{s:s, s:s, s:O}", "study", s->name, "version", bdml_version(), "cells", cells);
    char *text =
        root ? json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)) : NULL;
    size_t size = text ? strlen(text) : 0;
    if (!text || !client_json_whole()) {
        status = client_fail(c->h, BDML_ERR_MEMORY, "out of memory while keeping results");
        goto done;
    }
    text[size++] = '\n'; /* in place of the end of the text */
    GO(make_folder(c, folder));
    file_name(folder, s, path, sizeof path);
    status = client_write_file(c->h, path, text, size);
done:
    json_decref(root);
    free(text);
    return cli_wrote(c, status);
}
