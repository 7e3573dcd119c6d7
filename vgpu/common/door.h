/* SPDX-License-Identifier: MIT
 * door.h: a place in memory that two processes share, into which one puts a message for the other:
 * cheaper than a socket, which remains for everything else. At most one message lies there.
 *
 * The receiver opens the door, and then waits there for a limited time. The sender puts its message
 * there while the door is open, and into the socket otherwise; a receiver whose time is over closes
 * the door and reads the socket, where it also learns that the other process has ended. So nothing
 * is lost when one of the two does not know doors, or may not wake the other one.
 *
 * The other process may write anything here at any time: a message is copied once and checked
 * afterwards, as one from a socket is, and waiting ends whatever is written.
 */
#ifndef VGPU_DOOR_H
#define VGPU_DOOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

enum vgpu_door_state {
    VGPU_DOOR_CLOSED,  /* the receiver reads the socket */
    VGPU_DOOR_OPEN,    /* it will look here */
    VGPU_DOOR_SLEEPS,  /* it waits here and must be woken */
    VGPU_DOOR_FULL,    /* a message lies here */
    VGPU_DOOR_WATCHED, /* open, and the receiver looks here all the time, on another processor */
};

struct vgpu_door {
    _Atomic uint32_t state; /* enum vgpu_door_state */
    _Atomic uint32_t bytes; /* of the message */
    _Alignas(64) uint8_t message[VGPU_MSG_MAX];
};
_Static_assert(sizeof(struct vgpu_door) <= VGPU_DOOR_BYTES, "a door fits into its place");

/* For the receiver. vgpu_door_take waits up to `ms` and returns the size of the message, of which
 * at most `room` bytes are stored; -1: the door is closed now, so the next message comes by the
 * socket. vgpu_door_is_quiet: the door is open, and no message has come yet. */
void vgpu_door_open(struct vgpu_door *door);
void vgpu_door_close(struct vgpu_door *door);
bool vgpu_door_is_quiet(const struct vgpu_door *door);
ssize_t vgpu_door_take(struct vgpu_door *door, void *message, size_t room, int ms);

/* For a receiver that looks instead of sleeping. vgpu_door_watch: opens the door, and says so.
 * vgpu_door_look: the size of the message that lies there, stored as by vgpu_door_take; -1: none,
 * and with `last` the door is closed now. vgpu_door_stare: looks for so many microseconds; false:
 * no message came, and the door is open as by vgpu_door_open. */
void vgpu_door_watch(struct vgpu_door *door);
ssize_t vgpu_door_look(struct vgpu_door *door, void *message, size_t room, bool last);
bool vgpu_door_stare(struct vgpu_door *door, int us);
/* For the sender: the receiver looks there all the time. */
bool vgpu_door_is_watched(const struct vgpu_door *door);
uint64_t vgpu_door_clock_ns(void);

static inline void vgpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* For the sender. vgpu_door_put: false: the message must go by the socket. vgpu_door_knock: one is
 * about to go there; wakes a receiver that waits at the door. vgpu_door_may_wake: false: a sandbox
 * refuses to let this process wake others. */
bool vgpu_door_put(struct vgpu_door *door, const void *message, size_t bytes);
void vgpu_door_knock(struct vgpu_door *door);
bool vgpu_door_may_wake(struct vgpu_door *door);

#endif
