/* SPDX-License-Identifier: MIT
 * everything.h: what everything.c's threads do besides its own, and what its files share.
 */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#ifdef __cplusplus
extern "C" {
#endif

enum { THREADS = 5, ROUNDS = 4, BYTES = 1 << 16, GPUS = 4 };

/* Calls `function` with the numbers 0 to THREADS - 1, in a thread each. */
void run_threads(void *(*function)(void *));

/* kernels.cu: launches, functions, variables, an image that comes and goes */
void use_kernels(int number);
void use_kernel_graph(int number);
void load_image(void);

/* memory.c: mappings, pools, another process's memory */
void be_other_process(void);
void start_other_process(void);
void end_other_process(void);
void use_mappings(int number);
void use_own_pool(int number);
void use_other_process(void);

/* together.c: all threads at the same object at the same time, between two barriers; and the end
 * of devices that others use */
void start_together(void);
void act_together(int number);
void *reset_devices(void *number);

#ifdef __cplusplus
}
#endif
#endif
