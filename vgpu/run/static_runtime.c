/* SPDX-License-Identifier: MIT
 * static_runtime.c: what vgpu-run preloads into programs that have NVIDIA's runtime inside (nvcc's
 * default). That runtime takes no driver but NVIDIA's, so it never runs: before the program's first
 * function each of the runtime's public functions becomes a jump to ours of that name, or, where we
 * have none, to code that says so and returns 801. The program's symbol table tells where they are.
 */
#include "elf_read.h"

#include <dlfcn.h>
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

cudaError_t vgpu__refuse(cudaError_t code, const char *call, const char *format, ...); /* core.h */

struct program {
    struct elf_map file;
    uintptr_t base; /* where it was loaded */
    const Elf64_Sym *symbols;
    size_t count;
    struct elf_cursor names;
    uintptr_t first, last; /* functions of the runtime that we have, too */
    unsigned char *thunks;
};

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program is the first of all */
}

static bool map_program(struct program *p)
{
    struct stat info;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return false;
    void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    p->file = (struct elf_map){at, (uint64_t)info.st_size};
    struct elf_cursor symbols = vgpu_elf_section(&p->file, ".symtab");
    p->symbols = (const Elf64_Sym *)(const void *)symbols.at;
    p->count = (size_t)(symbols.end - symbols.at) / sizeof *p->symbols;
    p->names = vgpu_elf_section(&p->file, ".strtab");
    dl_iterate_phdr(find_base, &p->base);
    return true;
}

/* nvcc made device code for it, and it was not linked with a runtime in a library. */
static bool has_runtime_inside(const struct program *p)
{
    struct elf_cursor code = vgpu_elf_section(&p->file, ".nv_fatbin");
    struct elf_cursor names = vgpu_elf_section(&p->file, ".dynstr");
    return vgpu_elf_fixed(&code, 4) == NVIDIA_FATBIN_MAGIC &&
           !memmem(names.at, (size_t)(names.end - names.at), "libcudart.so", 12);
}

/* The name of the symbol if it is a function: also a local one, which linkers make of hidden ones.
 */
static const char *function_name(const struct program *p, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_value % JUMP_BYTES)
        return "";
    return vgpu_elf_text_at(p->names, symbol->st_name);
}

static bool is_runtime_name(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* False: its functions have no names any more. */
static bool find_runtime(struct program *p, void *ours)
{
    p->first = UINTPTR_MAX;
    for (size_t i = 0; i < p->count; i++) {
        const char *name = function_name(p, &p->symbols[i]);
        if (!is_runtime_name(name) || !dlsym(ours, name))
            continue;
        p->first = p->symbols[i].st_value < p->first ? p->symbols[i].st_value : p->first;
        p->last = p->symbols[i].st_value > p->last ? p->symbols[i].st_value : p->last;
    }
    return p->first < p->last;
}

static cudaError_t answer_unmodelled(const char *name)
{
    return vgpu__refuse(cudaErrorNotSupported, name,
                        "not modelled by the virtual node yet; it answers cudaErrorNotSupported "
                        "(801) and does nothing");
}

/* movabs $name, %rdi; movabs $answer_unmodelled, %rax; jmp *%rax */
static void *refusal(struct program *p, const char *name)
{
    void *to = (void *)answer_unmodelled;
    unsigned char *at = p->thunks;
    memcpy(at, "\x48\xbf", 2);
    memcpy(at + 2, &name, 8);
    memcpy(at + 10, "\x48\xb8", 2);
    memcpy(at + 12, &to, 8);
    memcpy(at + 20, "\xff\xe0", 2);
    p->thunks += THUNK_BYTES;
    return at;
}

/* jmp *0(%rip); the address follows */
static void write_jump(unsigned char *at, const void *to)
{
    memcpy(at, "\xff\x25\0\0\0\0", 6);
    memcpy(at + 6, &to, 8);
}

static void replace_functions(struct program *p, void *ours)
{
    for (size_t i = 0; i < p->count; i++) {
        const Elf64_Sym *symbol = &p->symbols[i];
        const char *name = function_name(p, symbol);
        if (!is_runtime_name(name) || symbol->st_value < p->first || symbol->st_value > p->last)
            continue;
        const void *to = dlsym(ours, name);
        write_jump((unsigned char *)(p->base + symbol->st_value), to ? to : refusal(p, name));
    }
}

static bool is_of_older_toolkit(const struct program *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(function_name(p, &p->symbols[i]), "cudaGetDeviceProperties_v2") == 0)
            return true; /* CUDA 13 has no such function */
    return false;
}

static void fail(const char *why)
{
    fprintf(stderr,
            "vgpu-run: the runtime inside of this program %s: link it with nvcc -cudart shared\n",
            why);
    _exit(125);
}

__attribute__((constructor)) static void take_the_runtimes_place(void)
{
    struct program p = {0};
    void *ours = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (!ours || !map_program(&p) || !has_runtime_inside(&p))
        return;
    if (!find_runtime(&p, ours))
        fail("was stripped of the names by which it can be replaced");
    if (is_of_older_toolkit(&p))
        fail("is of a Toolkit before 13, whose structures are others");
    p.thunks = mmap(NULL, p.count * THUNK_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t from = (p.base + p.first) / PAGE_BYTES * PAGE_BYTES;
    size_t bytes = p.base + p.last + JUMP_BYTES - from;
    if (p.thunks == MAP_FAILED ||
        mprotect((void *)from, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        fail("cannot be replaced on this machine, which lets no program change its code");
    replace_functions(&p, ours);
    mprotect((void *)from, bytes, PROT_READ | PROT_EXEC);
}
