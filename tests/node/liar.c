/* SPDX-License-Identifier: MIT
 * liar.c: stands in for vgpu-exec (VGPU_EXEC_LAUNCHER) and does what its device code, once it has
 * written over its process, could do: it speaks to the node in its place.
 *
 *     liar HOW /path/of/vgpu-exec
 *
 * It answers truthfully until it is to run a kernel (or, as `deaf` and `variables` say, before);
 * `honest` says then that the kernel has run. `refuses-map`: the first process refuses to map
 * memory (LIAR_ONCE names a file that is there afterwards), and a program that was not told of all
 * of it runs nothing. With LIAR_DOOR it speaks at its door (door.h) where it is asked there.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "door.h"
#include "protocol.h"
#include "wire.h"

enum { NODE_SOCKET = 3, MANY_VARIABLES = 65536, FILLED = 768 << 20, MAPPED = 4 << 20 };

static const char *how;
static union {
    struct vgpu_exec_request q;
    char room[VGPU_MSG_MAX];
} asked;
static union {
    struct vgpu_exec_reply r;
    char room[VGPU_MSG_MAX];
} said;
static struct vgpu_control *control;
static uint8_t *memory;       /* of GPU 0 */
static uint64_t mapped_bytes; /* of GPU 0's memory */
static bool refused;
static char *doors; /* NULL: it reads the socket */

static struct vgpu_door *door(int which)
{
    return (void *)(doors + which * VGPU_DOOR_BYTES);
}

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void say(void)
{
    if (doors && vgpu_door_put(door(VGPU_DOOR_ANSWERS), &said, sizeof said.r + said.r.data_bytes))
        return;
    if (vgpu_send(NODE_SOCKET, &said, sizeof said.r + said.r.data_bytes, NULL, 0) != 0)
        _exit(0);
}

static void doze(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* A kernel's end, with some number of it as no kernel has it. */
static void lie_about_counts(void)
{
    struct vgpu_exec_reply *r = &said.r;
    r->status = VGPU_RAN;
    if (is("counts"))
        for (uint64_t i = 0; i <= VGPU_MAX_DEVICES; i++)
            r->counts.read_moved[i] = r->counts.write_moved[i] = UINT64_MAX - i;
    else if (is("cycles"))
        r->counts.cycles = ~0ull;
    else if (is("conflicts"))
        r->counts.conflicts = r->counts.conflict_ways = ~0ull;
    else if (is("strays"))
        r->stray_count = ~0u;
    else if (is("signals"))
        r->signals.stored_count = r->signals.polled_count = 1u << 31;
    else if (is("status"))
        r->status = -7;
    else if (is("other-run"))
        r->run++;
    else if (is("fault"))
        r->status = VGPU_FAULTED, r->fault.kind = 1 << 30;
    else if (is("data"))
        r->printf_bytes = ~0u;
}

/* Below 2 MiB: the search for an allocation before it went around the end of the addresses. */
static void lie_low(void)
{
    said.r.status = VGPU_RAN;
    said.r.stray_count = 1;
    said.r.stray[0] = (struct vgpu_stray){.address = 5000, .bytes = 4};
}

/* Many pieces that have to be compared with another kernel's many, one by one: those have odd
 * addresses and these even ones. */
static void lie_about_spans(void)
{
    enum { FIT = (VGPU_MSG_MAX - sizeof said.r) / sizeof(struct vgpu_span) };
    struct vgpu_span span[FIT];
    for (uint32_t sent = 0; sent + FIT <= VGPU_SPANS; sent += FIT) {
        for (uint32_t i = 0; i < FIT; i++)
            span[i] = (struct vgpu_span){VGPU_DEVICE_VA(0) + 2 * (i % 7) + asked.q.run % 2, 1,
                                         64 + 2 * (sent + i), 1 << 17, VGPU_USE_WRITE};
        said.r.status = VGPU_OK;
        said.r.span_count = FIT;
        said.r.data_bytes = sizeof span;
        memcpy(said.r.data, span, sizeof span);
        say();
    }
    said.r.status = VGPU_RAN;
    said.r.span_count = said.r.data_bytes = 0;
}

static void print_without_end(long pause_ms)
{
    said.r.status = VGPU_OK;
    said.r.printf_bytes = said.r.data_bytes = 1;
    said.r.data[0] = '.';
    for (;;) {
        say();
        if (pause_ms)
            doze(pause_ms);
    }
}

static void write_anything(void)
{
    unsigned seed = 7;
    uint8_t *bytes = (uint8_t *)&said;
    for (size_t i = 0; i < sizeof said; i++)
        bytes[i] = (uint8_t)rand_r(&seed);
    said.r.status = VGPU_RAN;
    said.r.run = asked.q.run;
    said.r.data_bytes = 0;
}

/* More than the node may hold. Its limit, and the sum that counts against it, stood in the first
 * words of a page that is ours, too; so do the marks that say which chunks have been touched. */
static void open_memory(const int *fds)
{
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                   fds[asked.q.device_count + 1], 0);
    memory = mmap(NULL, FILLED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fds[0], 0);
    if (control == MAP_FAILED || memory == MAP_FAILED)
        _exit(1);
    if (is("limit"))
        ((uint64_t *)control)[1] = ~0ull;
}

