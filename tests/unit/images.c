/* SPDX-License-Identifier: MIT
 * images.c: readers of ELF files, on a device image that is cut and whose bytes are others: symbols
 * for vgpu-cc, and lines of source out of debug information. Nothing is read outside of the file.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_image.h"
#include "dwarf_lines.h"
#include "unit.h"

enum { ROUNDS = 500 };

static struct {
    unsigned char *bytes;
    size_t count;
    char path[64];
    int fd;
} image;

static void load(void)
{
    struct stat info;
    int fd = open(UNIT_IMAGE, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0 && fstat(fd, &info) == 0, "no %s", UNIT_IMAGE);
    image.count = (size_t)info.st_size;
    image.bytes = malloc(image.count);
    EXPECT(read(fd, image.bytes, image.count) == info.st_size, "%s", "it is not read whole");
    close(fd);
    image.fd = memfd_create("image", 0);
    snprintf(image.path, sizeof image.path, "/proc/self/fd/%d", image.fd);
}

static void store(size_t count)
{
    EXPECT(ftruncate(image.fd, 0) == 0 && pwrite(image.fd, image.bytes, count, 0) == (ssize_t)count,
           "%s", "it cannot be written");
}

static bool has_symbol(const char *name)
{
    struct cc_list symbols = cc_symbols_of(image.path, false);
    return cc_has_word(&symbols, name);
}

/* What a reader does with a symbol: its name is text, within the file. */
static void read_symbols(void)
{
    struct cc_list symbols = cc_symbols_of(image.path, false);
    for (size_t i = 0; i < symbols.count; i++)
        EXPECT(symbols.item[i][0] != 0, "symbol %zu has no name", i);
}

static void read_lines(void)
{
    char where[300];
    for (uint64_t address = 0x1000; address < 0x3000; address += 0x7f3) {
        memset(where, 'x', sizeof where);
        vgpu_lines_find(image.fd, address, where, sizeof where);
        EXPECT(memchr(where, 0, sizeof where), "%s", "the line is not ended");
    }
}

UNIT(symbols_of_a_whole_image)
{
    load();
    store(image.count);
    EXPECT(has_symbol(UNIT_SYMBOL), "%s is no symbol of it", UNIT_SYMBOL);
    EXPECT(!has_symbol("no_such_symbol"), "%s", "a symbol that is none is found");
}

UNIT(images_that_are_cut)
{
    load();
    for (size_t count = 0; count < image.count; count += count < 80 ? 1 : image.count / 150 + 1) {
        store(count);
        read_symbols();
        read_lines();
    }
}

/* A byte in a header, in a table of sections, in symbols or names: wherever a reader looks. */
static size_t place(void)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(void *)image.bytes;
    const Elf64_Shdr *table = (const Elf64_Shdr *)(void *)(image.bytes + head->e_shoff);
    const Elf64_Shdr *section = &table[unit_dice(head->e_shnum)];
    switch (unit_dice(4)) {
    case 0:
        return unit_dice(sizeof *head);
    case 1:
        return head->e_shoff + unit_dice(head->e_shnum * sizeof *table);
    default:
        if (section->sh_type == SHT_NOBITS || section->sh_size == 0)
            return 0;
        return section->sh_offset + unit_dice(section->sh_size < 400 ? section->sh_size : 400);
    }
}

UNIT(images_with_other_bytes)
{
    static const unsigned char others[] = {0, 1, 0x7f, 0x80, 0xff};
    load();
    unit_seed(11);
    for (int round = 0; round < ROUNDS; round++) {
        size_t at[3];
        unsigned char was[3];
        for (int i = 0; i < 3; i++)
            at[i] = place();
        for (int i = 0; i < 3; i++) {
            was[i] = image.bytes[at[i]];
            image.bytes[at[i]] =
                unit_dice(3) ? others[unit_dice(5)] : (unsigned char)unit_dice(256);
        }
        store(image.count);
        read_symbols();
        read_lines();
        for (int i = 3; i-- > 0;)
            image.bytes[at[i]] = was[i];
    }
}
