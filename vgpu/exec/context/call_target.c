/* SPDX-License-Identifier: MIT
 * call_target.c: checks calls through pointers. Device code calls it before each
 * (vgpu/cc/lower/lower_guards.c), to verify that a function of device code begins at the target.
 * Anything else is a fault: the middle of an instruction, data, or code of vgpu-exec and libc,
 * whose accesses would not be reported.
 */
#include "call_target.h"

#include "elf_read.h"
#include "exec.h"
#include "fault.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint64_t *targets; /* sorted */
static size_t target_count, target_room;

static bool add_target(uint64_t address)
{
    if (target_count == target_room) {
        size_t room = target_room ? 2 * target_room : 256;
        uint64_t *list = realloc(targets, room * sizeof *list);
        if (!list)
            return false;
        targets = list;
        target_room = room;
    }
    targets[target_count++] = address;
    return true;
}

static int compare_targets(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Functions whose calls vgpu-cc inserts: no program calls them itself. */
static bool is_own(const char *name)
{
    static const char *const own[] = {"__tsan_",          "__ubsan_",
                                      "vgpu_call_target", "vgpu_variable_access",
                                      "vgpu_local_array", "__safestack_"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

/* Adds the image's undefined functions: libm's and the builtins. */
static bool add_offered(struct elf_cursor symbols, struct elf_cursor names)
{
    const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)symbols.at;
    for (; (const uint8_t *)(symbol + 1) <= symbols.end; symbol++) {
        const char *name = vgpu_elf_text_at(names, symbol->st_name);
        void *at = symbol->st_shndx == SHN_UNDEF && *name && !is_own(name)
                       ? dlsym(RTLD_DEFAULT, name)
                       : NULL;
        if (at && !add_target((uint64_t)at))
            return false;
    }
    return true;
}

static bool add_functions(struct elf_cursor symbols, uint64_t base)
{
    const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)symbols.at;
    for (; (const uint8_t *)(symbol + 1) <= symbols.end; symbol++)
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            !add_target(base + symbol->st_value))
            return false;
    return true;
}

bool call_targets_add(int fd, uint64_t base)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return false;
    void *at = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    struct elf_map map = {at, (uint64_t)file.st_size};
    bool added = add_functions(vgpu_elf_section(&map, ".symtab"), base) &&
                 add_offered(vgpu_elf_section(&map, ".dynsym"), vgpu_elf_section(&map, ".dynstr"));
    munmap(at, (size_t)file.st_size);
    if (target_count)
        qsort(targets, target_count, sizeof *targets, compare_targets);
    return added;
}

OFFERED void vgpu_call_target(uint64_t target);
OFFERED void vgpu_call_target(uint64_t target)
{
    if (!target_count || !bsearch(&target, targets, target_count, sizeof *targets, compare_targets))
        fault_raise(VGPU_FAULT_TRAP, target, false, (uint64_t)__builtin_return_address(0) - 1,
                    "a call of 0x%llx, where no function of device code begins: a pointer to a "
                    "host function, or one that was never set?",
                    (unsigned long long)target);
}
