/* SPDX-License-Identifier: MIT
 * test_lines.c: whose line is it? And a unit with more files and folders than anybody has, and line
 * tables that are broken.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_read.h"
#include "dwarf_lines.h"

extern int (*const many_functions[])(int);
int theirs_in_vector(int x);
int theirs_calls_ours(int x);

static int failures;

static void expect(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return;
    printf("%s: \"%s\" instead of \"%s\"\n", what, got, want);
    failures++;
}

/* This program lies at its address as an image. */
static int keep_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
    (void)bytes;
    *(uint64_t *)base = info->dlpi_addr;
    return 1;
}

static uint64_t in_file(const void *code)
{
    uint64_t base = 0;
    dl_iterate_phdr(keep_base, &base);
    return (uint64_t)(uintptr_t)code - base;
}

/* The lines of the first instructions of `code` that are of one of the two. */
static int lines_among(int fd, const void *code, const char *theirs, const char *wrong)
{
    int found = 0;
    for (uint64_t at = 0; at < 24; at++) {
        char where[200];
        vgpu_lines_find(fd, in_file(code) + at, where, sizeof where);
        found += strncmp(where, theirs, strlen(theirs)) == 0;
        if (strncmp(where, wrong, strlen(wrong)) == 0) {
            printf("byte %d of the code is said to be of %s\n", (int)at, where);
            failures++;
        }
    }
    return found;
}

static void test_whose(int fd)
{
    char where[200];
    vgpu_lines_find(fd, in_file((void *)theirs_in_vector), where, sizeof where);
    where[strcspn(where, ":")] = '\0';
    expect("a learner's vector_add.cu", where, "vector_add.cu");
    if (!lines_among(fd, (void *)theirs_calls_ours, "vgpu_solution.cu", "anything.h")) {
        printf("nothing of the call of one of ours is in the line of the call\n");
        failures++;
    }
}

static void test_many(int fd)
{
    for (int n = 0; n < 700; n += n < 690 ? 23 : 1) {
        char got[300], want[300];
        vgpu_lines_find(fd, in_file((void *)many_functions[n]), got, sizeof got);
        snprintf(want, sizeof want, "file%d.h:3", n);
        expect("one file of 700", got, want);
        uint64_t line = vgpu_lines_path(fd, in_file((void *)many_functions[n]), got, sizeof got);
        snprintf(want, sizeof want, "/home/learner/folder%d/file%d.h", n % 300, n);
        expect("one path of 700", line == 3 ? got : "", want);
    }
}

/* A copy of this program in which bytes of the line table are others. Whatever is found, finding it
 * ends. */
static void test_broken(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        abort();
    size_t bytes = (size_t)status.st_size;
    int copy = memfd_create("broken", MFD_CLOEXEC);
    uint8_t *to = ftruncate(copy, status.st_size) == 0
                      ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0)
                      : MAP_FAILED;
    if (to == MAP_FAILED || pread(fd, to, bytes, 0) != status.st_size)
        abort();
    struct elf_map map = {to, bytes};
    struct elf_cursor table = vgpu_elf_section(&map, ".debug_line");
    unsigned seed = 1;
    for (int n = 0; n < 400; n++) {
        char where[200];
        uint64_t room = (uint64_t)(table.end - table.at);
        uint64_t at = (uint64_t)rand_r(&seed) % (n % 2 && room > 200 ? 200 : room);
        uint8_t *byte = to + (table.at - to) + at, was = *byte;
        *byte = (uint8_t)(n % 4 == 0 ? 0 : n % 4 == 1 ? 0xff : rand_r(&seed));
        vgpu_lines_find(copy, in_file((void *)many_functions[699]), where, sizeof where);
        *byte = was;
    }
    munmap(to, bytes);
    close(copy);
}

int main(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 1;
    test_whose(fd);
    test_many(fd);
    test_broken(fd);
    close(fd);
    return failures ? 1 : 0;
}
