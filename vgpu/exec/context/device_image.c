/* SPDX-License-Identifier: MIT
 * device_image.c: device images: loading, symbols, and lookup by address.
 *
 * The loader identifies libraries by name, and these are named after their descriptors, which stay
 * open so that no two images have the same name.
 */
#include "device_image.h"

#include "call_target.h"
#include "dwarf_lines.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct device_image {
    struct device_image *next;
    uint32_t module, kernel_count, var_count;
    int fd;
    const struct vgpu_kernel *kernels;
    const struct vgpu_var *vars;
    uint64_t base, low, high; /* load address; its pages */
    uint64_t var_low, var_high;
};

bool images_have_two_stacks = true;
static struct device_image *images;

/* Finds the image's pages; stops (1) at the image whose load address is `wanted`. */
static int find_pages(struct dl_phdr_info *info, size_t bytes, void *wanted)
{
    struct device_image *image = wanted;
    (void)bytes;
    if (info->dlpi_addr != image->base)
        return 0;
    image->low = ~0ull;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t low = image->base + part->p_vaddr, high = low + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        image->low = low < image->low ? low : image->low;
        image->high = high > image->high ? high : image->high;
    }
    return 1;
}

static void find_vars(struct device_image *image)
{
    uint64_t low = ~0ull, high = 0;
    for (uint32_t i = 0; i < image->var_count; i++) {
        uint64_t at = (uint64_t)image->vars[i].address, end = at + image->vars[i].bytes;
        low = at < low ? at : low;
        high = end > high ? end : high;
    }
    if (image->var_count == 0)
        return;
    image->var_low = low & -(uint64_t)PAGE;
    image->var_high = (high + PAGE - 1) & -(uint64_t)PAGE;
}

/* Finds the exported objects; false and a reason in `why` if it is not a device image. */
static bool find_tables(struct device_image *image, void *library, char *why, uint64_t room)
{
    const uint32_t *abi = dlsym(library, "vgpu_image_abi");
    const uint32_t *kernels = dlsym(library, "vgpu_image_kernel_count");
    const uint32_t *vars = dlsym(library, "vgpu_image_var_count");
    image->kernels = dlsym(library, "vgpu_image_kernels");
    image->vars = dlsym(library, "vgpu_image_vars");
    if (!abi || *abi != VGPU_IMAGE_ABI || !kernels || !vars || !image->kernels || !image->vars) {
        snprintf(why, room,
                 "module %u is not a device image of version %d (it has %d): rebuild it with this "
                 "installation's vgpu-cc",
                 image->module, VGPU_IMAGE_ABI, abi ? (int)*abi : -1);
        return false;
    }
    image->kernel_count = *kernels;
    image->var_count = *vars;
    images_have_two_stacks &= dlsym(library, "vgpu_image_second_stack") != NULL;
    find_vars(image);
    return true;
}

static bool copy_file(int from, const char *path)
{
    struct stat info;
    off_t at = 0;
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool sound = to >= 0 && fstat(from, &info) == 0;
    while (sound && at < info.st_size)
        sound = sendfile(to, from, &at, (size_t)(info.st_size - at)) > 0;
    if (to >= 0)
        close(to);
    return sound;
}

/* The name by which the file is loaded. A debugger opens the file by this name, also after this
 * process has ended: for it there is a copy in the folder VGPU_DEBUGGER. */
static void name_file(char *name, size_t room, int fd, uint32_t module)
{
    const char *folder = getenv("VGPU_DEBUGGER");
    snprintf(name, room, "%s/%d-%u.so", folder ? folder : "", (int)getpid(), module);
    if (!folder || !copy_file(fd, name))
        snprintf(name, room, "/proc/self/fd/%d", fd);
}

struct device_image *image_load(uint32_t module, int fd, char *why, uint64_t room)
{
    char name[PATH_MAX];
    struct link_map *map;
    struct device_image *image = calloc(1, sizeof *image);
    name_file(name, sizeof name, fd, module);
    void *library = image ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        snprintf(why, room, "module %u cannot be loaded: %s", module,
                 image ? dlerror() : "no memory");
        free(image);
        return NULL;
    }
    image->module = module;
    image->fd = fd;
    if (!find_tables(image, library, why, room) || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 ||
        !call_targets_add(fd, map->l_addr)) {
        dlclose(library);
        free(image);
        return NULL;
    }
    image->base = map->l_addr;
    dl_iterate_phdr(find_pages, image);
    image->next = images;
    images = image;
    return image;
}

struct device_image *image_find(uint32_t module)
{
    struct device_image *image = images;
    while (image && image->module != module)
        image = image->next;
    return image;
}

const struct vgpu_kernel *image_kernel(const struct device_image *image, uint32_t ordinal)
{
    return ordinal < image->kernel_count ? &image->kernels[ordinal] : NULL;
}

uint32_t image_kernel_count(const struct device_image *image)
{
    return image->kernel_count;
}

void image_vars(const struct device_image *image, uint64_t *base, uint64_t *bytes, uint32_t *count)
{
    *base = image->var_low;
    *bytes = image->var_high - image->var_low;
    *count = image->var_count;
}

void image_var(const struct device_image *image, uint32_t index, struct vgpu_exec_var *var)
{
    const struct vgpu_var *from = &image->vars[index];
    var->offset = (uint64_t)from->address - image->var_low;
    var->bytes = from->bytes;
    snprintf(var->key, sizeof var->key, "%s", from->key);
}

bool image_holds_vars(uint64_t va, uint64_t bytes)
{
    const struct device_image *image = images;
    while (image && (va != image->var_low || bytes != image->var_high - image->var_low))
        image = image->next;
    return image != NULL;
}

static struct device_image *image_at(uint64_t address)
{
    static struct device_image *last;
    if (last && address >= last->low && address < last->high)
        return last;
    for (struct device_image *image = images; image; image = image->next)
        if (address >= image->low && address < image->high)
            return last = image;
    return NULL;
}

int image_window(uint64_t address)
{
    const struct device_image *image = image_at(address);
    if (!image)
        return -1;
    if (address >= image->var_low && address < image->var_high)
        return context.device;
    return WINDOW_IMAGE;
}

bool image_holds(uint64_t first, uint64_t end)
{
    const struct device_image *image = image_at(first);
    return image && first >= image->var_low && end <= image->var_high;
}

bool image_code(uint64_t pc)
{
    return image_at(pc) != NULL;
}

/* The places of polling threads are looked up at every stall: the last results are cached. */
void image_place(uint64_t pc, char *where, uint64_t room)
{
    static struct {
        uint64_t pc;
        char where[160];
    } known[16];
    unsigned slot = (unsigned)(pc ^ pc >> 7) % 16;
    const struct device_image *image = image_at(pc);
    where[0] = '\0';
    if (!image)
        return;
    if (known[slot].pc != pc) {
        known[slot].where[0] = '\0';
        vgpu_lines_find(image->fd, pc - image->base, known[slot].where, sizeof known[slot].where);
        known[slot].pc = pc;
    }
    snprintf(where, room, "%s", known[slot].where);
}
