/* SPDX-License-Identifier: MIT
 * whole_node.h: the node in a fuzzer's own process, without its main and without contexts'
 * processes: a context is a thread here, and what it answers comes out of the input.
 */
#ifndef TEST_WHOLE_NODE_H
#define TEST_WHOLE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* Bytes of an input that are left; after its end come zeros. */
struct source {
    const uint8_t *at;
    size_t left;
};
uint8_t source_byte(struct source *s);
uint64_t source_number(struct source *s); /* small, near 2^64, powers of two, anything */

/* Serves in a thread until the last connection has gone. What contexts answer comes out of
 * `answers`. */
void node_begin(struct source answers);
int node_connect(void);
void node_end(void);

/* The node has sealed memory (sealed.h): its first half is for reading. What is there must stay as
 * it is, whatever programs ask for, or node_end ends the fuzzer. */
enum { SEALED_BYTES = 8192 };

/* From here on all contexts answer truly that kernels end so, with a stray access, a hazard and a
 * signal each, but for one number: `bytes` of `number` at offset `at` of the reply. What was polled
 * is at `polled`; 0: in the memory of GPU 0. */
struct node_answer {
    int32_t status;
    size_t at, bytes;
    uint64_t number, polled;
};
void node_answer(const struct node_answer *answer);

/* Asks something simple through a connection of its own, made by node_begin: a node that does not
 * answer within a minute hangs, and that ends the fuzzer. */
void node_probe(void);

/* target_contexts.c's, which is one program with target_hostile.c: where TARGET_CONTEXTS is set in
 * the environment. */
void contexts_input(const uint8_t *data, size_t size);

#endif
