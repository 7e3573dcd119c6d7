/* SPDX-License-Identifier: MIT
 * descriptors.c: reports file descriptors of exported memory that the program has not closed when
 * it ends. The inode is compared, since a closed descriptor's number may have been reused for
 * another file.
 */
#include "checks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

enum { KEPT = 64 };

static pthread_mutex_t descriptors_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int fd;
    ino_t inode;
    uint64_t caller;
} exported_descriptors[KEPT]; /* guarded by descriptors_lock; a ring of the latest */
static uint64_t exported_count;

void vgpu__descriptor_given(int fd)
{
    struct stat status;
    if (!(vgpu__process.checks & VGPU_CHECK_LEAKS) || fstat(fd, &status) != 0)
        return;
    pthread_mutex_lock(&descriptors_lock);
    exported_descriptors[exported_count % KEPT].fd = fd;
    exported_descriptors[exported_count % KEPT].inode = status.st_ino;
    exported_descriptors[exported_count++ % KEPT].caller = vgpu__caller();
    pthread_mutex_unlock(&descriptors_lock);
}

static bool is_still_open(uint64_t n)
{
    struct stat status;
    return fstat(exported_descriptors[n].fd, &status) == 0 &&
           status.st_ino == exported_descriptors[n].inode;
}

static void report_open_descriptors(void)
{
    char text[300], where[160] = "";
    uint64_t open = 0, first = 0;
    if (pthread_mutex_trylock(&descriptors_lock) != 0)
        return;
    for (uint64_t n = 0; n < exported_count && n < KEPT; n++)
        if (is_still_open(n) && open++ == 0)
            first = exported_descriptors[n].caller;
    pthread_mutex_unlock(&descriptors_lock);
    if (open == 0)
        return;
    vgpu__symbolize(first, where, sizeof where);
    snprintf(text, sizeof text,
             "the program ends with %llu open descriptor%s of exported memory%s%s: close each when "
             "it has been sent; the memory lives as long as one is open",
             (unsigned long long)open, open == 1 ? "" : "s",
             where[0] ? "; got, or the first of them, at " : "", where);
    vgpu__finding(VGPU_DIAGNOSIS_leaks_descriptors, "exit", 1, text);
}

int vgpu__descriptor_copy(const char *call, int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 && errno == EBADF)
        vgpu__refuse(cudaErrorUnknown, call, "%d is not an open descriptor", fd);
    else if (copy < 0)
        vgpu__refuse(cudaErrorOperatingSystem, call, "descriptor %d cannot be sent: %s (ulimit -n)",
                     fd, strerror(errno));
    return copy;
}

cudaError_t vgpu__descriptor_missing(const char *call)
{
    return vgpu__refuse(cudaErrorOperatingSystem, call,
                        "the descriptor did not arrive: this program, or the node, has none left "
                        "(ulimit -n)");
}

const struct vgpu__observer vgpu__open_descriptors = {.process_ends = report_open_descriptors};
