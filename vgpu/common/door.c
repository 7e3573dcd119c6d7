/* SPDX-License-Identifier: MIT
 * door.c: see door.h.
 */
#include "door.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A receiver that is woken so often without a message reads the socket. */
enum { MOST_WAKINGS = 64 };

static long futex(struct vgpu_door *door, int op, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, &door->state, op, value, limit, NULL, 0);
}

static bool door_is_open(uint32_t state)
{
    return state == VGPU_DOOR_OPEN || state == VGPU_DOOR_SLEEPS || state == VGPU_DOOR_WATCHED;
}

/* ---- the receiver ---- */

void vgpu_door_open(struct vgpu_door *door)
{
    atomic_store(&door->state, VGPU_DOOR_OPEN);
}

void vgpu_door_close(struct vgpu_door *door)
{
    atomic_store(&door->state, VGPU_DOOR_CLOSED);
}

bool vgpu_door_is_quiet(const struct vgpu_door *door)
{
    return door_is_open(atomic_load(&door->state));
}

/* Waits until the door is no longer open, at most `ms` after each waking, and returns its state.
 * Late: closes it. */
static uint32_t await_message(struct vgpu_door *door, int ms)
{
    const struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    uint32_t state;
    for (int wakings = 0; wakings < MOST_WAKINGS; wakings++) {
        state = VGPU_DOOR_OPEN;
        if (!atomic_compare_exchange_strong(&door->state, &state, VGPU_DOOR_SLEEPS) &&
            state != VGPU_DOOR_SLEEPS)
            return state;
        if (futex(door, FUTEX_WAIT, VGPU_DOOR_SLEEPS, &limit) != 0 && errno == ETIMEDOUT)
            break;
    }
    state = VGPU_DOOR_SLEEPS;
    return atomic_compare_exchange_strong(&door->state, &state, VGPU_DOOR_CLOSED) ? VGPU_DOOR_CLOSED
                                                                                  : state;
}

static ssize_t copy_message(const struct vgpu_door *door, void *message, size_t room)
{
    size_t bytes = atomic_load(&door->bytes);
    if (bytes > sizeof door->message)
        bytes = sizeof door->message;
    memcpy(message, door->message, bytes < room ? bytes : room);
    return (ssize_t)bytes;
}

ssize_t vgpu_door_take(struct vgpu_door *door, void *message, size_t room, int ms)
{
    if (await_message(door, ms) != VGPU_DOOR_FULL) {
        vgpu_door_close(door);
        return -1;
    }
    return copy_message(door, message, room);
}

/* ---- a receiver that does not sleep ---- */

uint64_t vgpu_door_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void vgpu_door_watch(struct vgpu_door *door)
{
    atomic_store(&door->state, VGPU_DOOR_WATCHED);
}

bool vgpu_door_is_watched(const struct vgpu_door *door)
{
    return atomic_load(&door->state) == VGPU_DOOR_WATCHED;
}

ssize_t vgpu_door_look(struct vgpu_door *door, void *message, size_t room, bool last)
{
    uint32_t state = last ? atomic_exchange(&door->state, VGPU_DOOR_CLOSED)
                          : atomic_load_explicit(&door->state, memory_order_acquire);
    if (state != VGPU_DOOR_FULL)
        return -1;
    vgpu_door_close(door);
    return copy_message(door, message, room);
}

bool vgpu_door_stare(struct vgpu_door *door, int us)
{
    enum { LOOKS = 32 }; /* between two looks at the clock */
    const uint64_t end = vgpu_door_clock_ns() + (uint64_t)us * 1000;
    uint32_t state;
    do
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(&door->state, memory_order_acquire) != VGPU_DOOR_WATCHED)
                return true;
            vgpu_pause();
        }
    while (vgpu_door_clock_ns() < end);
    state = VGPU_DOOR_WATCHED;
    return !atomic_compare_exchange_strong(&door->state, &state, VGPU_DOOR_OPEN);
}

/* ---- the sender ---- */

/* Changes an open door's state. False: it is not open. */
static bool change_open(struct vgpu_door *door, uint32_t to)
{
    uint32_t state = atomic_load(&door->state);
    for (int tries = 0; tries < MOST_WAKINGS && door_is_open(state); tries++)
        if (atomic_compare_exchange_strong(&door->state, &state, to)) {
            if (state == VGPU_DOOR_SLEEPS)
                futex(door, FUTEX_WAKE, 1, NULL);
            return true;
        }
    return false;
}

bool vgpu_door_put(struct vgpu_door *door, const void *message, size_t bytes)
{
    if (bytes > sizeof door->message || !vgpu_door_is_quiet(door))
        return false;
    memcpy(door->message, message, bytes);
    atomic_store(&door->bytes, (uint32_t)bytes);
    return change_open(door, VGPU_DOOR_FULL);
}

void vgpu_door_knock(struct vgpu_door *door)
{
    change_open(door, VGPU_DOOR_CLOSED);
}

bool vgpu_door_may_wake(struct vgpu_door *door)
{
    return futex(door, FUTEX_WAKE, 1, NULL) >= 0;
}
