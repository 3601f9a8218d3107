/* keys.c - numbers for 64-bit keys: open addressing, linear probing, at most three quarters full. */
#include "problem/problem.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

/* The finalizer of MurmurHash3 (A. Appleby, public domain): every bit of the key moves every bit. */
static uint64_t mix(uint64_t k)
{
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdu;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53u;
    return k ^ k >> 33;
}

/* The slot of the key, or the free slot where it would go. */
static size_t find_slot(const bdml_keys *keys, uint64_t key)
{
    size_t mask = keys->slots - 1, s = (size_t)mix(key) & mask;
    while (keys->slot[s] != 0 && keys->slot[s] != key + 1) s = (s + 1) & mask;
    return s;
}

static bdml_status grow(bdml_handle *h, bdml_keys *keys, size_t slots)
{
    bdml_keys bigger = {.slots = slots, .count = keys->count};
    bigger.slot = bdml_calloc(h, bigger.slots, sizeof *bigger.slot);
    bigger.id = bdml_alloc(h, bigger.slots, sizeof *bigger.id);
    if (!bigger.slot || !bigger.id) {
        bdml_keys_free(&bigger);
        return BDML_ERR_MEMORY;
    }
    for (size_t s = 0; s < keys->slots; s++) {
        if (keys->slot[s] == 0) continue;
        size_t to = find_slot(&bigger, keys->slot[s] - 1);
        bigger.slot[to] = keys->slot[s];
        bigger.id[to] = keys->id[s];
    }
    bdml_keys_free(keys);
    *keys = bigger;
    return BDML_OK;
}

bdml_status bdml_keys_reserve(bdml_handle *h, bdml_keys *keys, int64_t count)
{
    size_t slots = FIRST_SLOTS;
    while (slots / 4 * 3 < (size_t)count) slots *= 2;
    return slots > keys->slots ? grow(h, keys, slots) : BDML_OK;
}

bdml_status bdml_keys_add(bdml_handle *h, bdml_keys *keys, uint64_t key, int32_t *id)
{
    if ((size_t)keys->count >= keys->slots / 4 * 3)
        BDML_TRY(grow(h, keys, keys->slots ? 2 * keys->slots : FIRST_SLOTS));
    size_t s = find_slot(keys, key);
    if (keys->slot[s] == 0) {
        if (keys->count >= INT32_MAX)
            return bdml_fail(h, BDML_ERR_DATA, "more than %d different pairs or constraints",
                             INT32_MAX);
        keys->slot[s] = key + 1; /* NOLINT(clang-analyzer-unix.Malloc): grow replaced it */
        keys->id[s] = (int32_t)keys->count++; /* NOLINT(clang-analyzer-unix.Malloc) */
    }
    *id = keys->id[s]; /* NOLINT(clang-analyzer-unix.Malloc) */
    return BDML_OK;
}

int32_t bdml_keys_find(const bdml_keys *keys, uint64_t key)
{
    if (keys->slots == 0) return -1;
    size_t s = find_slot(keys, key);
    return keys->slot[s] ? keys->id[s] : -1;
}

void bdml_keys_free(bdml_keys *keys)
{
    free(keys->slot);
    free(keys->id);
    *keys = (bdml_keys){0};
}
