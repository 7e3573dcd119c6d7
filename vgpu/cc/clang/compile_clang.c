/* SPDX-License-Identifier: MIT
 * compile_clang.c: a .cu file becomes one object. Clang reads it twice, side by side: for GPUs, as
 * LLVM's bitcode, which is lowered to this processor (lower.h) and linked to a device image; and
 * for the host, whose object takes the image in. The host's Clang waits for it at a named pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clang.h"
#include "diag.h"
#include "fatbin_file.h"
#include "lower.h"
#include "merge.h"
#include "proc.h"

struct file {
    const struct cc_job *job;
    struct cc_clang clang;
    const char *source, *object;
    int number;
};

static const char *path_of(const struct file *file, const char *suffix)
{
    return cc_temp_path(cc_format("%d-%s", file->number, suffix));
}

/* ---- the host's Clang reads it from a pipe ---- */

/* Waits until the host's Clang has opened the pipe, or has ended without. Returns -1 for that. */
static int open_pipe(const char *path, struct cc_child host)
{
    const struct timespec pause = {.tv_nsec = 500 * 1000};
    int fd;

    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
        if (cc_has_ended(host))
            return -1;
        nanosleep(&pause, NULL);
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    return fd;
}

static void feed(const char *path, struct cc_child host, const struct cc_text *fatbin)
{
    int fd = open_pipe(path, host);
    size_t done = 0;

    while (fd >= 0 && done < fatbin->length) {
        ssize_t wrote = write(fd, fatbin->data + done, fatbin->length - done);
        if (wrote < 0 && errno != EINTR)
            break;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (fd >= 0)
        close(fd);
}

static bool compile(const struct file *file)
{
    const char *pipe = path_of(file, "device.fatbin");
    struct cc_list device = cc_clang_command(file->job, file->clang.path, CC_DEVICE_SIDE,
                                             file->source, path_of(file, "device.bc"));
    struct cc_list host =
        cc_clang_command(file->job, file->clang.path, CC_HOST_SIDE, file->source, file->object);
    struct cc_text fatbin = {0};

    cc_add_gpu_binary(&host, pipe);
    cc_add_deps(file->job, &host, file->source, file->object);
    if (mkfifo(pipe, 0600) != 0 && !file->job->options->dryrun) {
        cc_fail("cannot make the pipe '%s': %s", pipe, strerror(errno));
        return false;
    }
    struct cc_child d = cc_spawn(&device, "device.err"), h = cc_spawn(&host, "host.err");
    if (file->job->options->dryrun)
        return true;
    int device_status = cc_wait(d);
    bool made =
        device_status == 0 && cc_build_image(file->job, &file->clang, path_of(file, "device.bc"),
                                             file->source, cc_format("%d", file->number), &fatbin);
    feed(pipe, h, &fatbin);
    int host_status = cc_wait(h);
    fputs(cc_merge_messages(cc_child_errors(h), cc_child_errors(d)), stderr);
    if (host_status > 128 || device_status > 128)
        cc_fail("clang was ended by signal %d",
                (host_status > 128 ? host_status : device_status) - 128);
    if (!made || host_status != 0)
        unlink(file->object);
    return made && host_status == 0;
}

bool cc_compile_with_clang(const struct cc_job *job, const char *source, const char *object,
                           int number)
{
    struct file file = {.job = job, .source = source, .object = object, .number = number};

    if (job->options->rdc) {
        cc_fail("-rdc=true is not there with VGPU_FRONT=clang yet; compile '%s' without VGPU_FRONT",
                source);
        return false;
    }
    if (!cc_find_clang(job->options->cxx, &file.clang))
        return false;
    bool done = compile(&file);
    cc_say_all();
    return done && cc_error_count() == 0;
}
