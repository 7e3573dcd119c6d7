/* SPDX-License-Identifier: MIT
 * objects.c: what a program has, who may touch it when, and where its answers go.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_state state;
struct fuzz_shared *shared;

void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = sizeof state.text - (size_t)state.length;
    int n = vsnprintf(state.text + state.length, room, format, list);
    va_end(list);
    if (n > 0 && (size_t)n < room)
        state.length += n;
}

/* Errors after which a process can do nothing more. */
static bool stays(int code)
{
    return code == 46 || code == 214 || code == 220 || (code >= 700 && code <= 703) ||
           (code >= 710 && code <= 721 && code != 712 && code != 713) || code == 999;
}

bool said(int code)
{
    say(" -> %d", code);
    if (stays(code))
        state.dead = true;
    return code == 0;
}

void state_begin(struct fuzz_program *program, int process)
{
    memset(&state, 0, offsetof(struct fuzz_state, text));
    state.program = program;
    state.process = process;
    state.gpus = program->gpus;
    for (int i = 0; i < FUZZ_BUFFERS; i++) {
        state.buffer[i].place = process * FUZZ_BUFFERS + i;
        state.buffer[i].chunk = -1;
    }
    for (int i = 0; i < FUZZ_CHUNKS; i++)
        state.chunk[i].place = (2 * FUZZ_BUFFERS) + process * FUZZ_CHUNKS + i;
    for (int i = 0; i < FUZZ_STREAMS; i++)
        state.stream[i].device = -1;
    state.stream[1].handle = cudaStreamPerThread;
    clocks_reset();
    cudaSetDevice(0);
    cudaGetLastError();
}

struct fuzz_stream *stream_at(int slot)
{
    struct fuzz_stream *s = &state.stream[slot];
    return slot >= 2 && !s->live ? &state.stream[0] : s;
}

int device_of(const struct fuzz_stream *s)
{
    return s->device < 0 ? state.device : s->device;
}

int lane_of(const struct fuzz_stream *s)
{
    if (s == &state.stream[0])
        return LANE_LEGACY + state.device;
    return s == &state.stream[1] ? LANE_THREAD + state.device : s->lane;
}

void sync_all(void)
{
    unsigned used = state.used | 1u << state.device;
    for (int d = 0; d < state.gpus; d++) {
        if (!(used >> d & 1))
            continue;
        cudaSetDevice(d);
        cudaError_t e = cudaDeviceSynchronize();
        if (e != cudaSuccess) {
            say(" (sync %d", d);
            said(e);
            say(")");
        }
    }
    cudaSetDevice(state.device);
    state.used = 0;
    clocks_waited_all();
}

bool on_host(const struct fuzz_buffer *b)
{
    return b->kind == MEM_PINNED || b->kind == MEM_MAPPED || b->kind == MEM_MANAGED ||
           b->kind == MEM_PAGEABLE;
}

int place_of(const struct fuzz_buffer *b)
{
    return b->chunk >= 0 ? state.chunk[b->chunk].place : b->place;
}

bool alias(const struct fuzz_buffer *a, const struct fuzz_buffer *b)
{
    return a->kind != MEM_NONE && b->kind != MEM_NONE &&
           (place_of(a) == place_of(b) || (a->kind == MEM_IPC && b->kind == MEM_IPC));
}

bool fits(const struct fuzz_buffer *b, long off, long bytes)
{
    return off >= 0 && bytes >= 0 && (size_t)(off + bytes) <= b->size;
}

bool reachable(const struct fuzz_buffer *b, int device, bool write)
{
    switch (b->kind) {
    case MEM_DEVICE:
        return b->device == device || state.peer[device][b->device];
    case MEM_PINNED:
    case MEM_MAPPED:
    case MEM_MANAGED:
        return true;
    case MEM_PAGEABLE:
        return b->registered != 0;
    case MEM_POOL:
    case MEM_IPC:
        return b->access >> device & 1;
    case MEM_VMM:
        return b->chunk >= 0 && b->access >> device & 1 && (!write || b->writable >> device & 1);
    default:
        return false;
    }
}

/* ---- what an operation touches ---- */

struct fuzz_touch touch_begin(int lane)
{
    return (struct fuzz_touch){.lane = lane, .ready = clocks_ready(lane)};
}

void touch_add(struct fuzz_touch *t, const struct fuzz_buffer *b, bool write)
{
    int i = t->count++;
    t->place[i] = place_of(b);
    t->write[i] = write;
}

void touch_check(struct fuzz_touch *t)
{
    bool ordered = true;
    for (int i = 0; i < t->count; i++)
        ordered = ordered && clocks_ordered(&t->ready, t->place[i], t->write[i]);
    if (ordered)
        return;
    sync_all();
    t->ready = clocks_ready(t->lane);
}

