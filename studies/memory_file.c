/* memory_file.c - text that is printed into memory. The C library's open_memstream loses what does not fit when memory
 * runs out, and reports no error; here it is remembered. */
#include "client.h"

#include <stdlib.h>

static ssize_t take(void *cookie, const char *bytes, size_t n)
{
    client_memory *m = cookie;
    if (m->size + n + 1 > m->room) {
        size_t room = MAX(2 * m->room, m->size + n + 1);
        char *grown = realloc(m->text, room);
        if (!grown) {
            m->failed = true;
            return 0; /* an error of the stream */
        }
        m->text = grown;
        m->room = room;
    }
    memcpy(m->text + m->size, bytes, n);
    m->size += n;
    m->text[m->size] = '\0';
    return (ssize_t)n;
}

bdml_status client_memory_open(bdml_handle *h, client_memory *m)
{
    *m = (client_memory){.room = 64};
    m->text = client_alloc(h, m->room, 1);
    if (!m->text) return BDML_ERR_MEMORY;
    m->f = fopencookie(m, "w", (cookie_io_functions_t){.write = take});
    return m->f ? BDML_OK : client_no_memory(h);
}

bdml_status client_memory_close(bdml_handle *h, client_memory *m)
{
    bool bad = !m->f || ferror(m->f) != 0;
    if (m->f && fclose(m->f) != 0) bad = true;
    m->f = NULL;
    return bad || m->failed ? client_no_memory(h) : BDML_OK;
}

void client_memory_free(client_memory *m)
{
    if (m->f) fclose(m->f);
    free(m->text);
    *m = (client_memory){0};
}
