/* SPDX-License-Identifier: MIT
 * modules.c: the device images of this program. Constructors add them to a list before main. An
 * image is sent to the node when something in it is first used, in a sealed memfd, so that it
 * cannot change once the node has received it.
 */
#include "work.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "registration.h"

static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu_host_module *modules; /* guarded by modules_lock; entries are never removed */
static struct vgpu_managed *managed_variables; /* as above */

/* Makes dlclose() keep the library that contains `address`: the lists, and threads that read them,
 * have pointers into it. */
static void keep_library(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name)
        dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void vgpu_register_module(struct vgpu_host_module *module)
{
    keep_library(module->kernel_count ? module->kernels[0].stub
                 : module->var_count  ? module->vars[0].shadow
                                      : (const void *)module->part->image->begin);
    pthread_mutex_lock(&modules_lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&modules_lock);
}

void vgpu__add_managed(struct vgpu_managed *variable)
{
    pthread_mutex_lock(&modules_lock);
    variable->next = managed_variables;
    managed_variables = variable;
    vgpu__used(VGPU_FEATURE_managed);
    pthread_mutex_unlock(&modules_lock);
}

const struct vgpu_managed *vgpu__find_managed(const void *address)
{
    pthread_mutex_lock(&modules_lock);
    const struct vgpu_managed *variable = managed_variables;
    pthread_mutex_unlock(&modules_lock);
    while (variable && variable->address != address)
        variable = variable->next;
    return variable;
}

/* Entries are only added, at the head, so the rest of the list may be read without the lock. */
static struct vgpu_host_module *first_module(void)
{
    pthread_mutex_lock(&modules_lock);
    struct vgpu_host_module *module = modules;
    pthread_mutex_unlock(&modules_lock);
    return module;
}

static const struct vgpu_host_kernel *kernel_in(const struct vgpu_host_module *m, const void *stub)
{
    for (uint32_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].stub == stub)
            return &m->kernels[i];
    return NULL;
}

static const struct vgpu_host_var *var_in(const struct vgpu_host_module *m, const void *shadow)
{
    for (uint32_t i = 0; i < m->var_count; i++)
        if (m->vars[i].shadow == shadow)
            return &m->vars[i];
    return NULL;
}

static struct vgpu_host_module *kernel_module(const void *stub)
{
    struct vgpu_host_module *m = first_module();
    while (m && !kernel_in(m, stub))
        m = m->next;
    return m;
}

static struct vgpu_host_module *var_module(const void *shadow)
{
    struct vgpu_host_module *m = first_module();
    while (m && !var_in(m, shadow))
        m = m->next;
    return m;
}

/* What was translated may be in other modules, its parts. */
const struct vgpu_host_kernel *vgpu__find_kernel(const void *stub, struct vgpu_host_module **module)
{
    struct vgpu_host_module *m = kernel_module(stub);
    if (m && m->translate) {
        m->translate(m);
        m = kernel_in(m, stub) ? m : kernel_module(stub);
    }
    if (module)
        *module = m;
    return m ? kernel_in(m, stub) : NULL;
}

cudaError_t vgpu__refuse_kernel(const char *call, const void *func)
{
    for (const struct vgpu_host_module *m = first_module(); m && func; m = m->next)
        for (uint32_t i = 0; i < m->kernel_count; i++)
            if (m->kernels[i].lost == func)
                return vgpu__refuse((cudaError_t)m->error, call,
                                    "kernel %s: the device code of its file cannot be loaded, and "
                                    "another message says why",
                                    m->kernels[i].name);
    return vgpu__refuse(
        func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction, call,
        "%p is not a kernel of this program; give the name of a __global__ function", func);
}

const struct vgpu_host_var *vgpu__find_var(const void *shadow, struct vgpu_host_module **module)
{
    struct vgpu_host_module *m = var_module(shadow);
    if (m && m->translate) {
        m->translate(m);
        m = var_in(m, shadow) ? m : var_module(shadow);
    }
    *module = m;
    return m ? var_in(m, shadow) : NULL;
}

/* ---- sending an image ---- */

/* Writes the addresses of the image's __managed__ variables to their places in the image: at
 * `place`, or where the variable's mark is found. */
static bool place_managed(const struct vgpu_host_image *image, int fd)
{
    size_t bytes = (size_t)(image->end - image->begin);
    bool placed = true;
    pthread_mutex_lock(&modules_lock);
    for (const struct vgpu_managed *v = managed_variables; v; v = v->next) {
        const uint8_t *at =
            v->place ? v->place : memmem(image->begin, bytes, v->mark, sizeof v->mark);
        if (at && at >= image->begin && at < image->end)
            placed &= pwrite(fd, &v->address, sizeof v->address, at - image->begin) ==
                      (ssize_t)sizeof v->address;
    }
    pthread_mutex_unlock(&modules_lock);
    return placed;
}

static int image_fd(const struct vgpu_host_image *image)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    size_t left = (size_t)(image->end - image->begin);
    const uint8_t *at = image->begin;
    int fd = memfd_create("vgpu-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    while (fd >= 0 && left > 0) {
        ssize_t written = write(fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        at += written;
        left -= (size_t)written;
    }
    if (fd >= 0 && (left > 0 || !place_managed(image, fd) || fcntl(fd, F_ADD_SEALS, seals) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static cudaError_t send_image(struct vgpu_host_image *image, const char *call)
{
    const struct vgpu_reply *reply;
    if (!vgpu__begin(call, VGPU_OP_MODULE))
        return vgpu__failed();
    int fd = image_fd(image);
    if (fd < 0)
        return vgpu__refuse(cudaErrorOperatingSystem, call,
                            "cannot make a memfd of the device code of %s: %s", image->name,
                            strerror(errno));
    cudaError_t error = vgpu__record(vgpu__ask(fd, true, &reply));
    close(fd);
    if (error == cudaSuccess)
        __atomic_store_n(&image->id, (uint32_t)reply->value + 1, __ATOMIC_RELEASE);
    vgpu__used_image(image->begin, image->end);
    return error;
}

/* `sending` is held during the request, so that two threads do not send the same image. */
cudaError_t vgpu__load_image(struct vgpu_host_module *module, const char *call, uint32_t *id)
{
    static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
    int (*complete)(struct vgpu_host_module *, const char *) =
        __atomic_load_n(&module->complete, __ATOMIC_ACQUIRE);
    cudaError_t error = complete ? (cudaError_t)complete(module, call) : cudaSuccess;
    if (error != cudaSuccess)
        return error;
    struct vgpu_host_image *image = module->part->image;
    if (__atomic_load_n(&image->id, __ATOMIC_ACQUIRE) == 0) {
        pthread_mutex_lock(&sending);
        if (image->id == 0)
            error = send_image(image, call);
        pthread_mutex_unlock(&sending);
    }
    if (error == cudaSuccess)
        *id = image->id - 1;
    return error;
}