void touch_done(struct fuzz_touch *t, bool issued)
{
    if (!issued)
        return;
    clocks_issued(t->lane, &t->ready);
    for (int i = 0; i < t->count; i++)
        clocks_touched(t->lane, t->place[i], t->write[i]);
}

/* ---- contents ---- */

static uint32_t hash_bytes(const unsigned char *at, size_t bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 16777619u;
    return hash;
}

static size_t checked_part(const struct fuzz_buffer *b)
{
    return b->size < 65536 ? b->size : 65536;
}

void buffer_fill(int slot)
{
    static unsigned char pattern[4 << 20];
    struct fuzz_buffer *b = &state.buffer[slot];
    for (size_t i = 0; i < b->size; i++)
        pattern[i] = (unsigned char)(i * 7 + (size_t)slot * 31 + i / 256);
    if (on_host(b)) {
        memcpy(b->ptr, pattern, b->size);
        return;
    }
    cudaSetDevice(b->device); /* a pool's memory is not other GPUs' */
    cudaError_t e = cudaMemcpy(b->ptr, pattern, b->size, cudaMemcpyDefault);
    cudaSetDevice(state.device);
    state.used |= 1u << state.device | 1u << b->device;
    sync_all();
    if (e != cudaSuccess) {
        say(" (fill");
        said(e);
        say(")");
    }
}

uint32_t buffer_hash(const struct fuzz_buffer *b, bool *ok)
{
    static unsigned char copy[65536];
    size_t part = checked_part(b);
    *ok = true;
    if (on_host(b))
        return hash_bytes((unsigned char *)b->ptr, part);
    if (b->kind == MEM_VMM) /* from a GPU that may */
        cudaSetDevice(__builtin_ctz(b->access));
    cudaError_t e = cudaMemcpy(copy, b->ptr, part, cudaMemcpyDefault);
    cudaSetDevice(state.device);
    *ok = e == cudaSuccess;
    return *ok ? hash_bytes(copy, part) : (uint32_t)e;
}

void handles_forget(int place)
{
    for (int i = 0; i < FUZZ_HANDLES; i++)
        if (shared->handle[i].owner == state.process && shared->handle[i].place == place)
            shared->handle[i].has_memory = false;
}

static cudaError_t released(struct fuzz_buffer *b)
{
    if (b->registered)
        cudaHostUnregister(b->ptr);
    switch (b->kind) {
    case MEM_PAGEABLE:
        free(b->ptr);
        return cudaSuccess;
    case MEM_PINNED:
    case MEM_MAPPED:
        return cudaFreeHost(b->ptr);
    case MEM_IPC:
        return cudaIpcCloseMemHandle(b->ptr);
    case MEM_VMM:
        return cudaSuccess; /* vmm_end() */
    default:
        return cudaFree(b->ptr);
    }
}

void buffer_release(int slot)
{
    struct fuzz_buffer *b = &state.buffer[slot];
    if (b->kind == MEM_NONE || b->kind == MEM_VMM)
        return;
    cudaError_t e = released(b);
    if (e != cudaSuccess) {
        say(" (release %d", slot);
        said(e);
        say(")");
    }
    b->kind = MEM_NONE;
    b->registered = 0;
    handles_forget(b->place);
    b->place = state.process * FUZZ_BUFFERS + slot;
}

static void say_contents(void)
{
    for (int i = 0; i < FUZZ_BUFFERS; i++) {
        struct fuzz_buffer *b = &state.buffer[i];
        bool ok;
        if (b->kind == MEM_NONE || (b->kind == MEM_VMM && (b->chunk < 0 || b->access == 0)))
            continue;
        uint32_t hash = buffer_hash(b, &ok);
        say("p%d b%d kind %d: %s %08x\n", state.process, i, b->kind, ok ? "holds" : "error", hash);
    }
}

static void destroy_streams(void)
{
    for (int i = 2; i < FUZZ_STREAMS; i++)
        if (state.stream[i].live)
            cudaStreamDestroy(state.stream[i].handle);
    for (int i = 0; i < FUZZ_EVENTS; i++)
        if (state.event[i].live)
            cudaEventDestroy(state.event[i].handle);
}

static void disable_peers(void)
{
    for (int d = 0; d < state.gpus; d++)
        for (int peer = 0; peer < state.gpus; peer++)
            if (state.peer[d][peer]) {
                cudaSetDevice(d);
                cudaDeviceDisablePeerAccess(peer);
            }
}

void state_end(void)
{
    say("p%d last %d\n", state.process, cudaGetLastError());
    graphs_end();
    sync_all();
    say_contents();
    destroy_streams();
    for (int i = 0; i < FUZZ_BUFFERS; i++)
        buffer_release(i);
    vmm_end();
    disable_peers();
    cudaSetDevice(0);
    say("p%d end %d\n", state.process, cudaGetLastError());
}
