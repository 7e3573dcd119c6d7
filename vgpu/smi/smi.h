/* SPDX-License-Identifier: MIT
 * smi.h: what vgpu-smi knows of the node, and what it prints.
 */
#ifndef VGPU_SMI_H
#define VGPU_SMI_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct view {
    const struct vgpu_node_info *info;
    struct vgpu_observed now;
    bool without[VGPU_MAX_DEVICES]; /* option -i: GPUs that are not asked for */
};

/* Asks the node for `view->now`. False: it has ended, which is reported on stderr. */
bool view_refresh(struct view *view);

bool view_has(const struct view *view, int device);
uint64_t view_used_mib(const struct view *view, int device);

#define UUID_ROOM 48
void uuid_text(const uint8_t *uuid, char text[UUID_ROOM]);
void bus_text(const struct vgpu_device_info *g, char text[32]); /* 00000000:19:00.0 */
void time_text(const char *format, char text[64]);              /* now */

/* Each returns an exit status. */
int print_table(const struct view *view);
int print_query(const struct view *view, const char *sections); /* -q; -d: NULL is all of them */
/* --query-gpu and --query-compute-apps: `fields` as the user has typed them, `format` e.g.
 * "csv,noheader,nounits"; `again`: -l, and not the first time */
int print_gpu_fields(const struct view *view, const char *fields, const char *format, bool again);
int print_app_fields(const struct view *view, const char *fields, const char *format, bool again);
int print_known_fields(void); /* --help-query-gpu */
/* dmon: `groups` are letters of "pucvmet"; `times`: "", "T" or "DT"; `count` 0: until it is
 * interrupted */
int print_monitor(struct view *view, const char *groups, const char *times, long count,
                  long seconds);

#endif
