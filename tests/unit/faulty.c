/* SPDX-License-Identifier: MIT
 * faulty.c: each allocation, descriptor and mapping of the node fails in turn while a program works
 * and another one looks on. The node does not end, the program's call answers with an error and a
 * sentence or not at all wrong, and the other program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "quiescence.h"
#include "reserve.h"
#include "served.h"
#include "unit.h"

enum { WORKER, BYSTANDER };
enum kind { MEMORY, DESCRIPTOR, MAP, LOOK };

/* Of the node's process, and of the test's, which looks whether it was reached. */
static struct {
    bool on, onward;
    enum kind kind;
    long fails_at, counted;
    pid_t spared; /* the test itself, where that is not the node */
} * fault;

static bool fails(enum kind kind, int cause)
{
    if (!fault || !fault->on || kind != fault->kind || fault->spared == getpid())
        return false;
    long number = ++fault->counted;
    if (number != fault->fails_at && !(fault->onward && number > fault->fails_at))
        return false;
    errno = cause;
    return true;
}

/* ---- what the linker puts in the place of the calls (--wrap) ---- */

#define WRAP(type, name, parameters, kind, cause, failed, ...)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(kind, cause) ? (failed) : __real_##name(__VA_ARGS__);                         \
    }

WRAP(void *, malloc, (size_t bytes), MEMORY, ENOMEM, NULL, bytes)
WRAP(void *, calloc, (size_t count, size_t bytes), MEMORY, ENOMEM, NULL, count, bytes)
WRAP(void *, realloc, (void *old, size_t bytes), MEMORY, ENOMEM, NULL, old, bytes)
WRAP(int, memfd_create, (const char *name, unsigned flags), DESCRIPTOR, EMFILE, -1, name, flags)
WRAP(int, socketpair, (int family, int type, int protocol, int *pair), DESCRIPTOR, EMFILE, -1,
     family, type, protocol, pair)
WRAP(int, pipe2, (int *ends, int flags), DESCRIPTOR, EMFILE, -1, ends, flags)
WRAP(int, epoll_create1, (int flags), DESCRIPTOR, EMFILE, -1, flags)
WRAP(char *, strdup, (const char *text), MEMORY, ENOMEM, NULL, text)
WRAP(int, dup, (int fd), DESCRIPTOR, EMFILE, -1, fd)
WRAP(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), DESCRIPTOR,
     EMFILE, -1, fd, from, length, flags)
WRAP(FILE *, fopen, (const char *path, const char *mode), DESCRIPTOR, EMFILE, NULL, path, mode)
WRAP(void *, mmap, (void *at, size_t bytes, int access, int flags, int fd, off_t offset), MAP,
     ENOMEM, MAP_FAILED, at, bytes, access, flags, fd, offset)

/* Those with one argument more, or none. */
static long last_argument(va_list list)
{
    long value = va_arg(list, long);
    va_end(list);
    return value;
}

#define WRAP_MORE(name, parameters, last, kind, when, ...)                                         \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        long value = last_argument(list);                                                          \
        return (when) && fails(kind, EMFILE) ? -1 : __real_##name(__VA_ARGS__, value);             \
    }

WRAP_MORE(fcntl, (int fd, int command, ...), command, DESCRIPTOR,
          command == F_DUPFD || command == F_DUPFD_CLOEXEC, fd, command)
WRAP_MORE(open, (const char *path, int flags, ...), flags, DESCRIPTOR, true, path, flags)
WRAP_MORE(openat, (int folder, const char *path, int flags, ...), flags, LOOK, true, folder, path,
          flags)

/* ---- a program ---- */

static struct served served;
static int errors; /* that the program's calls reported */
static bool said;  /* that there will be no trace */

/* The call's value; 0: it reported an error, with a sentence. */
static uint64_t call(int program, struct vgpu_request q)
{
    int error = served_ask(&served, program, &q);
    EXPECT(error >= 0, "request %u: the node closed the connection", q.op);
    said |= strstr(served.reply.r.explain, "VGPU_TRACE") != NULL;
    if (error == 0)
        return served.reply.r.value ? served.reply.r.value : 1;
    EXPECT(served.reply.r.explain[0] || errors > 0, "request %u answers %d without a sentence",
           q.op, error);
    errors++;
    return 0;
}

#define CALL(...) call(program, (struct vgpu_request){__VA_ARGS__})

