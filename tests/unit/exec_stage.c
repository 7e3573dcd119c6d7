/* SPDX-License-Identifier: MIT
 * exec_stage.c: see exec_stage.h.
 */
#include "exec_stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bounds_table.h"
#include "device_image.h"
#include "fault.h"
#include "fiber.h"
#include "finding.h"
#include "mapped_memory.h"
#include "message.h"
#include "polling.h"
#include "shared_memory.h"

struct stage stage;

static int control_file;

static void make_control(void)
{
    control_file = memfd_create("control", MFD_CLOEXEC);
    EXPECT(control_file >= 0 && ftruncate(control_file, sizeof(struct vgpu_control)) == 0, "%s",
           "no file for struct vgpu_control");
    void *at = mmap(NULL, sizeof(struct vgpu_control), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, control_file, 0);
    EXPECT(at != MAP_FAILED, "%s", "no memory for struct vgpu_control");
    context.control = at;
    EXPECT(bounds_attach(control_file), "%s", "the table of chunks cannot be mapped");
}

static void make_memory(uint64_t address, uint64_t bytes)
{
    void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, /* NOLINT */
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT(at != MAP_FAILED, "no memory at 0x%llx", (unsigned long long)address);
}

static void make_block(void)
{
    struct block *block = aligned_alloc(64, sizeof *block + STAGE_THREADS * sizeof(struct thread));
    EXPECT(block, "%s", "no memory for a block");
    memset(block, 0, sizeof *block + STAGE_THREADS * sizeof(struct thread));
    block->run = &stage.run;
    block->thread_count = block->live = block->barrier.missing = STAGE_THREADS;
    block->warp_count = STAGE_THREADS / WARP_LANES;
    block->shape = stage.run.shape = (struct vgpu_dim3){STAGE_THREADS, 1, 1};
    stage.run.grid = (struct vgpu_dim3){1 << 20, 1, 1}; /* a block's number is its x */
    for (uint32_t i = 0; i < STAGE_THREADS; i++) {
        struct warp *warp = &block->warps[i / WARP_LANES];
        *warp = (struct warp){.live = ~0u,
                              .bit = 1u << (i / WARP_LANES),
                              .threads = &block->threads[i / WARP_LANES * WARP_LANES]};
        block->threads[i] = (struct thread){.block = block,
                                            .warp = warp,
                                            .number = i,
                                            .idx = {i, 0, 0},
                                            .bit = 1u << i % WARP_LANES};
    }
    stage.block = block;
}

void stage_start(void)
{
    context.limits.memory_bytes = 1ull << 30;
    make_control();
    make_memory(STAGE_MEMORY, STAGE_MEMORY_BYTES);
    make_memory(STAGE_SHARED, VGPU_CHUNK_BYTES);
    make_block();
    now.run = &stage.run;
    stage_run(0);
}

void stage_run(uint32_t thread)
{
    now.thread = &stage.block->threads[thread];
    now.warp = now.thread->warp;
    now.block = stage.block;
}

/* ---- in place of run/, and of most of threads/ and context/ ---- */

struct fault fault_last;
struct vgpu_dim3 threadIdx;
enum lane_order lane_order = LANES_FORWARD;
void *fiber_main;
char **stack_free;
uint64_t stack_free_count;

void fault_place(const char *where)
{
    (void)where;
}

_Noreturn void fault_raise(enum vgpu_fault_kind kind, uint64_t address, bool write, uint64_t pc,
                           const char *format, ...)
{
    va_list args;
    fault_last =
        (struct fault){.kind = (int32_t)kind, .write = write, .address = address, .pc = pc};
    va_start(args, format);
    vsnprintf(fault_last.text, sizeof fault_last.text, format, args);
    va_end(args);
    longjmp(stage.faulted, 1);
}

void run_finding(enum finding finding, const char *format, ...)
{
    va_list args;
    (void)finding;
    va_start(args, format);
    vsnprintf(stage.finding, sizeof stage.finding, format, args);
    va_end(args);
}

void image_place(uint64_t pc, char *where, uint64_t room)
{
    where[0] = '\0';
    if (pc)
        snprintf(where, room, "line %llu", (unsigned long long)pc);
}

int image_window(uint64_t address)
{
    return stage.image && address == stage.image ? 0 : -1;
}

bool images_have_two_stacks;

uint64_t locals_room(struct thread *thread)
{
    (void)thread;
    return STACK_BYTES;
}

bool memory_is_registered(uint64_t address)
{
    return stage.registered && address == stage.registered;
}

uint64_t memory_home(uint64_t address)
{
    return address - STAGE_MEMORY < STAGE_MEMORY_BYTES ? address : 0;
}

bool memory_home_is_host(uint64_t home)
{
    (void)home;
    return false;
}

bool memory_is_mapped(uint64_t address, uint64_t end, bool write)
{
    (void)address, (void)end, (void)write;
    return true;
}

const char *memory_describe(uint64_t address, bool write)
{
    (void)address, (void)write;
    return "the address belongs to no memory";
}

bool is_builtin_variable(uint64_t address)
{
    return address - (uint64_t)&threadIdx < sizeof threadIdx;
}

uint32_t shared_describe(uint64_t address, uint32_t *offset)
{
    (void)address;
    *offset = 0;
    return 0;
}

uint64_t peek(uint64_t address, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, bytes < 8 ? bytes : 8); /* NOLINT */
    return value;
}

void poll_note(uint64_t address, uint64_t value, uint32_t bytes)
{
    (void)address, (void)value, (void)bytes;
}

bool poll_again(uint64_t address, uint32_t bytes)
{
    (void)address, (void)bytes;
    return false;
}

void poll_changed(void) {}

void poll_lap_read(uint64_t address, uint32_t bytes, bool write)
{
    (void)address, (void)bytes, (void)write;
}

struct vgpu_exec_reply *message_piece(void)
{
    static _Alignas(16) char room[VGPU_MSG_MAX];
    memset(room, 0, sizeof room);
    return (void *)room;
}

void message_send(const struct vgpu_exec_reply *reply)
{
    EXPECT(stage.sent_count + reply->span_count <= STAGE_SENT, "%u spans", reply->span_count);
    memcpy(stage.sent + stage.sent_count, reply->data, reply->data_bytes);
    stage.sent_count += reply->span_count;
}

/* Nothing switches stacks here. */

uint32_t lane_seeded(uint32_t mask)
{
    return mask & -mask;
}

void warp_converge(struct warp *warp)
{
    EXPECT(!warp, "%s", "a warp converges");
}

char *stack_take_more(void)
{
    EXPECT(false, "%s", "a stack is taken");
    return NULL;
}

void *stack_start(char *stack)
{
    EXPECT(!stack, "%s", "a stack is started");
    return NULL;
}
