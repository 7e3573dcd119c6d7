/* SPDX-License-Identifier: MIT
 * translate.c: PTX, and what nvcc packs it in, becomes a record of this toolkit: vgpu-cc compiles
 * it. Records are kept in a folder, as CUDA keeps what it has compiled: CUDA_CACHE_PATH names it,
 * CUDA_CACHE_DISABLE=1 turns it off.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fatbin.h"
#include "runtime.h"

/* nvcc's container: magic, version, size of this header, size of the rest. */
struct container {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes;
};

bool vgpu__is_foreign(const void *image, size_t *bytes)
{
    struct container head;
    memcpy(&head, image, sizeof head.magic);
    if (head.magic == VGPU_NVCC_FATBIN_MAGIC) {
        memcpy(&head, image, sizeof head);
        *bytes = head.head_bytes + head.bytes;
        return true;
    }
    *bytes = strlen(image);
    return strstr(image, ".version") && strstr(image, ".target");
}

/* ---- the cache ---- */

/* FNV-1a, of 64 bits */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

static void make_cache_folders(char *path)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* The file for the image, or its part, as this vgpu-cc compiles it; false: there is no cache. */
static bool name_record(const void *image, size_t bytes, int part, char *path, size_t room)
{
    const char *off = getenv("CUDA_CACHE_DISABLE"), *own = getenv("CUDA_CACHE_PATH"),
               *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char program[PATH_MAX], folder[PATH_MAX];
    struct stat is;
    if ((off && strcmp(off, "1") == 0) || !vgpu__find_program("vgpu-cc", program, sizeof program) ||
        stat(program, &is) != 0)
        return false;
    if (own && *own)
        snprintf(folder, sizeof folder, "%s", own);
    else if (cache && *cache)
        snprintf(folder, sizeof folder, "%s/vgpu/ptx", cache);
    else if (home && *home)
        snprintf(folder, sizeof folder, "%s/.cache/vgpu/ptx", home);
    else
        return false;
    uint64_t first = hash_bytes(0xcbf29ce484222325ull, &is.st_mtim, sizeof is.st_mtim);
    first = hash_bytes(first, &is.st_size, sizeof is.st_size);
    first = hash_bytes(first, &part, sizeof part);
    uint64_t second = hash_bytes(first ^ bytes, &bytes, sizeof bytes);
    int length = snprintf(path, room, "%s/%016llx%016llx", folder,
                          (unsigned long long)hash_bytes(first, image, bytes),
                          (unsigned long long)hash_bytes(second * 31 + 7, image, bytes));
    return length > 0 && (size_t)length < room;
}

static bool is_record(const char *data, size_t bytes)
{
    struct vgpu_fatbin head;
    if (!data || bytes < sizeof head)
        return false;
    memcpy(&head, data, sizeof head);
    return memcmp(head.magic, VGPU_FATBIN_MAGIC, sizeof head.magic) == 0 && head.bytes == bytes;
}

static char *find_record(const char *path)
{
    size_t bytes;
    char *record = vgpu__read_file("", path, &bytes);
    if (is_record(record, bytes))
        return record;
    free(record);
    return NULL;
}

static bool write_image(const char *path, const void *data, size_t bytes)
{
    FILE *out = fopen(path, "w");
    bool written = out && fwrite(data, 1, bytes, out) == bytes;
    return out && fclose(out) == 0 && written;
}

/* Under another name first: others may read it at the same time. */
static void keep_record(char *path, const char *record, size_t bytes)
{
    char other[PATH_MAX];
    int length = snprintf(other, sizeof other, "%s.%d", path, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof other)
        return;
    make_cache_folders(path);
    if (!write_image(other, record, bytes) || rename(other, path) != 0)
        unlink(other);
}

/* ---- compiling ---- */

static char *compile_image(const char *folder, const void *image, size_t bytes, int part,
                           char **log, size_t *record_bytes)
{
    char from[PATH_MAX + 16], to[PATH_MAX + 16], said[PATH_MAX + 16], number[16] = "all";
    size_t length;
    snprintf(from, sizeof from, "%s/module.ptx", folder);
    snprintf(to, sizeof to, "%s/record", folder);
    snprintf(said, sizeof said, "%s/log", folder);
    char *words[] = {NULL, "-fatbin", "-o", to, from, NULL, NULL, NULL};
    if (part >= 0)
        snprintf(number, sizeof number, "%d", part);
    if (part != VGPU__WHOLE)
        words[5] = "-ptx-part", words[6] = number;
    if (!write_image(from, image, bytes))
        return NULL;
    int status = vgpu__run_compiler(words, said);
    *log = vgpu__read_file(folder, "log", &length);
    return status == 0 ? vgpu__read_file(folder, "record", record_bytes) : NULL;
}

/* Without the name of the folder, which is gone by then. */
static void shorten(char *log, const char *folder)
{
    size_t length = strlen(folder) + 1;
    for (char *at = log; (at = strstr(at, folder));)
        memmove(at, at + length, strlen(at + length) + 1);
}

void *vgpu__translate(const void *image, size_t bytes, int part, char **log)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    char path[PATH_MAX], folder[PATH_MAX];
    if (part == VGPU__PARTS && loading && strcmp(loading, "EAGER") == 0)
        part = VGPU__WHOLE;
    bool caches = name_record(image, bytes, part, path, sizeof path);
    char *record = caches ? find_record(path) : NULL;
    size_t made = 0;
    *log = NULL;
    if (record || !vgpu__make_folder(folder, sizeof folder, "ptx"))
        return record;
    record = compile_image(folder, image, bytes, part, log, &made);
    vgpu__remove_folder(folder);
    if (*log)
        shorten(*log, folder);
    if (record && !is_record(record, made)) {
        free(record);
        record = NULL;
    }
    if (record && caches)
        keep_record(path, record, made);
    return record;
}