static void copies(int program)
{
    uint64_t small = CALL(.op = VGPU_OP_MALLOC, .bytes = 4096),
             large = CALL(.op = VGPU_OP_MALLOC, .bytes = 1 << 18, .device = 1),
             host = CALL(.op = VGPU_OP_HOST_ALLOC, .bytes = 1 << 16),
             stream = CALL(.op = VGPU_OP_STREAM_CREATE),
             other = CALL(.op = VGPU_OP_STREAM_CREATE, .device = 1),
             event = CALL(.op = VGPU_OP_EVENT_CREATE);
    if (small && large && host && stream && other && event) {
        struct vgpu_request q = {.op = VGPU_OP_COPY, .stream = stream, .call = "up"};
        for (int i = 0; i < 6; i++) {
            q.u.copy = (struct vgpu_copy){.dst = small, .src = host, .bytes = 4096};
            call(program, q);
        }
        CALL(.op = VGPU_OP_EVENT_RECORD, .event = event, .stream = stream);
        CALL(.op = VGPU_OP_STREAM_WAIT, .event = event, .stream = other);
        q = (struct vgpu_request){.op = VGPU_OP_COPY, .stream = other, .call = "across"};
        q.u.copy = (struct vgpu_copy){.dst = large, .src = small, .bytes = 4096};
        call(program, q);
        q = (struct vgpu_request){.op = VGPU_OP_MEMSET, .stream = other, .device = 1};
        q.u.memset = (struct vgpu_memset){.dst = large + 4096, .bytes = 1 << 16, .width = 1};
        call(program, q);
        q = (struct vgpu_request){.op = VGPU_OP_COPY, .stream = other, .call = "down"};
        q.u.copy = (struct vgpu_copy){.dst = host + 8192, .src = large, .bytes = 8192};
        call(program, q);
        CALL(.op = VGPU_OP_STREAM_SYNC, .stream = other);
        CALL(.op = VGPU_OP_STREAM_DESTROY, .stream = stream);
        CALL(.op = VGPU_OP_DEVICE_SYNC, .device = 1);
    }
    CALL(.op = VGPU_OP_FREE, .ptr = small);
    CALL(.op = VGPU_OP_HOST_FREE, .ptr = host);
}

static void shares(int program)
{
    const uint64_t chunk = 2 << 20;
    uint64_t handle = CALL(.op = VGPU_OP_VMM_CREATE, .bytes = chunk, .flags = 1),
             range = CALL(.op = VGPU_OP_VMM_RESERVE, .bytes = chunk),
             memory = CALL(.op = VGPU_OP_MALLOC, .bytes = chunk),
             pool = CALL(.op = VGPU_OP_POOL_CREATE, .flags = 1);
    if (handle && range) {
        if (CALL(.op = VGPU_OP_VMM_MAP, .ptr = range, .bytes = chunk, .value = handle))
            CALL(.op = VGPU_OP_VMM_UNMAP, .ptr = range, .bytes = chunk);
        CALL(.op = VGPU_OP_VMM_EXPORT, .value = handle, .flags = 1);
        CALL(.op = VGPU_OP_VMM_RELEASE, .value = handle);
    }
    if (memory)
        CALL(.op = VGPU_OP_IPC_EXPORT, .ptr = memory);
    uint64_t late = pool ? CALL(.op = VGPU_OP_POOL_MALLOC, .value = pool, .bytes = 1000,
                                .stream = VGPU_STREAM_LEGACY)
                         : 0;
    if (late)
        CALL(.op = VGPU_OP_POOL_FREE, .ptr = late, .stream = VGPU_STREAM_LEGACY);
    if (pool)
        CALL(.op = VGPU_OP_POOL_EXPORT, .value = pool);
    CALL(.op = VGPU_OP_THREAD);
    CALL(.op = VGPU_OP_DEVICE_SYNC);
}

