/* SPDX-License-Identifier: MIT
 * known_images.c: which device images a graded program may bring: those of the list, whose bytes
 * may differ where the address of a __managed__ variable is put, and nowhere in code.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.h"
#include "known_image.h"
#include "unit.h"

enum { CODE = 512, DATA = 1024, BYTES = 1536, MARK = 64 };

union image {
    uint64_t word[BYTES / 8];
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr part[2];
    } elf;
};

static union image made(void)
{
    union image image = {.elf = {.head = {.e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 2},
                                 .part = {{.p_type = PT_LOAD,
                                           .p_flags = PF_R | PF_X,
                                           .p_offset = CODE,
                                           .p_filesz = DATA - CODE},
                                          {.p_type = PT_LOAD,
                                           .p_flags = PF_R | PF_W,
                                           .p_offset = DATA,
                                           .p_filesz = BYTES - DATA}}}};
    image.word[(CODE + MARK) / 8] = image.word[(DATA + MARK) / 8] = VGPU_MANAGED_MARK;
    return image;
}

static int file_of(const void *bytes, size_t count)
{
    int fd = memfd_create("file", 0);
    EXPECT(fd >= 0 && write(fd, bytes, count) == (ssize_t)count, "%s", "no file");
    return fd;
}

/* The list has one image of another length, and this one. */
static void restrict_to(const union image *image)
{
    struct {
        uint64_t other_bytes, other, bytes;
        union image image;
    } list = {8, 1, BYTES, *image};
    char path[64], error[200] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file_of(&list, sizeof list));
    setenv("VGPU_IMAGES", path, 1);
    EXPECT(known_images_read(error, sizeof error), "%s", error);
}

static bool is_taken(const union image *image, size_t bytes)
{
    int fd = file_of(image, bytes);
    bool taken = known_image(fd);
    close(fd);
    return taken;
}

/* The image with the word at `at` changed. */
static bool is_taken_with(size_t at)
{
    union image image = made();
    image.word[at / 8] ^= 0x1234;
    return is_taken(&image, BYTES);
}

UNIT(images_that_are_not_listed_are_refused)
{
    union image image = made();
    EXPECT(is_taken(&image, BYTES), "%s", "there is no list, and it is refused");
    restrict_to(&image);
    EXPECT(is_taken(&image, BYTES), "%s", "it is listed, and refused");
    EXPECT(!is_taken(&image, BYTES - 8) && !is_taken(&image, 8), "%s", "a part of it is taken");
    for (size_t at = 0; at < BYTES; at += 8)
        EXPECT(is_taken_with(at) == (at == DATA + MARK), "a change at %zu is %s", at,
               at == DATA + MARK ? "refused" : "taken");
}
