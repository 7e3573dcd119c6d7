/* SPDX-License-Identifier: MIT
 * at_doors.c: see at_doors.h.
 */
#include "at_doors.h"

#include "door.h"

/* A thread's next call comes in some microseconds, or not soon (PAUSE_NS in watching.c). */
#define LOOK_NS 20000
/* Looks between two at the clock and at the sockets, and rounds between two looks at the sockets
 * while requests come without a pause. */
enum { LOOKS = 64, ROUNDS = 16 };

static struct vgpu_door *door_of(const struct connection *c)
{
    return owner_door(&c->process->memory, c->door + 1);
}

void at_doors_open(struct connection *c)
{
    vgpu_door_open(door_of(c));
    c->looked_at = true;
}

ssize_t at_doors_read(struct connection *c, bool last)
{
    if (!c->looked_at)
        return -1;
    ssize_t got = vgpu_door_look(door_of(c), &c->request, sizeof c->request, last);
    c->looked_at = got < 0 && !last;
    return got;
}

void at_doors_close(struct connection *c)
{
    if (c->looked_at)
        vgpu_door_close(door_of(c));
    c->looked_at = false;
}

/* Sets *open if a door still is. */
static bool serve_all(void (*serve)(struct connection *c, ssize_t got), bool last, bool *open)
{
    bool served = false;
    *open = false;
    for (int i = connection_count() - 1; i >= 0; i--) {
        struct connection *c = connection_at(i);
        ssize_t got = c ? at_doors_read(c, last) : -1;
        if (got >= 0)
            serve(c, got);
        else if (c && c->looked_at)
            *open = true;
        served |= got >= 0;
    }
    return served;
}

static bool serve_next(void (*serve)(struct connection *c, ssize_t got))
{
    const uint64_t end = vgpu_door_clock_ns() + LOOK_NS;
    bool open;
    do
        for (int i = 0; i < LOOKS; i++) {
            if (serve_all(serve, false, &open))
                return true;
            vgpu_pause();
        }
    while (!connections_any_event() && vgpu_door_clock_ns() < end);
    return false;
}

bool at_doors_serve(void (*serve)(struct connection *c, ssize_t got))
{
    static int round;
    bool open, served = serve_all(serve, false, &open) || (open && serve_next(serve));
    if (served && (++round % ROUNDS != 0 || !connections_any_event()))
        return true;
    return serve_all(serve, true, &open) || served;
}
