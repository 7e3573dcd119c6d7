/* SPDX-License-Identifier: MIT
 * test_plain.c: memory, counts, faults, printing: kernels whose threads do not wait.
 */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Chunks of device 0 that were touched. */
static uint64_t committed(const struct rig *rig)
{
    uint64_t count = 0;
    for (int i = 0; i < RIG_MEMORY / (int)VGPU_CHUNK_BYTES; i++)
        count += rig->control->chunk[0][i];
    return count;
}

static void results(struct rig *rig)
{
    CHECK(rig->kernel_count, KERNEL_COUNT);
    CHECK(rig_run(rig, K_fill, GRID(5, 256), OWN, 1000, 7), VGPU_RAN);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK(rig_words(rig, 0)[i], 7 + i);
    CHECK(rig_words(rig, 0)[1000], 0xCBCBCBCB);
    CHECK(rig->reply.counts.write_bytes[0], 4000);
    CHECK(rig->reply.counts.read_bytes[0], 0);
    CHECK(rig->reply.counts.threads, 5 * 256);
    CHECK(committed(rig), 1);
    CHECK(rig->control->progress > 0, 1);
}

static void counts_by_memory(struct rig *rig)
{
    rig_map(rig, 1, RIG_MEMORY, true);
    rig_map(rig, -1, RIG_MEMORY, true);
    CHECK(rig_run(rig, K_fill, GRID(4, 128), PEER, 500, 0), VGPU_RAN);
    CHECK(rig_run(rig, K_read_write, GRID(4, 128), PEER, HOST, 500), VGPU_RAN);
    CHECK(rig->reply.counts.read_bytes[1], 2000);
    CHECK(rig->reply.counts.write_bytes[VGPU_MAX_DEVICES], 2000);
    CHECK(rig->reply.counts.read_bytes[0] + rig->reply.counts.write_bytes[0], 0);
    CHECK(rig->reply.counts.accesses, 1000);
    CHECK(((uint32_t *)(void *)rig->memory[RIG_DEVICES])[499], 499);
    CHECK(rig_run(rig, K_copies, ONE(1), PEER, OWN, 40), VGPU_RAN);
    CHECK(rig->reply.counts.read_bytes[1], 232);
    CHECK(rig->reply.counts.write_bytes[0], 232);
    CHECK(rig_words(rig, 192)[9], 9);
}

/* 1000 bytes are allocated in the first chunk: granules of 512 and 488. */
static void stray_accesses(struct rig *rig)
{
    rig->control->partial[0] = 1;
    rig->control->tail[0] = VGPU_GRANULE_BYTES;
    rig->control->tail[1] = 488;
    CHECK(rig_run(rig, K_fill, GRID(1, 256), OWN, 250, 0), VGPU_RAN);
    CHECK(rig->reply.stray_count, 0);
    CHECK(rig_run(rig, K_fill, GRID(1, 256), OWN, 252, 0), VGPU_RAN);
    CHECK(rig->reply.stray_count, 1);
    CHECK(rig->reply.stray[0].address, OWN + 1000);
    CHECK(rig->reply.stray[0].bytes, 4);
    CHECK(rig->reply.stray[0].write, 1);
    CHECK(rig->reply.stray[0].thread.x, 250);
    CHECK(rig_words(rig, 0)[251], 251); /* carried out all the same */
    CHECK(rig_run(rig, K_fill, GRID(1, 256), OWN, 256, 0), VGPU_RAN);
    CHECK(rig->reply.stray_count, 0); /* the same place again */
    CHECK(rig_run(rig, K_copies, ONE(1), OWN, OWN + 992, 1), VGPU_RAN);
    CHECK(rig->reply.stray_count > 0, 1); /* a range that begins inside */
    rig->control->partial[0] = 0;
}

