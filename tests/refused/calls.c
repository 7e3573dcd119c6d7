/* SPDX-License-Identifier: MIT
 * calls.c: counts the calls of CUDA that a lab's functions make, and lets one of them fail.
 *
 * It is linked into a runner with --wrap for each call of CUDA and each function of the lab;
 * refused.py generates these wrappers (calls.inc, functions.c). Beside the running program lie two
 * files: "state", which says which call is to fail, and "log":
 *
 *     C RUN PROCESS K FUNCTION CALL PLACE     a call was made (only while nothing is to fail)
 *     F RUN PROCESS FUNCTION RESULT DEVICE    the function in which they were made came back; the
 *                                             current device before
 *     H FUNCTION CALL                         this call has failed
 *     R FUNCTION RESULT AGAIN DEVICE DEVICE ERROR ERROR
 *                                             the function in which it failed came back; the second
 *                                             time for AGAIN; current device and last error, each
 *                                             before the call and after it
 *     X FUNCTION PARAMETER                    it returned an error and had written to *PARAMETER
 */
#include "calls.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define UNKNOWN 999     /* cudaErrorUnknown, CUDA_ERROR_UNKNOWN */
#define NO_MEMORY 2     /* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */
#define LOG_CALLS 20000 /* of one process */

/* ---- what of the runtime is linked beside it (vgpu/api/core/door/core.h) ---- */
extern const char __start_vgpu_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_vgpu_text[] __attribute__((weak, visibility("hidden")));
extern const char __executable_start[];
int vgpu__record(int error);
void vgpu__call_named(const char *call);
int cudaGetDevice(int *device);
int cudaPeekAtLastError(void);
extern bool (*vgpu__failure_hook)(const char *call); /* a case that has calls fail, too */

struct state { /* refused.py writes it */
    int runs;  /* begun so far */
    int run, process, call;
    int again; /* the function in which it fails is called once more */
};

static struct state *state;
static int log_fd = -1, run, process, forks;
static atomic_int calls;
static _Thread_local struct refused_call *current;

static int open_beside(const char *name, int flags)
{
    char path[PATH_MAX + 16] = "";
    if (readlink("/proc/self/exe", path, PATH_MAX - 1) < 0)
        return -1;
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, 16, "%s", name);
    return open(path, flags | O_CLOEXEC);
}

static void before_fork(void)
{
    forks++;
}

static void in_child(void)
{
    process = process * 16 + forks;
    forks = 0;
    atomic_store(&calls, 0);
}

__attribute__((constructor)) static void find_state(void)
{
    int fd = open_beside("state", O_RDWR);
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return;
    state = at;
    run = ++state->runs;
    log_fd = open_beside("log", O_WRONLY | O_APPEND);
    pthread_atfork(before_fork, NULL, in_child);
}

static void write_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void write_line(const char *format, ...)
{
    char line[200];
    va_list words;
    va_start(words, format);
    int bytes = vsnprintf(line, sizeof line, format, words);
    va_end(words);
    if (bytes > 0 && (size_t)bytes < sizeof line && write(log_fd, line, (size_t)bytes) != bytes)
        _exit(99);
}

/* ---- calls of CUDA ---- */

/* Not counted are the runtime's own calls, and what is called while a case has calls fail itself.
 */
bool refused_fails(const char *name, const void *from)
{
    const char *at = from;
    bool own = at >= __start_vgpu_text && at < __stop_vgpu_text;
    if (!state || !current || own || vgpu__failure_hook)
        return false;
    int k = atomic_fetch_add(&calls, 1) + 1;
    if (state->run == 0 && k <= LOG_CALLS)
        write_line("C %d %d %d %s %s %zx\n", run, process, k, current->function, name,
                   (size_t)(at - __executable_start - 1));
    if (state->run != run || state->process != process || state->call != k)
        return false;
    current->hit = true;
    write_line("H %s %s\n", current->function, name);
    return true;
}

/* Calls of the runtime leave an error behind, those of the driver do not. */
long refused_error(const char *name)
{
    bool makes = strstr(name, "Alloc") || strstr(name, "Create") || strstr(name, "Reserve");
    int error = makes ? NO_MEMORY : UNKNOWN;
    if (strncmp(name, "cuda", 4) != 0)
        return error;
    vgpu__call_named(name);
    return vgpu__record(error);
}

/* ---- functions of the lab ---- */

/* It is no call of the lab's: it does not fail. */
static int current_device(void)
{
    bool (*hook)(const char *) = vgpu__failure_hook;
    int device = 0;
    vgpu__failure_hook = NULL;
    cudaGetDevice(&device);
    vgpu__failure_hook = hook;
    return device;
}

bool refused_enter(struct refused_call *call, const char *function)
{
    if (!state || current)
        return false;
    *call = (struct refused_call){.function = function};
    if (state->run == 0 || (state->run == run && state->process == process)) {
        call->error = cudaPeekAtLastError();
        call->device = current_device();
    }
    current = call;
    return true;
}

bool refused_leave(struct refused_call *call, int result)
{
    current = NULL;
    if (state->run == 0)
        write_line("F %d %d %s %d %d\n", run, process, call->function, result, call->device);
    if (!call->hit && !call->again)
        return false;
    int error = cudaPeekAtLastError();
    int device = current_device();
    write_line("R %s %d %d %d %d %d %d\n", call->function, result, call->again, call->device,
               device, call->error, error);
    call->hit = false;
    return result != 0 && !call->again;
}

bool refused_again(struct refused_call *call)
{
    call->again = state->again;
    current = call->again ? call : NULL;
    return call->again;
}

/* By a system call, which returns an error where the pointer is wrong, as tests' are. */
bool refused_keep(void *to, const void *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
    return from && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

void refused_compare(const struct refused_call *call, const char *parameter, const void *was,
                     const void *is, size_t bytes)
{
    if (memcmp(was, is, bytes) != 0)
        write_line("X %s %s\n", call->function, parameter);
}

#include "calls.inc"
