/* SPDX-License-Identifier: MIT
 * device.c: the GPUs of a case's node, as the node reports them. Expected values are derived from
 * this: reports of a process with student code are not trusted.
 */
#include "run.h"

#include "protocol.h"

#include <stdio.h>
#include <string.h>

/* The node of the next lab_run, started early. */
static const struct lab_node *next_node(struct lab_test *t)
{
    char error[300] = "";
    if (!t->ready)
        t->ready = lab__node_start(t->node, error, sizeof error);
    if (!t->ready)
        lab__broken(t, 0, "cannot start a node '%s': %s", t->node, error);
    return t->ready;
}

void lab__take_gpus(void) {}

void lab__visible(const char *wanted, char *to, size_t room)
{
    snprintf(to, room, "%s", wanted);
}

void lab__check_gpus(struct lab_test *t)
{
    (void)t;
}

int lab_gpus(struct lab_test *t)
{
    return t->wants_node ? lab__node_gpus(next_node(t)) : 0;
}

bool lab_device(struct lab_test *t, int gpu, struct lab_device *to)
{
    if (gpu < 0 || gpu >= lab_gpus(t))
        return false;
    const struct vgpu_device_info *d = &lab__node_info(next_node(t))->device[gpu];
    *to = (struct lab_device){.major = d->cc_major,
                              .minor = d->cc_minor,
                              .sms = d->sm_count,
                              .copy_engines = d->async_engines,
                              .clock_khz = d->clock_khz,
                              .memory_bytes = d->total_bytes,
                              .l2_bytes = d->l2_bytes,
                              .vmm_granule = d->vmm_granule};
    snprintf(to->name, sizeof to->name, "%.63s", d->name);
    snprintf(to->bus_id, sizeof to->bus_id, "%04X:%02X:%02X.0", (unsigned)d->pci_domain & 0xffff,
             (unsigned)d->pci_bus & 0xff, (unsigned)d->pci_device & 0xff);
    memcpy(to->uuid, d->uuid, sizeof to->uuid);
    return true;
}
