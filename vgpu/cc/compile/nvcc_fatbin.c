/* SPDX-License-Identifier: MIT
 * nvcc_fatbin.c: finds the PTX in nvcc's container of device code (a "fatbin"), which may have been
 * compressed: by LZ4 up to Toolkit 12.7, by Zstandard from 12.8 on, for which libzstd.so.1 is
 * loaded.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "clang.h"
#include "diag.h"
#include "fatbin.h"

enum { KIND_PTX = 1, LZ4_FLAG = 0x2000, ZSTD_FLAG = 0x8000 };

struct container {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes;
};

struct entry {
    uint16_t kind, version;
    uint32_t head_bytes;
    uint64_t bytes; /* with what fills up to a multiple of 8 */
    uint32_t packed_bytes, options_at;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name_at, name_bytes;
    uint64_t flags, none, unpacked_bytes;
};

/* ---- compression ---- */

/* One of LZ4's lengths: 15 is followed by bytes up to the first below 255. */
static size_t lz4_length(const uint8_t **at, const uint8_t *end, size_t length)
{
    while (length >= 15 && *at < end) {
        uint8_t more = *(*at)++;
        length += more;
        if (more != 255)
            break;
    }
    return length;
}

static bool unpack_lz4(const uint8_t *at, size_t bytes, char *to, size_t room)
{
    const uint8_t *end = at + bytes;
    size_t done = 0;

    while (at < end) {
        uint8_t token = *at++;
        size_t literals = lz4_length(&at, end, token >> 4);
        if (literals > (size_t)(end - at) || literals > room - done)
            return false;
        memcpy(to + done, at, literals);
        done += literals, at += literals;
        if (end - at < 2)
            break;
        size_t back = (size_t)at[0] | (size_t)at[1] << 8;
        at += 2;
        size_t length = lz4_length(&at, end, token & 15) + 4;
        if (back == 0 || back > done || length > room - done)
            return false;
        for (; length > 0; length--, done++)
            to[done] = to[done - back];
    }
    return done == room;
}

static bool unpack_zstd(const uint8_t *at, size_t bytes, char *to, size_t room)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;

    if (library != NULL)
        *(void **)&decompress = dlsym(library, "ZSTD_decompress");
    if (decompress != NULL)
        return decompress(to, room, at, bytes) == room;
    cc_fail("the PTX is compressed by Zstandard, and libzstd.so.1 is not installed: install the "
            "package libzstd1, or compile with nvcc --no-compress");
    return false;
}

static const char *unpacked(const struct entry *entry, const char *data)
{
    size_t room = (size_t)entry->unpacked_bytes;
    const uint8_t *packed = (const uint8_t *)data;
    char *text;

    if ((entry->flags & (LZ4_FLAG | ZSTD_FLAG)) == 0)
        return cc_copy(data, strnlen(data, (size_t)entry->bytes));
    if (entry->packed_bytes > entry->bytes || room > 1u << 30)
        return NULL;
    text = cc_alloc(room + 1);
    if (entry->flags & ZSTD_FLAG ? unpack_zstd(packed, entry->packed_bytes, text, room)
                                 : unpack_lz4(packed, entry->packed_bytes, text, room))
        return text;
    return NULL;
}

/* ---- entries ---- */

bool cc_is_nvcc_fatbin(const char *data, size_t bytes)
{
    uint32_t magic = 0;

    if (bytes >= sizeof(struct container))
        memcpy(&magic, data, sizeof magic);
    return magic == VGPU_NVCC_FATBIN_MAGIC;
}

const char *cc_ptx_of_fatbin(const char *data, size_t bytes)
{
    struct container head;
    struct entry entry, best = {0};
    const char *found = NULL;
    bool code = false;

    memcpy(&head, data, sizeof head);
    for (size_t at = head.head_bytes; at + sizeof entry <= bytes;) {
        memcpy(&entry, data + at, sizeof entry);
        if (entry.head_bytes > bytes - at || entry.bytes > bytes - at - entry.head_bytes ||
            entry.head_bytes == 0)
            break;
        code |= entry.kind != KIND_PTX;
        if (entry.head_bytes < sizeof entry) /* an older header, without compression */
            entry.flags = 0;
        if (entry.kind == KIND_PTX && (found == NULL || entry.architecture > best.architecture))
            best = entry, found = data + at + entry.head_bytes;
        at += entry.head_bytes + (size_t)entry.bytes;
    }
    if (found == NULL) {
        cc_fail(code ? "there is machine code of real GPUs only, and no PTX: compile with nvcc "
                       "-arch=compute_75, or with -gencode arch=compute_75,code=compute_75 beside "
                       "others"
                     : "there is no device code in the container");
        return NULL;
    }
    const char *text = unpacked(&best, found);
    if (text == NULL && cc_error_count() == 0)
        cc_fail("the compressed PTX cannot be unpacked");
    return text;
}