static void mixed_arguments(struct rig *rig)
{
    uint8_t data[24] = {5, 0, 0, 0, 0, 0, 0, 9};
    double eight = 100.0;
    uint64_t out = OWN;
    struct vgpu_exec_request request = {.op = VGPU_EXEC_RUN, .module = 1};
    request.launch = (struct vgpu_launch){.module = 1,
                                          .kernel = K_mixed,
                                          .grid = {1, 1, 1},
                                          .block = {2, 1, 1},
                                          .param_count = 4,
                                          .cluster = {1, 1, 1}};
    memcpy(data + 8, &eight, 8);
    memcpy(data + 16, &out, 8);
    rig_ask(rig, &request, data, sizeof data, NULL, 0);
    CHECK(rig->reply.status, VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 114 << 16 | 114);
    rig_ask(rig, &request, data, 23, NULL, 0);
    CHECK(rig->reply.status, VGPU_REFUSED);
    CHECK_TEXT(rig->reply.text, "sizes");
}

static void dimensions(struct rig *rig)
{
    struct shape shape = {{3, 2, 4}, {5, 3, 2}, 0};
    CHECK(rig_run(rig, K_where_am_i, shape, OWN, 0, 0), VGPU_RAN);
    const uint64_t *got = (const uint64_t *)(void *)rig->memory[0];
    for (uint32_t b = 0; b < 24; b++)
        for (uint32_t t = 0; t < 30; t++)
            CHECK(got[b * 30 + t], (uint64_t)(b / 6) << 40 | (uint64_t)(b / 3 % 2) << 32 |
                                       b % 3 << 24 | t / 15 << 16 | t / 5 % 3 << 8 | t % 5);
}

