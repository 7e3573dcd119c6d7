/* SPDX-License-Identifier: MIT
 * exec_stage.h: rooms of vgpu-exec without its process: one block of a running kernel, some device
 * memory at its address, and what is kept here of the calls that other rooms would have served.
 */
#ifndef TEST_EXEC_STAGE_H
#define TEST_EXEC_STAGE_H

#include <setjmp.h>

#include "exec.h"
#include "fault.h"
#include "unit.h"

enum { STAGE_THREADS = 64, STAGE_SENT = 16 };
#define STAGE_MEMORY VGPU_DEVICE_VA(0) /* some pages of GPU 0 are there */
#define STAGE_MEMORY_BYTES (4 * VGPU_CHUNK_BYTES)
#define STAGE_SHARED WINDOW_VA(WINDOW_SHARED)

struct stage {
    struct run run;
    struct block *block;
    uint64_t registered; /* an address that cudaHostRegister made pinned; 0: none */
    uint64_t image;      /* an address of an image's variables; 0: none */
    jmp_buf faulted;     /* where fault_raise goes */
    char finding[256];
    struct vgpu_span sent[STAGE_SENT];
    uint32_t sent_count;
};
extern struct stage stage;

/* A run with a block of two warps; thread 0 is the running one. */
void stage_start(void);
/* From here on this thread of the block runs. */
void stage_run(uint32_t thread);

/* `call` raised this fault. */
#define EXPECT_FAULT(call, wanted)                                                                 \
    do {                                                                                           \
        fault_last.kind = -1;                                                                      \
        if (setjmp(stage.faulted) == 0)                                                            \
            call;                                                                                  \
        EXPECT(fault_last.kind == (int32_t)(wanted), "%s raised %d, not " #wanted ": %s", #call,   \
               fault_last.kind, fault_last.text);                                                  \
    } while (0)

#endif
