/* SPDX-License-Identifier: MIT
 * bench.h: declarations shared by the files of the bench.
 */
#ifndef BENCH_H
#define BENCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* processes.c: the node's processes, found by its id in their command lines. */
double node_cpu_seconds(const char *id); /* of the node and its contexts, since they started */
double node_megabytes(const char *id);   /* PSS; resident pages if PSS is not readable */

/* peers.c: the same work without a node. */
int peer_threads(void);
double peer_seconds(void);
void peer_add(const float *a, const float *b, float *c, long n);
double peer_switch_ns(void); /* from one of 256 stacks to the next, by a plain switch; 0: unknown */
double peer_round_trip_us(void); /* of a message between two processes on one processor */
void peer_reduce(const float *in, float *out, long blocks);

#ifdef __cplusplus
}

/* kernels.cu */
enum { BLOCK = 256 };
void launch_nop(void);
void launch_add(const float *a, const float *b, float *c, long n);
void launch_reduce(const float *in, float *out, unsigned blocks);
void launch_count(const float *in, unsigned *bins, long n);
void launch_fill(float *out, long n);
#endif

#endif