static void commit_once(struct rig *rig)
{
    rig->memory[0][VGPU_CHUNK_BYTES + 8] = 77; /* as if a copy had been there before */
    rig->control->chunk[0][1] = 1;
    CHECK(rig_run(rig, K_load, ONE(8), OWN + VGPU_CHUNK_BYTES + 8, OWN, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 77);
    CHECK(rig_words(rig, 0)[1], 0xCBCBCBCB);
    CHECK(rig_words(rig, VGPU_CHUNK_BYTES - 4)[0], 0xCBCBCBCB);
    CHECK(committed(rig), 2);
}

/* The node has committed the second and the fourth part of a chunk; the context adds the rest. */
static void commit_rest(struct rig *rig)
{
    const uint64_t second = VGPU_PART_BYTES, fourth = 3 * VGPU_PART_BYTES;
    memset(rig->memory[0] + second, 1, VGPU_PART_BYTES);
    memset(rig->memory[0] + fourth, 2, VGPU_PART_BYTES);
    rig->control->parts[0][0] = 10;
    CHECK(rig_run(rig, K_load, ONE(8), OWN + fourth, OWN, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 0x02020202);
    CHECK(rig_words(rig, second - 4)[0], 0xCBCBCBCB);
    CHECK(rig_words(rig, second)[0], 0x01010101);
    CHECK(rig_words(rig, fourth - 4)[0], 0xCBCBCBCB);
    CHECK(rig_words(rig, fourth + VGPU_PART_BYTES - 4)[0], 0x02020202);
    CHECK(rig_words(rig, fourth + VGPU_PART_BYTES)[0], 0xCBCBCBCB);
    CHECK(rig_words(rig, VGPU_CHUNK_BYTES - 4)[0], 0xCBCBCBCB);
    CHECK(committed(rig), 1);
}

/* Memory that was given back and taken again is fresh, although the mapping never changed. */
static void recycled(struct rig *rig)
{
    CHECK(rig_run(rig, K_fill, GRID(4, 256), OWN, 1000, 0), VGPU_RAN);
    rig->control->chunk[0][0] = 0;
    rig->control->parts[0][0] = 0;
    memset(rig->memory[0], 0, 8192);
    CHECK(rig_run(rig, K_load, ONE(8), OWN + 400, OWN + 4, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[1], 0xCBCBCBCB);
    CHECK(committed(rig), 1);
}

/* Of a small allocation a touch commits and opens one part, the next one those around it, and a
 * third one the chunk; what was given back is not open any more. */
static void commit_parts(struct rig *rig)
{
    const uint64_t last = VGPU_CHUNK_BYTES - VGPU_PART_BYTES;
    const uint32_t *parts = &rig->control->parts[1][0];
    rig_map(rig, 1, VGPU_CHUNK_BYTES, true);
    CHECK(rig_run(rig, K_store, ONE(1), PEER, 1, 0), VGPU_RAN);
    CHECK(*parts, 1);
    CHECK(rig_run(rig, K_store, ONE(1), PEER + VGPU_PART_BYTES - 4, 2, 0), VGPU_RAN);
    CHECK(*parts, 1);
    CHECK(rig_run(rig, K_store, ONE(1), PEER + last, 3, 0), VGPU_RAN);
    CHECK(*parts, 0xF0000001);
    CHECK(rig->control->chunk[1][0], 0);
    CHECK(*(uint32_t *)(void *)(rig->memory[1] + VGPU_CHUNK_BYTES - 8), 0xCBCBCBCB);
    CHECK(rig_run(rig, K_store, ONE(1), PEER + last / 2, 4, 0), VGPU_RAN);
    CHECK(*parts, ~0u);
    CHECK(rig->control->chunk[1][0], 1);
    CHECK(*(uint32_t *)(void *)rig->memory[1], 1);
    rig->control->chunk[1][0] = 0;
    rig->control->parts[1][0] = 2; /* given back, and the node has touched the second part since */
    CHECK(rig_run(rig, K_store, ONE(1), PEER + 8, 5, 0), VGPU_RAN);
    CHECK(*parts, 3);
    CHECK(*(uint32_t *)(void *)rig->memory[1], 0xCBCBCBCB);
}

static void commit_limit(struct rig *unused)
{
    struct rig small = {.limits = {.memory_bytes = 3 * VGPU_CHUNK_BYTES}}, *rig = &small;
    (void)unused;
    rig_start(rig);
    rig_map(rig, 0, RIG_MEMORY, true);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(rig_run(rig, K_store, ONE(1), OWN + i * VGPU_CHUNK_BYTES, 1, 0), VGPU_RAN);
    CHECK(rig_run(rig, K_store, ONE(1), OWN + 3 * VGPU_CHUNK_BYTES, 1, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_MEMORY);
    CHECK_TEXT(rig->reply.text, "6 MiB");
    CHECK(rig_run(rig, K_store, ONE(1), OWN, 1, 0), VGPU_RAN);
}

static void expect_fault(struct rig *rig, int status, int kind, uint64_t address, bool write)
{
    CHECK(status, VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, kind);
    CHECK(rig->reply.fault.address, address);
    CHECK(rig->reply.fault.write, write);
}

static void address_faults(struct rig *rig)
{
    uint64_t out = OWN + 4096;
    rig_map(rig, 2, VGPU_CHUNK_BYTES, false);
    expect_fault(rig, rig_run(rig, K_load, GRID(3, 8), PEER + 16, out, 0), VGPU_FAULT_ADDRESS,
                 PEER + 16, false);
    CHECK(rig->reply.fault.thread.x, 5);
    CHECK(rig->reply.fault.block.x, 2);
    CHECK_TEXT(rig->reply.text, "GPU 1");
    expect_fault(rig, rig_run(rig, K_store, ONE(1), 0, 1, 0), VGPU_FAULT_ADDRESS, 0, true);
    CHECK_TEXT(rig->reply.text, "null");
    expect_fault(rig, rig_run(rig, K_store, ONE(1), VGPU_DEVICE_VA(2), 1, 0), VGPU_FAULT_ADDRESS,
                 VGPU_DEVICE_VA(2), true);
    CHECK_TEXT(rig->reply.text, "only be read");
    CHECK(rig_run(rig, K_load, ONE(8), VGPU_DEVICE_VA(2), out, 0), VGPU_RAN);
    CHECK(rig_words(rig, 4096)[0], 0xCBCBCBCB);
    expect_fault(rig, rig_run(rig, K_store, ONE(1), HOST, 1, 0), VGPU_FAULT_ADDRESS, HOST, true);
    CHECK(rig_run(rig, K_store, ONE(1), 0xdead000000000000, 1, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_ADDRESS);
    rig_unmap(rig, OWN, RIG_MEMORY);
    expect_fault(rig, rig_run(rig, K_store, ONE(1), OWN, 1, 0), VGPU_FAULT_ADDRESS, OWN, true);
}

/* Addresses that this process has and a GPU has not: found in the context's own map. */
static void own_memory_is_foreign(struct rig *rig)
{
    char name[40], line[400];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)rig->pid);
    FILE *maps = fopen(name, "r");
    uint64_t at = 0;
    int tried = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        if (!strstr(line, "rw-p") || !(strstr(line, "[heap]") || strstr(line, "[stack]") ||
                                       strstr(line, "vgpu-exec") || strstr(line, "libc")))
            continue;
        at = strtoull(line, NULL, 16) + 64;
        expect_fault(rig, rig_run(rig, K_store, ONE(1), at, 1, 0), VGPU_FAULT_ADDRESS, at, true);
        CHECK_TEXT(rig->reply.text, "host pointer");
        tried++;
    }
    if (maps)
        fclose(maps);
    CHECK(tried >= 3, 1);
}

static void misaligned(struct rig *rig)
{
    expect_fault(rig, rig_run(rig, K_store, ONE(1), OWN + 6, 1, 0), VGPU_FAULT_MISALIGNED, OWN + 6,
                 true);
    expect_fault(rig, rig_run(rig, K_load, ONE(8), OWN + 1, OWN, 0), VGPU_FAULT_MISALIGNED, OWN + 1,
                 false);
    CHECK(rig_run(rig, K_wide, ONE(1), OWN + 16, OWN + 64, 0), VGPU_RAN);
#if defined(__x86_64__)
    CHECK(rig_run(rig, K_wide, ONE(1), OWN + 8, OWN + 64, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_MISALIGNED);
    CHECK(rig->reply.fault.address, OWN + 8);
#endif
}

static void stack_overflow(struct rig *rig)
{
    rig_words(rig, 0)[0] = rig_words(rig, 0)[1] = 0;
    rig->control->chunk[0][0] = 1;
    CHECK(rig_run(rig, K_recurse, ONE(1), OWN, 100, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 5050);
    CHECK(rig_run(rig, K_recurse, ONE(1), OWN, 1000000, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_STACK);
    CHECK(rig_run(rig, K_big_frame, ONE(33), 100, 0, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_STACK);
    CHECK(rig_run(rig, K_rotate, ONE(1024), OWN, 2, 0), VGPU_RAN);
}

static void traps(struct rig *rig)
{
    CHECK(rig_run(rig, K_trap, ONE(8), OWN, 0, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_TRAP);
    CHECK(rig->reply.fault.thread.x, 3);
    CHECK(rig_words(rig, 0)[2], 1);
    CHECK(rig_words(rig, 0)[3], 0xCBCBCBCB);
    struct shape shape = {{1, 2}, {4, 4}, 0};
    CHECK(rig_run(rig, K_failing_assert, shape, 0, 0, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_ASSERT);
    CHECK(strcmp(rig->reply.fault.where, "lab.cu:42"), 0);
    CHECK(strcmp(rig->printed, "lab.cu:42: void failing_assert(): block: [0,0,0], thread: [1,2,0] "
                               "Assertion `t.x != 1` failed.\n"),
          0);
}

/* Integer divisions do not trap on a GPU. */
static void divisions(struct rig *rig)
{
    CHECK(rig_run(rig, K_divide, ONE(1), OWN, 77, 0), VGPU_RAN);
#if defined(__x86_64__)
    const uint32_t *out = rig_words(rig, 0);
    const uint64_t *wide = (const uint64_t *)(const void *)(out + 4);
    CHECK(out[0], ~0u);
    CHECK(out[1], 77);
    CHECK((uint32_t)wide[0], ~0u); /* compilers may divide 32 bits where they suffice */
    CHECK(wide[1], 77);
    CHECK_TEXT(rig->reply.text, "division by zero in kernels_plain.c:");
    CHECK(rig_run(rig, K_divide, ONE(1), OWN, 1u << 31, UINT32_MAX), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 1u << 31);
    CHECK(rig_words(rig, 0)[1], 0);
    CHECK(rig->reply.text[0], 0);
#endif
}

static void fault_place(struct rig *rig)
{
    CHECK(rig_run(rig, K_store, ONE(1), PEER, 1, 0), VGPU_FAULTED);
    CHECK_TEXT(rig->reply.fault.where, "kernels_plain.c:");
    CHECK(rig_run(rig, K_store, ONE(1), OWN + 2, 1, 0), VGPU_FAULTED);
    CHECK_TEXT(rig->reply.fault.where, "kernels_plain.c:");
    CHECK(rig_run(rig, K_copies, ONE(1), PEER, OWN, 40), VGPU_FAULTED);
    CHECK_TEXT(rig->reply.fault.where, "kernels_plain.c:");
    CHECK(rig_run(rig, K_wait_flag, ONE(1), PEER, 1, OWN), VGPU_FAULTED);
    CHECK_TEXT(rig->reply.fault.where, "kernels_sync.c:");
}

static void printing(struct rig *rig)
{
    CHECK(rig_run(rig, K_print, ONE(40), 2, 0, 5), VGPU_RAN);
    CHECK(strcmp(rig->printed, "thread 0 of 40: text  1.25\nthread 1 of 40: text  1.25\n"), 0);
    strcpy((char *)rig_words(rig, 64), "from the GPU");
    rig->control->chunk[0][0] = 1;
    CHECK(rig_run(rig, K_print, ONE(1), 1, OWN + 64, 0), VGPU_RAN);
    CHECK_TEXT(rig->printed, "from the GPU");
    CHECK(rig_run(rig, K_flood, ONE(1), 20000, 0, 0), VGPU_RAN);
    CHECK(rig->printed_bytes, 20000 * 33);
    CHECK_TEXT(rig->printed, "line 0019999 of");
    CHECK(rig_run(rig, K_flood, ONE(2), 20000, 0, 0), VGPU_RAN);
    CHECK(rig->printed_bytes, (1 << 20) / 33 * 33 + strlen("[... output dropped]\n"));
    CHECK(strcmp(rig->printed + (1 << 20) / 33 * 33, "[... output dropped]\n"), 0);
}

static void variables(struct rig *rig)
{
    struct vgpu_exec_request request = {.op = VGPU_EXEC_MAP,
                                        .memory = 0,
                                        .writable = 1,
                                        .fixed = 1,
                                        .va = rig->var_base,
                                        .bytes = rig->var_bytes,
                                        .offset = 4 * VGPU_CHUNK_BYTES};
    CHECK(rig->var_count, 2);
    CHECK(rig->var_bytes >= 4096, 1);
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    CHECK(rig->reply.status, VGPU_OK);
    uint32_t *counter = rig_words(rig, request.offset + rig->vars[0].offset);
    uint32_t *table = rig_words(rig, request.offset + rig->vars[1].offset);
    CHECK(rig->vars[1].bytes, 256);
    CHECK_TEXT(rig->vars[1].key, "test:table");
    CHECK(*counter, 7);
    CHECK(table[2], 30);
    *counter = 100;
    CHECK(rig_run(rig, K_variables, ONE(1), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 100);
    CHECK(rig_words(rig, 0)[1], 30);
    CHECK(*counter, 101);
    CHECK(rig->reply.counts.write_bytes[0], 16);
    request.va += 4096;
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    CHECK(rig->reply.status, VGPU_REFUSED);
}

static void atomic_operations(struct rig *rig)
{
    uint32_t *p = rig_words(rig, 0);
    memset(p, 0, 4096);
    p[6] = ~0u;
    p[11] = 77;
    rig->control->chunk[0][0] = 1;
    CHECK(rig_run(rig, K_atomics, ONE(32), OWN, 0, 0), VGPU_RAN);
    static const uint32_t want[] = {
        496, (uint32_t)-64, (uint32_t)-31, 31, 2, 8, 0, ~0u, 0, 0x41800000, 31, 77};
    for (int i = 0; i < 12; i++)
        CHECK(p[i], want[i]);
    CHECK(p[16], 77);
    CHECK(p[17], 77);
    const uint64_t *q = (const uint64_t *)(void *)(p + 64);
    CHECK(q[0], 32ull << 33);
    CHECK(q[1], 0x4020000000000000); /* 8.0 */
    CHECK(q[2], (uint64_t)-31);
    CHECK(rig->reply.counts.atomics, 32 * 15);
}

/* A loop over plain stores has no place to yield at: the node ends it by a signal. */
static void endless_loop(struct rig *rig)
{
    if (fork() == 0) {
        usleep(100000);
        kill(rig->pid, VGPU_EXEC_HANG_SIGNAL);
        _exit(0);
    }
    CHECK(rig_run(rig, K_endless, ONE(2), OWN, 1, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_HANG);
    CHECK_TEXT(rig->reply.fault.where, "kernels_plain.c:");
    wait(NULL);
    CHECK(rig_run(rig, K_fill, ONE(1), OWN, 1, 0), VGPU_RAN);
}

static void refusals(struct rig *rig)
{
    CHECK(rig_run(rig, K_fill, ONE(1025), OWN, 1, 0), VGPU_REFUSED);
    CHECK_TEXT(rig->reply.text, "1024");
    CHECK(rig_run(rig, KERNEL_COUNT, ONE(1), OWN, 1, 0), VGPU_REFUSED);
    CHECK(rig_resume(rig, 99), VGPU_REFUSED);
    struct vgpu_exec_request request = {
        .op = VGPU_EXEC_MAP, .memory = 0, .va = OWN, .bytes = 4096, .writable = 1};
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    CHECK(rig->reply.status, VGPU_REFUSED);
    CHECK_TEXT(rig->reply.text, "something else");
    request = (struct vgpu_exec_request){.op = VGPU_EXEC_MODULE, .module = 2};
    int not_an_image = rig->socket;
    rig_ask(rig, &request, NULL, 0, &not_an_image, 1);
    CHECK(rig->reply.status, VGPU_REFUSED);
    CHECK_TEXT(rig->reply.text, "module 2 cannot be loaded");
    request.op = 99;
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    CHECK(rig->reply.status, VGPU_REFUSED);
}

/* A context answers at its door where it was asked there; one that has had no work for a while
 * reads the socket, and is back at the door for the request after that. */
static void doors(struct rig *rig)
{
    CHECK(rig_run(rig, K_fill, GRID(1, 32), OWN, 32, 7), VGPU_RAN);
    CHECK(rig->at_door, 1);
    CHECK(rig_words(rig, 0)[31], 38);
    usleep(400000);
    CHECK(rig_run(rig, K_fill, GRID(1, 32), OWN, 32, 9), VGPU_RAN);
    CHECK(rig->at_door, 0);
    CHECK(rig_run(rig, K_fill, GRID(1, 32), OWN, 32, 11), VGPU_RAN);
    CHECK(rig->at_door, 1);
    CHECK(rig_words(rig, 0)[31], 42);
}

const struct test_case plain_cases[] = {{"results", results},
                                        {"counts_by_memory", counts_by_memory},
                                        {"stray_accesses", stray_accesses},
                                        {"mixed_arguments", mixed_arguments},
                                        {"dimensions", dimensions},
                                        {"commit_once", commit_once},
                                        {"commit_rest", commit_rest},
                                        {"commit_parts", commit_parts},
                                        {"recycled", recycled},
                                        {"commit_limit", commit_limit},
                                        {"address_faults", address_faults},
                                        {"own_memory_is_foreign", own_memory_is_foreign},
                                        {"misaligned", misaligned},
                                        {"stack_overflow", stack_overflow},
                                        {"traps", traps},
                                        {"divisions", divisions},
                                        {"fault_place", fault_place},
                                        {"printing", printing},
                                        {"variables", variables},
                                        {"atomic_operations", atomic_operations},
                                        {"endless_loop", endless_loop},
                                        {"refusals", refusals},
                                        {"doors", doors},
                                        {0}};
