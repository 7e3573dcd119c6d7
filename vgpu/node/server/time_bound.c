/* SPDX-License-Identifier: MIT
 * time_bound.c: see time_bound.h.
 */
#include "time_bound.h"

#include <poll.h>

#include "quiescence.h"
#include "process.h"
#include "server.h"
#include "sim.h"
#include "spawner.h"

#define HOLD_CPU_S 0.1 /* processor time used by the program without a call of the thread */
/* Real time after which a thread counts as stopped or starved. */
#define HOLD_S 5.0
#define UNKNOWN_S 0.05 /* real time if the operating system does not tell which threads sleep */
#define NEVER UINT64_MAX
#define PROCESSES 256 /* with more processes the result is QUIESCENT_UNKNOWN */

/* Since when time is held back, and when to examine next whether programs are quiescent: a call
 * that comes meanwhile is no reason to. 0: time is not held back. */
static double held_since, examine_at;

/* True if the result of the call depends on the current time. */
static bool asks_time(const struct connection *c)
{
    uint32_t op = c->request.q.op;
    return op == VGPU_OP_STREAM_QUERY || op == VGPU_OP_EVENT_ELAPSED ||
           (op == VGPU_OP_EVENT_QUERY && c->request.q.flags == 0);
}

void time_bound_answered(struct connection *c, uint64_t clock_ps)
{
    c->time.seen_ps = sim_now(server_state.sim);
    c->time.clock_ps = clock_ps;
}

void time_bound_called(struct connection *c)
{
    c->time.hold = (struct thread_hold){0};
}

void time_bound_read(struct connection *c)
{
    c->time.asks = c->process && asks_time(c);
}

bool time_bound_take_due(struct connection *c)
{
    bool due = c->time.due;
    c->time.due = false;
    return due;
}

/* ---- threads that may still call ---- */

static bool may_call(const struct connection *c)
{
    return c->works && !c->wait.op && !c->takes && !c->time.due;
}

/* The earliest clock of the threads that may still make a call, or have made one that waits for a
 * time (*ask: the first of these). NEVER: there are none. Threads that have been given up do not
 * count; with `all_quiescent`, no thread that makes no call does. */
static uint64_t earliest_clock(bool all_quiescent, struct connection **ask)
{
    uint64_t clock_ps = NEVER;
    struct connection *c;
    *ask = NULL;
    for (int i = 0; (c = connection_at(i)); i++)
        if (c->time.asks) {
            if (!*ask || c->request.q.clock_ps < (*ask)->request.q.clock_ps)
                *ask = c;
        } else if (may_call(c) && !all_quiescent && !c->time.hold.given_up &&
                   c->time.clock_ps < clock_ps) {
            clock_ps = c->time.clock_ps;
        }
    for (const struct process *p = process_first(); p && !all_quiescent; p = p->next)
        if (!p->dead && (uint32_t)p->server.unregistered && !p->server.hold.given_up)
            clock_ps = 0;
    return clock_ps;
}

static bool any_call_waits(void)
{
    const struct connection *c;
    for (int i = 0; (c = connection_at(i)); i++)
        if (c->time.asks || (c->wait.op && c->wait.until != WAIT_EFFECT && c->wait.effect))
            return true;
    return false;
}

/* ---- threads that make no call ---- */

