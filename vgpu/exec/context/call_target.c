/* SPDX-License-Identifier: MIT
 * call_target.c: calls through pointers. vgpu-cc has the compiler make them as calls of a thunk for
 * the register that holds the address (-mindirect-branch=thunk-extern), and the thunks are here:
 * they let through what is the beginning of a function. Anything else is a fault: the middle of an
 * instruction, data, or code of vgpu-exec and libc, whose accesses are not reported.
 *
 * On other processors than x86-64 compilers have no such option, and nothing is checked.
 */
#include "call_target.h"

#include "elf_read.h"
#include "exec.h"
#include "fault.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined(__x86_64__)

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

/* What the image asks of others: libm's functions and the builtins. */
static bool add_offered(struct elf_cursor symbols, struct elf_cursor names)
{
    const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)symbols.at;
    for (; (const uint8_t *)(symbol + 1) <= symbols.end; symbol++) {
        const char *name = vgpu_elf_text_at(names, symbol->st_name);
        void *at = symbol->st_shndx == SHN_UNDEF && *name ? dlsym(RTLD_DEFAULT, name) : NULL;
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
    qsort(targets, target_count, sizeof *targets, compare_targets);
    return added;
}

/* Called by the thunks. */
void call_target_check(uint64_t target, uint64_t caller);

void call_target_check(uint64_t target, uint64_t caller)
{
    if (!target_count || !bsearch(&target, targets, target_count, sizeof *targets, compare_targets))
        fault_raise(VGPU_FAULT_TRAP, target, false, caller,
                    "a call of 0x%llx, where no function of device code begins: a pointer to a "
                    "host function, or one that was never set?",
                    (unsigned long long)target);
}

/* A thunk for a register: it keeps all others, and those that hold arguments. `caller` is where the
 * call returns to. */
#define THUNK(name, reg)                                                                           \
    __asm__(".pushsection .text\n.globl " name "\n.type " name ", @function\n" name ":\n"          \
            "push %rax\npush %rcx\npush %rdx\npush %rsi\npush %rdi\n"                              \
            "push %r8\npush %r9\npush %r10\npush %r11\n"                                           \
            "sub $128, %rsp\n"                                                                     \
            "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\n"               \
            "movups %xmm3, 48(%rsp)\nmovups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\n"             \
            "movups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"                                    \
            "mov %" reg ", %rdi\nmov 200(%rsp), %rsi\ndec %rsi\n"                                  \
            "call call_target_check\n"                                                             \
            "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\n"               \
            "movups 48(%rsp), %xmm3\nmovups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\n"             \
            "movups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"                                    \
            "add $128, %rsp\n"                                                                     \
            "pop %r11\npop %r10\npop %r9\npop %r8\n"                                               \
            "pop %rdi\npop %rsi\npop %rdx\npop %rcx\npop %rax\n"                                   \
            "jmp *%" reg "\n.size " name ", . - " name "\n.popsection")

THUNK("__x86_indirect_thunk_rax", "rax");
THUNK("__x86_indirect_thunk_rbx", "rbx");
THUNK("__x86_indirect_thunk_rcx", "rcx");
THUNK("__x86_indirect_thunk_rdx", "rdx");
THUNK("__x86_indirect_thunk_rsi", "rsi");
THUNK("__x86_indirect_thunk_rdi", "rdi");
THUNK("__x86_indirect_thunk_rbp", "rbp");
THUNK("__x86_indirect_thunk_r8", "r8");
THUNK("__x86_indirect_thunk_r9", "r9");
THUNK("__x86_indirect_thunk_r10", "r10");
THUNK("__x86_indirect_thunk_r11", "r11");
THUNK("__x86_indirect_thunk_r12", "r12");
THUNK("__x86_indirect_thunk_r13", "r13");
THUNK("__x86_indirect_thunk_r14", "r14");
THUNK("__x86_indirect_thunk_r15", "r15");
THUNK("__llvm_retpoline_r11", "r11");

#else

bool call_targets_add(int fd, uint64_t base)
{
    (void)fd;
    (void)base;
    return true;
}

#endif
