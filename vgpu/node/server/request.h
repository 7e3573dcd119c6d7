/* SPDX-License-Identifier: MIT
 * request.h: the handlers of requests, by subject. A handler fills connection->reply (zeroed, with
 * the clock advanced by the usual cost of a call) and may set connection->wait.
 */
#ifndef VGPU_REQUEST_H
#define VGPU_REQUEST_H

#include "connection.h"

typedef void (*request_handler)(struct connection *connection);

/* A request that waits and then ends an object (a free, an unmapping) is handled in three steps:
 * `check` finds the object or fails, `begin` sets connection->wait, `end` ends the object. During
 * the wait other threads are served and may end the same object, so `check` is called again before
 * `end`. False: the request has failed, or there is nothing to do. */
typedef bool (*request_check)(struct connection *connection);

/* Checks that all requests must pass first (request_form.h). False: refused, with the error in
 * connection->reply. */
bool request_enter(struct connection *connection);

/* Calls the handler, which fills connection->reply and sets connection->wait if the reply must
 * wait. */
void request_handle(struct connection *connection);

/* Completes the request when the wait is over. */
void request_finish(struct connection *connection);

/* request_hello.c */
void request_least_checks(struct connection *c);
void request_hello(struct connection *c);
void request_thread(struct connection *c);
void request_program(struct connection *c);
void request_witness(struct connection *c);
void request_print(struct connection *c);
void request_finding(struct connection *c);
void request_range(struct connection *c);
void request_bye(struct connection *c);

/* request_memory.c */
void request_malloc(struct connection *c);
bool request_free_check(struct connection *c);
void request_free_begin(struct connection *c);
void request_free_end(struct connection *c);
void request_host_alloc(struct connection *c);
bool request_host_free_check(struct connection *c);
void request_host_free_begin(struct connection *c);
void request_host_free_end(struct connection *c);
void request_stage_free(struct connection *c);
void request_stage_alloc(struct connection *c);
void request_observe(struct connection *c);
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
struct stream *request_stream(struct connection *c); /* NULL: the request has failed */

/* request_copy.c */
void request_copy(struct connection *c);
void request_memset(struct connection *c);

/* request_launch.c */
void request_launch(struct connection *c);
void request_graph(struct connection *c);
void request_host_func(struct connection *c);
void request_host_next(struct connection *c);

/* request_host.c */
void request_host_touch(struct connection *c);
void request_host_known(struct connection *c);

/* request_device.c */
void request_context(struct connection *c);
void request_context_made(struct connection *c);
void request_device_sync(struct connection *c);
bool request_device_reset_check(struct connection *c);
void request_device_reset_begin(struct connection *c);
void request_device_reset_end(struct connection *c);
void request_peer_enable(struct connection *c);
void request_peer_disable(struct connection *c);
void request_module(struct connection *c);

/* request_ipc.c */
void request_ipc_export(struct connection *c);
void request_ipc_open(struct connection *c);
bool request_ipc_close_check(struct connection *c);
void request_ipc_close_begin(struct connection *c);
void request_ipc_close_end(struct connection *c);
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
bool request_vmm_unmap_check(struct connection *c);
void request_vmm_unmap_begin(struct connection *c);
void request_vmm_unmap_end(struct connection *c);
void request_vmm_access(struct connection *c);
void request_vmm_get_access(struct connection *c);

/* request_witness.c */
void request_summary(struct connection *c);
void request_trace(struct connection *c);
void request_seal(struct connection *c);

#endif
