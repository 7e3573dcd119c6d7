/* SPDX-License-Identifier: MIT
 * static_runtime.c: what vgpu-run has the dynamic linker load (LD_AUDIT, man 7 rtld-audit) for
 * programs and libraries that have NVIDIA's runtime inside, which is nvcc's default. That runtime
 * takes no driver but NVIDIA's, so it never runs: before the first function of such an object each
 * of the runtime's public functions becomes a jump to that of libcudart.so.13 or libcudart.so.12,
 * or, where we have none, to code that says so and returns 801. The object's symbol table tells
 * where they are.
 */
#include "elf_read.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#define JUMP_BYTES 16  /* functions begin at multiples of it */
#define THUNK_BYTES 32 /* a call with the name of what is missing */
#define PAGE_BYTES 4096u
#define NVIDIA_FATBIN_MAGIC 0xba55ed50u

struct object {
    struct elf_map file;
    uintptr_t base; /* where it was loaded */
    const char *path;
    const Elf64_Sym *symbols;
    size_t count;
    struct elf_cursor names;
    uintptr_t first, last; /* functions of the runtime that we have, too */
    unsigned char *thunks;
};

static const char runtime_path[] = "libcudart.so.13", older_path[] = "libcudart.so.12";
static struct object runtime, older; /* ours; vgpu-run preloads them */
static struct link_map **opened;     /* objects that nobody has looked at yet */
static size_t opened_count;

/* ---- an object's symbols ---- */

static bool map_object_file(struct object *o, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
        at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        o->file = (struct elf_map){at, (uint64_t)info.st_size};
    return at != MAP_FAILED;
}

static bool map_object(struct object *o, const struct link_map *map, const char *symbols,
                       const char *names)
{
    *o = (struct object){.base = map->l_addr, .path = *map->l_name ? map->l_name : NULL};
    if (!map_object_file(o, o->path ? o->path : "/proc/self/exe"))
        return false;
    struct elf_cursor table = vgpu_elf_section(&o->file, symbols);
    o->symbols = (const Elf64_Sym *)(const void *)table.at;
    o->count = (size_t)(table.end - table.at) / sizeof *o->symbols;
    o->names = vgpu_elf_section(&o->file, names);
    return true;
}

static void unmap_object(struct object *o)
{
    munmap((void *)(uintptr_t)o->file.base, (size_t)o->file.bytes);
}

/* The name of the symbol if it is a function: also a local one, which linkers make of hidden ones.
 */
static const char *function_name(const struct object *o, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
        return "";
    return vgpu_elf_text_at(o->names, symbol->st_name);
}

/* NULL: it has no such function. */
static const void *function_address(const struct object *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(function_name(o, &o->symbols[i]), name) == 0)
            return (const void *)(o->base + o->symbols[i].st_value);
    return NULL;
}

static bool is_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* ---- the runtime inside ---- */

/* nvcc made device code for it, and it was not linked with a runtime in a library. */
static bool lacks_runtime(const struct object *o)
{
    struct elf_cursor code = vgpu_elf_section(&o->file, ".nv_fatbin");
    struct elf_cursor names = vgpu_elf_section(&o->file, ".dynstr");
    return vgpu_elf_fixed(&code, 4) == NVIDIA_FATBIN_MAGIC &&
           !memmem(names.at, (size_t)(names.end - names.at), "libcudart.so", 12);
}

static void find_runtime(struct object *o)
{
    o->first = UINTPTR_MAX;
    for (size_t i = 0; i < o->count; i++) {
        const char *name = function_name(o, &o->symbols[i]);
        if (!is_runtime_name(name) || !function_address(&runtime, name))
            continue;
        o->first = o->symbols[i].st_value < o->first ? o->symbols[i].st_value : o->first;
        o->last = o->symbols[i].st_value > o->last ? o->symbols[i].st_value : o->last;
    }
}

static cudaError_t answer_unmodelled(const char *name)
{
    cudaError_t (*refuse)(cudaError_t, const char *, const char *, ...); /* core.h */
    *(const void **)(void *)&refuse = function_address(&runtime, "vgpu__refuse");
    return refuse(
        cudaErrorNotSupported, name,
        "not modelled by the virtual node yet; it answers cudaErrorNotSupported (801) and "
        "does nothing");
}

