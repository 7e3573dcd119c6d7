/* SPDX-License-Identifier: MIT
 * nvcc_fatbin.c: finds the PTX in nvcc's container of device code (a "fatbin"), which may have been
 * compressed: by LZ4 up to Toolkit 12.7, by Zstandard from 12.8 on.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "diag.h"
#include "fatbin.h"
#include "ptx_module.h"

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

/* A function of a library that is loaded only now; null: it is not installed, which was reported.
 */
static void *unpacker(const char *library, const char *function, const char *package)
{
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *found = loaded != NULL ? dlsym(loaded, function) : NULL;

    if (found == NULL)
        cc_fail("the PTX is compressed, and %s is not installed: install the package %s, or "
                "compile with nvcc --no-compress",
                library, package);
    return found;
}

static bool unpack_lz4(const char *packed, size_t bytes, char *to, size_t room)
{
    int (*decompress)(const char *, char *, int, int);

    *(void **)&decompress = unpacker("liblz4.so.1", "LZ4_decompress_safe", "liblz4-1");
    return decompress != NULL && decompress(packed, to, (int)bytes, (int)room) == (int)room;
}

static bool unpack_zstd(const char *packed, size_t bytes, char *to, size_t room)
{
    size_t (*decompress)(void *, size_t, const void *, size_t);

    *(void **)&decompress = unpacker("libzstd.so.1", "ZSTD_decompress", "libzstd1");
    return decompress != NULL && decompress(to, room, packed, bytes) == room;
}

static const char *unpacked(const struct entry *entry, const char *data)
{
    size_t room = (size_t)entry->unpacked_bytes;
    char *text;

    if ((entry->flags & (LZ4_FLAG | ZSTD_FLAG)) == 0)
        return cc_copy(data, strnlen(data, (size_t)entry->bytes));
    if (entry->packed_bytes > entry->bytes || room > 1u << 30)
        return NULL;
    text = cc_alloc(room + 1);
    if (entry->flags & ZSTD_FLAG ? unpack_zstd(data, entry->packed_bytes, text, room)
                                 : unpack_lz4(data, entry->packed_bytes, text, room))
        return text;
    return NULL;
}

/* ---- entries ---- */

const char *cc_ptx_text(const char *data, size_t bytes)
{
    struct container head = {0};
    struct entry entry, best = {0};
    const char *found = NULL;
    bool code = false;

    if (bytes >= sizeof head)
        memcpy(&head, data, sizeof head);
    if (head.magic != VGPU_NVCC_FATBIN_MAGIC)
        return data;
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
                       "others, and without -rdc=true, of which nvcc keeps machine code only"
                     : "there is no device code in the container");
        return NULL;
    }
    const char *text = unpacked(&best, found);
    if (text == NULL && cc_error_count() == 0)
        cc_fail("the compressed PTX cannot be unpacked");
    return text;
}