/* Device code, whose context (liar.c) says that it has run. */
static void launches(int program)
{
    struct vgpu_request q = {.op = VGPU_OP_LAUNCH, .stream = VGPU_STREAM_LEGACY};
    served.fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int image = served.fd;
    EXPECT(fcntl(image, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0,
           "%s", "no image");
    for (int i = 0; i < 3; i++)
        q.u.launch.grid[i] = q.u.launch.block[i] = 1;
    if (CALL(.op = VGPU_OP_MODULE)) {
        call(program, q);
        CALL(.op = VGPU_OP_DEVICE_SYNC);
    }
    close(image);
}

static void work(int program)
{
    copies(program);
    shares(program);
    launches(program);
    CALL(.op = VGPU_OP_BYE);
}

/* Comes over the listener, and wants a trace. False: it was told why not. */
static bool comes(int program, int trace)
{
    served_join(&served, program);
    served.fd = trace;
    said = false;
    if (served_hello(&served, program) == 0) {
        said |= strstr(served.reply.r.explain, "VGPU_TRACE") != NULL;
        return true;
    }
    EXPECT(served.reply.r.explain[0], "%s", "hello is refused without a sentence");
    return false;
}

static bool is_empty(int file)
{
    return lseek(file, 0, SEEK_END) == 0;
}

/* ---- one run for each ---- */

/* True: there was a call with that number, and it failed. */
static bool survives(enum kind kind, long number)
{
    errors = 0;
    *fault = (__typeof__(*fault)){.kind = kind, .fails_at = number, .spared = getpid()};
    served_start(&served);
    EXPECT(served_hello(&served, BYSTANDER) == 0, "%s", "hello is refused");
    fault->on = true;
    int trace = memfd_create("trace", MFD_CLOEXEC);
    if (comes(WORKER, trace)) {
        work(WORKER);
        EXPECT(said || !is_empty(trace), "failure %ld: no trace, and not a word", number);
    }
    close(trace);
    bool reached = fault->counted >= number;
    int before = errors;
    copies(BYSTANDER);
    call(BYSTANDER, (struct vgpu_request){.op = VGPU_OP_BYE});
    EXPECT(!reached || errors == before, "failure %ld: %d calls of the other program fail later",
           number, errors - before);
    const char *wrong = served_end(&served);
    EXPECT(!wrong, "failure %ld: %s", number, wrong);
    return reached;
}

/* Fails call number `first`, `first` + `step` and so on, each in a run of its own, until a run
 * makes fewer calls than that. */
static void each(enum kind kind, long first, long step, long least)
{
    fault = mmap(NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long number = first;
    setenv("VGPU_EXEC_LAUNCHER", LIAR_PROGRAM "\nhonest", 1);
    while (survives(kind, number))
        number += step;
    EXPECT(number > least, "there were only %ld to fail", number - 1);
}

/* In four parts, which run side by side. */
UNIT(allocations_1_5_9_of_the_node_fail)
{
    each(MEMORY, 1, 4, 60);
}

UNIT(allocations_2_6_10_of_the_node_fail)
{
    each(MEMORY, 2, 4, 60);
}

UNIT(allocations_3_7_11_of_the_node_fail)
{
    each(MEMORY, 3, 4, 60);
}

UNIT(allocations_4_8_12_of_the_node_fail)
{
    each(MEMORY, 4, 4, 60);
}

UNIT(every_descriptor_of_the_node_fails)
{
    each(DESCRIPTOR, 1, 1, 7);
}

UNIT(every_mapping_of_the_node_fails)
{
    each(MAP, 1, 1, 1);
}

UNIT(a_pipe_gets_no_trace)
{
    int ends[2];
    EXPECT(pipe(ends) == 0, "%s", "no pipe");
    served_start(&served);
    EXPECT(comes(WORKER, ends[1]), "%s", served.reply.r.explain);
    copies(WORKER);
    call(WORKER, (struct vgpu_request){.op = VGPU_OP_BYE});
    EXPECT(said, "%s", "not a word");
    const char *wrong = served_end(&served);
    EXPECT(!wrong, "%s", wrong);
}

/* A thread that cannot be looked at may be computing. */
UNIT(who_cannot_be_looked_at_does_not_sleep)
{
    static __typeof__(*fault) own;
    const pid_t self = getpid();
    fault = &own;
    EXPECT(quiescence_of(&self, 1) == QUIESCENT_NO, "%s", "it runs, and is taken for asleep");
    own = (__typeof__(own)){.on = true, .onward = true, .kind = LOOK, .fails_at = 1};
    EXPECT(quiescence_of(&self, 1) != QUIESCENT_YES, "after %ld looks that fail it sleeps",
           own.counted);
}

/* ---- the reserve ---- */

static void fail_from_now_on(void)
{
    static __typeof__(*fault) own;
    own = (__typeof__(own)){.on = true, .onward = true, .kind = MEMORY, .fails_at = 1};
    fault = &own;
}

UNIT(the_reserve_is_a_heap)
{
    enum { PIECES = 300 };
    static struct {
        uint8_t *at;
        size_t bytes;
        uint8_t value;
    } piece[PIECES];
    fail_from_now_on();
    unit_seed(5);
    for (int step = 0; step < 20000; step++) {
        int i = (int)unit_dice(PIECES);
        for (size_t k = 0; k < piece[i].bytes; k += 61)
            EXPECT(piece[i].at[k] == piece[i].value, "step %d: another piece has written here",
                   step);
        size_t bytes = unit_dice(8) == 0 ? 0 : 1 + unit_dice(unit_dice(20) ? 400 : 60000);
        if (bytes == 0) {
            reserve_give(piece[i].at);
            piece[i].at = NULL;
        } else {
            size_t kept = piece[i].bytes < bytes ? piece[i].bytes : bytes;
            piece[i].at = reserve_grow(piece[i].at, kept, bytes);
            for (size_t k = 0; k < kept; k += 61)
                EXPECT(piece[i].at[k] == piece[i].value, "step %d: what was there is lost", step);
            piece[i].value = (uint8_t)step;
            memset(piece[i].at, piece[i].value, bytes);
        }
        piece[i].bytes = bytes;
    }
    for (int i = 0; i < PIECES; i++)
        reserve_give(piece[i].at);
    EXPECT(!reserve_is_low(), "%s", "all was given back, and it is low");
    uint8_t *most = reserve_take(RESERVE_BYTES / 2 - 64), *more = reserve_take(1000);
    EXPECT(reserve_is_low(), "%s", "half of it is in use, and it is not low");
    reserve_give(more);
    reserve_give(most);
    EXPECT(!reserve_is_low(), "%s", "all was given back, and it is low");
}

UNIT(the_reserve_gives_back_to_malloc)
{
    fail_from_now_on();
    char *text = memcpy(reserve_take(8), "seven", 6);
    fault->on = false;
    text = reserve_grow(text, 8, 100);
    EXPECT(strcmp(text, "seven") == 0, "it says %s", text);
    text[99] = 1;
    reserve_give(text);
}