/* movabs $name, %rdi; movabs $answer_unmodelled, %rax; jmp *%rax */
static void *refusal(struct object *o, const char *name)
{
    void *to = (void *)answer_unmodelled;
    unsigned char *at = o->thunks;
    memcpy(at, "\x48\xbf", 2);
    memcpy(at + 2, &name, 8);
    memcpy(at + 10, "\x48\xb8", 2);
    memcpy(at + 12, &to, 8);
    memcpy(at + 20, "\xff\xe0", 2);
    o->thunks += THUNK_BYTES;
    return at;
}

/* jmp *0(%rip); the address follows */
static void write_jump(unsigned char *at, const void *to)
{
    memcpy(at, "\xff\x25\0\0\0\0", 6);
    memcpy(at + 6, &to, 8);
}

static void replace_functions(struct object *o, const struct object *by)
{
    for (size_t i = 0; i < o->count; i++) {
        const Elf64_Sym *symbol = &o->symbols[i];
        const char *name = function_name(o, symbol);
        if (!is_runtime_name(name) || symbol->st_value < o->first || symbol->st_value > o->last ||
            symbol->st_value % JUMP_BYTES)
            continue;
        const void *to = function_address(by, name);
        write_jump((unsigned char *)(o->base + symbol->st_value), to ? to : refusal(o, name));
    }
}

/* A program ends; of a library, which may never be called, its runtime's first call will fail. */
static bool fail(const struct object *o, const char *why)
{
    if (o->path)
        return false;
    fprintf(stderr,
            "vgpu-run: the CUDA runtime linked into this program %s: link it with nvcc -cudart "
            "shared\n",
            why);
    _exit(125);
}

/* Which of ours takes the place of the runtime inside: NULL if none can. */
static const struct object *replacement(const struct object *o)
{
    /* of CUDA 12 alone */
    if (function_address(o, "cudaGetDeviceProperties_v2"))
        return &older;
    /* of CUDA 11 and older alone */
    if (!function_address(o, "cudaThreadExit"))
        return &runtime;
    fail(o, "is of a Toolkit before 12, whose structures differ");
    return NULL;
}

/* True: its functions are ours now, and refusals name them by the file's text. */
static bool replace_runtime(struct object *o)
{
    /* Ours has none. Programs of the driver's API alone have names, and no runtime. */
    if (!function_address(o, "cudaGetExportTable"))
        return lacks_runtime(o) && o->count == 0 &&
               fail(o, "was stripped of the names by which it can be replaced");
    const struct object *by = replacement(o);
    if (!by)
        return false;
    find_runtime(o);
    o->thunks = mmap(NULL, o->count * THUNK_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t from = (o->base + o->first) / PAGE_BYTES * PAGE_BYTES;
    size_t bytes = o->base + o->last + JUMP_BYTES - from;
    if (o->thunks == MAP_FAILED ||
        mprotect((void *)from, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return fail(o,
                    "cannot be replaced on this machine, where no program may change its own code");
    replace_functions(o, by);
    mprotect((void *)from, bytes, PROT_READ | PROT_EXEC);
    return true;
}

/* ---- what the dynamic linker calls ---- */

unsigned int la_version(unsigned int version)
{
    return version;
}

static bool ends_in(const char *path, const char *name)
{
    size_t length = strlen(path), part = strlen(name);
    return length >= part && strcmp(path + length - part, name) == 0;
}

/* An object has been mapped. */
unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)cookie;
    struct link_map **more = realloc(opened, (opened_count + 1) * sizeof *opened);
    if (more && space == LM_ID_BASE) {
        opened = more;
        opened[opened_count++] = map;
    }
    return 0; /* no calls are watched */
}

/* All of a program or of a dlopen have been; no constructor of them has run. */
void la_activity(uintptr_t *cookie, unsigned int state)
{
    (void)cookie;
    if (state != LA_ACT_CONSISTENT)
        return;
    for (size_t i = 0; i < opened_count; i++) {
        if (ends_in(opened[i]->l_name, runtime_path) && !runtime.count)
            map_object(&runtime, opened[i], ".dynsym", ".dynstr");
        if (ends_in(opened[i]->l_name, older_path) && !older.count)
            map_object(&older, opened[i], ".dynsym", ".dynstr");
    }
    for (size_t i = 0; i < opened_count && runtime.count && older.count; i++) {
        struct object o;
        if (map_object(&o, opened[i], ".symtab", ".strtab") && !replace_runtime(&o))
            unmap_object(&o);
    }
    opened_count = 0;
}