static void take_memory(void)
{
    if (is("limit"))
        ((uint64_t *)control)[1] = ~0ull;
    else if (is("marks"))
        memset(control->chunk[0], 1, FILLED / VGPU_CHUNK_BYTES);
    else if (is("filled"))
        memset(memory, 7, FILLED);
    said.r.status = VGPU_RAN;
}

static void run(void)
{
    if (is("endless") || is("drip"))
        print_without_end(is("drip") ? 150 : 0);
    if (is("died"))
        _exit(1);
    if (is("mute"))
        for (;;)
            pause();
    if (is("moved"))
        said.r.status = VGPU_STALLED, said.r.moved = 1;
    else if (is("random"))
        write_anything();
    else if (is("refuses-map"))
        said.r.status = refused || mapped_bytes < MAPPED ? -7 : VGPU_RAN;
    else if (is("low"))
        lie_low();
    else if (is("spans"))
        lie_about_spans();
    else if (memory)
        take_memory();
    else
        lie_about_counts();
}

/* The first answer names more of them than the node should ask for one by one. */
static void tell_variables(void)
{
    struct vgpu_exec_var var = {.offset = 0, .bytes = 4, .key = "x"};
    bool has = is("variables") || is("honest") || is("refuses-map");
    said.r.var_count = is("variables") ? MANY_VARIABLES : has;
    said.r.var_bytes = has ? 4096 : 0;
    said.r.data_bytes = has ? sizeof var : 0;
    memcpy(said.r.data, &var, said.r.data_bytes);
    said.r.kernel_count = 1;
    if (is("module")) /* what only a kernel's answer has */
        said.r.span_count = said.r.printf_bytes = 1 << 20;
}

static bool is_first(void)
{
    int fd = open(getenv("LIAR_ONCE"), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void refuse_or_map(const struct vgpu_exec_request *q)
{
    if (q->fixed)
        return; /* variables of the image */
    refused |= is_first();
    if (refused)
        said.r.status = VGPU_REFUSED;
    else if (q->memory == 0 && q->va == VGPU_DEVICE_VA(0) + q->offset)
        mapped_bytes += q->bytes;
}

static void open_doors(const int *fds)
{
    doors =
        mmap(NULL, 2 * VGPU_DOOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
             fds[asked.q.device_count], (off_t)(VGPU_DOOR_VA(2 * asked.q.device) - VGPU_HOST_VA));
    if (doors == MAP_FAILED)
        _exit(1);
}

static bool was_asked(int *fds, int *count)
{
    if (doors && vgpu_door_take(door(VGPU_DOOR_ASKED), &asked, sizeof asked, 100) >= 0) {
        *count = 0;
        return true;
    }
    return vgpu_receive(NODE_SOCKET, &asked, sizeof asked, fds, count, 0) > 0;
}

static void answer(const int *fds)
{
    memset(&said, 0, sizeof said.r);
    said.r.run = asked.q.run;
    if (asked.q.op == VGPU_EXEC_ATTACH && (is("limit") || is("marks") || is("filled")))
        open_memory(fds);
    if (asked.q.op == VGPU_EXEC_MODULE)
        tell_variables();
    if (is("refuses-map") && asked.q.op == VGPU_EXEC_MAP)
        refuse_or_map(&asked.q);
    if (asked.q.op == VGPU_EXEC_RUN || asked.q.op == VGPU_EXEC_RESUME)
        run();
    if (asked.q.op == VGPU_EXEC_ATTACH && getenv("LIAR_DOOR"))
        open_doors(fds);
    if (doors)
        vgpu_door_open(door(VGPU_DOOR_ASKED));
    say();
    for (int i = 0; is("eager") && i < 100000; i++)
        say(); /* what was never asked */
    if (is("short") && vgpu_send(NODE_SOCKET, "?", 1, NULL, 0) != 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    for (;;) {
        int fds[VGPU_WIRE_FDS], count = VGPU_WIRE_FDS;
        if (is("deaf"))
            for (;;)
                pause();
        if (!was_asked(fds, &count))
            return 0;
        answer(fds);
        for (int i = 0; i < count; i++)
            close(fds[i]);
    }
}