static bool is_readable(const struct connection *c)
{
    struct pollfd p = {.fd = c->socket, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* True if a thread has made a call that has not been read yet, even its first one. */
static bool has_unread_call(void)
{
    const struct connection *c;
    for (int i = 0; (c = connection_at(i)); i++)
        if (!c->witness && !c->wait.op && !c->time.asks && !c->time.due && is_readable(c))
            return true;
    return false;
}

/* True if a program has held time back for too long, and nothing of it holds time back now: it only
 * polls, as MPI does in a receive. */
static bool is_given_up(const struct process *p)
{
    const struct connection *c;
    bool any = (uint32_t)p->server.unregistered;
    if (any && !p->server.hold.given_up)
        return false;
    for (int i = 0; (c = connection_at(i)); i++)
        if (c->process == p && may_call(c) && !c->time.asks) {
            if (!c->time.hold.given_up)
                return false;
            any = true;
        }
    return any;
}

/* Of all programs but those that have been given up. */
static enum quiescence programs_quiescence(void)
{
    pid_t pid[PROCESSES];
    int count = 0;
    for (const struct process *p = process_first(); p; p = p->next)
        if (!p->dead && !is_given_up(p)) {
            if (count == PROCESSES)
                return QUIESCENT_UNKNOWN;
            pid[count++] = p->os_pid;
        }
    return spawner_quiescence(pid, count);
}

/* Gives up a thread that has held time back for too long. */
static void watch_hold(struct thread_hold *hold, const struct process *p, enum quiescence quiescent)
{
    double now = wall_seconds(), cpu = quiescence_cpu_seconds(p->os_pid);
    if (hold->since == 0)
        *hold = (struct thread_hold){.since = now, .cpu = cpu};
    double timeout = quiescent == QUIESCENT_UNKNOWN || cpu < 0 ? UNKNOWN_S : HOLD_S;
    hold->given_up = cpu - hold->cpu > HOLD_CPU_S || now - hold->since > timeout;
}

static bool give_up_holds(enum quiescence quiescent)
{
    struct connection *c;
    bool any = false;
    for (int i = 0; (c = connection_at(i)); i++)
        if (may_call(c) && !c->time.asks && !c->time.hold.given_up) {
            watch_hold(&c->time.hold, c->process, quiescent);
            any |= c->time.hold.given_up;
        }
    for (struct process *p = process_first(); p; p = p->next)
        if (!p->dead && (uint32_t)p->server.unregistered && !p->server.hold.given_up) {
            watch_hold(&p->server.hold, p, quiescent);
            any |= p->server.hold.given_up;
        }
    return any;
}

/* ---- the clock advances ---- */

/* Advances up to `limit_ps`, or to the time that a call waits for. True: something that was waited
 * for has happened. */
static bool advance_sim(uint64_t limit_ps, struct connection *ask)
{
    uint64_t ask_ps = ask ? ask->request.q.clock_ps : NEVER;
    bool may_ask = ask && ask_ps <= limit_ps;
    for (;;) {
        enum sim_ran ran = sim_run(server_state.sim, may_ask ? ask_ps : limit_ps);
        if (ran == SIM_AWAITED)
            return true;
        uint64_t end_ps = may_ask ? ask_ps : limit_ps;
        if (ran == SIM_POLLS &&
            (end_ps == NEVER ||
             (end_ps > sim_now(server_state.sim) && sim_host_polled(server_state.sim))) &&
            sim_pass_by(server_state.sim))
            continue;
        if (may_ask) {
            ask->time.asks = false;
            ask->time.due = true;
        }
        return may_ask;
    }
}

/* Time is held back by threads that make no call. True: something that was waited for has happened,
 * because no program runs, or a thread was given up. */
static bool end_hold(void)
{
    struct connection *ask;
    enum quiescence quiescent = programs_quiescence();
    if (quiescent != QUIESCENT_YES || has_unread_call())
        return give_up_holds(quiescent);
    uint64_t limit_ps = earliest_clock(true, &ask);
    return advance_sim(limit_ps, ask);
}

/* The longer time has been held back, the more rarely threads are examined: after a half of that.
 */
static void hold_on(void)
{
    double now = wall_seconds();
    if (held_since == 0)
        held_since = now;
    double wait = (now - held_since) / 2;
    examine_at = now + (wait < 1e-4 ? 1e-4 : wait > 2e-2 ? 2e-2 : wait);
}

bool time_bound_step(void)
{
    struct connection *ask;
    bool waits = any_call_waits();
    uint64_t limit_ps = waits ? earliest_clock(false, &ask) : NEVER;
    bool came = waits && advance_sim(limit_ps, ask);
    if (!came && limit_ps != NEVER) {
        if (held_since != 0 && wall_seconds() < examine_at)
            return false;
        came = end_hold();
    }
    if (came || limit_ps == NEVER)
        held_since = 0;
    else
        hold_on();
    return came;
}

double time_bound_timeout_ms(void)
{
    if (held_since == 0)
        return 0;
    double ms = (examine_at - wall_seconds()) * 1000;
    return ms < 0.1 ? 0.1 : ms;
}

bool time_bound_all_wait(void)
{
    struct connection *ask;
    return earliest_clock(false, &ask) == NEVER && !ask;
}
