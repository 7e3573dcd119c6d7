/* SPDX-License-Identifier: MIT
 * polling.c: detects threads that spin on memory, suspends them, and proves that they do nothing
 * else.
 *
 * Volatile and atomic loads report what they read. A thread that reads the same value from the same
 * address a few times in a row (other addresses in between do not hide that) is suspended, so that
 * other threads can run. The scheduler wakes it when the value changes.
 *
 * A lap (block_schedule.c) shows whether such a thread does anything else: for one iteration of its
 * loop, every callback takes the slow path, and everything that it reads is hashed into a
 * signature. Two iterations with the same signature prove that the thread only waits: nothing that
 * it reads has changed. A loop that advances through an array has different signatures, and
 * continues.
 */
#include "polling.h"

#include "counters.h"
#include "fiber.h"
#include "memory_signals.h"

#include <string.h>

enum { POLL_UNCHANGED = 3, LAPS_UNPROVEN = 64, LAP_READS = 4096, WATCH_LIMIT = 4096 };

uint64_t peek(uint64_t address, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, bytes < 8 ? bytes : 8); /* NOLINT */
    return value;
}

void poll_suspect(bool on)
{
    access_watch(on);
}

void poll_forget(struct thread *thread)
{
    thread->poll.address = thread->poll.value = 0;
    thread->poll.unchanged = thread->poll.reads = thread->poll.limit = 0;
    thread->poll.proven = thread->poll.timed = thread->poll.late = false;
}

void poll_woken(struct thread *thread)
{
    thread->poll.laps = thread->poll.lap_reads = 0;
    thread->poll.lap = 0;
    thread->poll.proven = thread->poll.timed = false;
}

void poll_changed(void)
{
    struct thread *thread = now.thread;
    thread->poll.unchanged = 0;
    now.run->stirred = true;
    poll_suspect(false);
}

static void stop_thread(struct thread *thread)
{
    signal_polled(thread->poll.address, thread->poll.value, thread->poll.bytes);
    thread->poll.pc = access_pc;
    now.warp->polling |= thread->bit;
    now.block->pollers++;
    park(thread);
    thread->poll.unchanged = 0;
}

/* In a lap: one iteration of the loop has ended. */
static void end_lap(struct thread *thread)
{
    bool same = thread->poll.laps > 0 && thread->poll.lap == thread->poll.last_lap;
    thread->poll.last_lap = thread->poll.lap;
    thread->poll.lap = thread->poll.lap_reads = 0;
    thread->poll.laps++;
    if (same) {
        thread->poll.proven = true;
        stop_thread(thread);
    } else if (thread->poll.laps > LAPS_UNPROVEN) {
        now.run->stirred = true;
        stop_thread(thread);
    }
}

void poll_lap_read(uint64_t address, uint32_t bytes, bool write)
{
    struct thread *thread = now.thread;
    uint64_t value = write ? 1 : peek(address, bytes);
    thread->poll.lap = (thread->poll.lap ^ address ^ value << 20) * 0x9E3779B97F4A7C15ull;
    thread->poll.lap ^= thread->poll.lap >> 29;
    if (++thread->poll.lap_reads > LAP_READS) { /* no spin loop: run at full speed */
        now.run->stirred = true;
        poll_suspect(false);
    }
}

static void watch_address(struct thread *thread, uint64_t address, uint64_t value, uint32_t bytes)
{
    thread->poll.address = address;
    thread->poll.value = value;
    thread->poll.bytes = bytes;
    thread->poll.unchanged = thread->poll.reads = 0;
}

/* If nothing is stored there it goes on in a lap, which shows nothing of a loop here. */
void poll_late(uint64_t address, uint32_t bytes)
{
    struct thread *thread = now.thread;
    watch_address(thread, address, peek(address, bytes), bytes);
    thread->poll.proven = thread->poll.late = true;
    stop_thread(thread);
    thread->poll.late = false;
    poll_suspect(false);
    now.run->stirred = true;
}

bool poll_ends_late(struct thread *thread)
{
    bool late = thread->poll.late;
    thread->poll.late = false;
    return late;
}

bool poll_again(uint64_t address, uint32_t bytes)
{
    const struct thread *thread = now.thread;
    return address == thread->poll.address && bytes == thread->poll.bytes;
}

void poll_note(uint64_t address, uint64_t value, uint32_t bytes)
{
    struct thread *thread = now.thread;
    if (address != thread->poll.address) {
        /* The watched address changes ever more rarely, so that a loop over several addresses
         * returns to it. */
        if (++thread->poll.reads >= thread->poll.limit) {
            watch_address(thread, address, value, bytes);
            if (thread->poll.limit < WATCH_LIMIT)
                thread->poll.limit = 2 * thread->poll.limit + 1;
        }
    } else if (value != thread->poll.value) {
        watch_address(thread, address, value, bytes);
        now.run->events++;
        progress();
        poll_suspect(false);
    } else if (access_watchers.lap) {
        end_lap(thread);
    } else if (++thread->poll.unchanged >= POLL_UNCHANGED) {
        stop_thread(thread);
    }
}
