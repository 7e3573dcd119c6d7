/* SPDX-License-Identifier: MIT
 * rig.h: plays the node to one vgpu-exec: memory, messages, launches. For tests: any failure of the
 * rig itself ends the process with a sentence.
 */
#ifndef TEST_EXEC_RIG_H
#define TEST_EXEC_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels.h"
#include "protocol.h"

enum { RIG_DEVICES = 3, RIG_MEMORY = 64 << 20 };

struct rig {
    pid_t pid;
    int socket;
    char *doors;  /* of device 0's context (door.h): where it is asked, where it answers */
    bool at_door; /* the first message of the last reply came there */
    uint8_t *memory[RIG_DEVICES + 1]; /* as the node sees it; last = host */
    struct vgpu_control *control;
    uint64_t var_base, var_bytes;
    uint32_t kernel_count, var_count;
    struct vgpu_exec_var vars[8];
    char *printed; /* by the last run, of all messages */
    uint64_t printed_bytes;
    struct vgpu_exec_limits limits;            /* to be set before rig_start */
    const char *image;                         /* the same; NULL: the test image */
    struct vgpu_pointed pointed[VGPU_POINTED]; /* told with each run */
    struct vgpu_exec_reply reply;              /* the last one, without its data */
};

#define OWN VGPU_DEVICE_VA(0)
#define PEER VGPU_DEVICE_VA(1)
#define HOST VGPU_HOST_VA

/* Starts a context of device 0 and loads the test image; maps nothing. */
void rig_start(struct rig *rig);
/* Closes the socket and waits for the context to end; returns its exit status. */
int rig_stop(struct rig *rig);

/* Device memory (host: -1) at its place, from its start on. */
void rig_map(struct rig *rig, int memory, uint64_t bytes, bool writable);
void rig_unmap(struct rig *rig, uint64_t va, uint64_t bytes);
/* One message and its reply (and printf output that comes before it). */
void rig_ask(struct rig *rig, const struct vgpu_exec_request *request, const void *data,
             uint32_t data_bytes, const int *fds, int fd_count);

struct shape {
    uint32_t grid[3], block[3];
    uint32_t shared;
};

/* Launches with four 64-bit arguments; the status is in rig->reply, and returned. */
int rig_run(struct rig *rig, enum kernel_number kernel, struct shape shape, uint64_t a, uint64_t b,
            uint64_t c);
/* The same under an id of its own, for runs that will be resumed. */
int rig_run_as(struct rig *rig, uint64_t run, enum kernel_number kernel, struct shape shape,
               uint64_t a, uint64_t b, uint64_t c);
int rig_resume(struct rig *rig, uint64_t run);

/* What lies at `offset` of device 0's memory, as the node sees it. */
uint32_t *rig_words(struct rig *rig, uint64_t offset);

#endif
