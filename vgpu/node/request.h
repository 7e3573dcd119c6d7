/* SPDX-License-Identifier: MIT
 * request.h: the handlers of requests, by subject. A handler fills connection->reply (zeroed, with
 * the clock already advanced by the usual cost of a call) and may set connection->wait.
 */
#ifndef VGPU_REQUEST_H
#define VGPU_REQUEST_H

#include "codes.h"
#include "server.h"

typedef void (*request_handler)(struct connection *connection);

/* request.c */
void request_cost(struct connection *c, uint64_t cost_ps); /* instead of the usual cost */
void request_fail(struct connection *c, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool request_device(struct connection *c,
                    int device); /* in range, its context usable; else fails */
void request_wait(struct connection *c, struct op *mark); /* takes the reference over */
void request_wait_until(struct connection *c, struct op *op, enum wait until);

/* request_memory.c */
void request_malloc(struct connection *c);
void request_free(struct connection *c);
void request_free_done(struct connection *c);
void request_host_alloc(struct connection *c);
void request_host_free(struct connection *c);
void request_host_free_done(struct connection *c);
void request_stage_alloc(struct connection *c);
void request_mem_info(struct connection *c);
void request_pointer(struct connection *c);
void request_var(struct connection *c);
void request_pool_create(struct connection *c);
void request_pool_export(struct connection *c);
void request_pool_import(struct connection *c);
void request_pool_export_ptr(struct connection *c);
void request_pool_import_ptr(struct connection *c);
void request_pool_destroy(struct connection *c);
void request_pool_set_access(struct connection *c);
void request_pool_get_access(struct connection *c);
void request_pool_set(struct connection *c);
void request_pool_get(struct connection *c);
void request_pool_malloc(struct connection *c);
void request_pool_free(struct connection *c);

/* request_stream.c */
void request_stream_create(struct connection *c);
void request_stream_destroy(struct connection *c);
void request_stream_sync(struct connection *c);
void request_stream_query(struct connection *c);
void request_stream_wait(struct connection *c);
void request_stream_info(struct connection *c);
void request_event_create(struct connection *c);
void request_event_destroy(struct connection *c);
void request_event_record(struct connection *c);
void request_event_sync(struct connection *c);
void request_event_query(struct connection *c);
void request_event_elapsed(struct connection *c);
struct stream *request_stream(struct connection *c); /* the request's stream, or NULL: failed */

/* request_work.c */
void request_graph(struct connection *c);
void request_copy(struct connection *c);
void request_memset(struct connection *c);
void request_launch(struct connection *c);

void request_host_func(struct connection *c);
void request_host_next(struct connection *c);

/* request_host.c */
void request_host_touch(struct connection *c);
void request_host_known(struct connection *c);

/* request_device.c */
void request_context(struct connection *c);
void request_context_made(struct connection *c);
void request_device_sync(struct connection *c);
void request_device_reset(struct connection *c);
void request_device_reset_done(struct connection *c);
void request_peer_enable(struct connection *c);
void request_peer_disable(struct connection *c);
void request_module(struct connection *c);

/* request_ipc.c */
void request_ipc_export(struct connection *c);
void request_ipc_open(struct connection *c);
void request_ipc_close(struct connection *c);
void request_ipc_close_done(struct connection *c);
void request_ipc_event(struct connection *c);
void request_ipc_event_open(struct connection *c);

/* request_vmm.c */
void request_vmm_create(struct connection *c);
void request_vmm_release(struct connection *c);
void request_vmm_info(struct connection *c);
void request_vmm_retain(struct connection *c);
void request_vmm_export(struct connection *c);
void request_vmm_import(struct connection *c);
void request_vmm_reserve(struct connection *c);
void request_vmm_free(struct connection *c);
void request_vmm_map(struct connection *c);
void request_vmm_unmap(struct connection *c);
void request_vmm_unmap_done(struct connection *c);
void request_vmm_access(struct connection *c);
void request_vmm_get_access(struct connection *c);

/* request_witness.c */
void request_summary(struct connection *c);
void request_trace(struct connection *c);

#endif
