/* SPDX-License-Identifier: MIT
 * runner_virtual.c: on the virtual node the verifier's witness counts, not the runner.
 */
#include "runner.h"
#include "runner_internal.h"

#include "protocol.h"

#include <stdio.h>
#include <string.h>

/* Of the runtime (vgpu/api/core); a lab without GPUs has none. */
extern void (*vgpu__crash_hook)(int, siginfo_t *, void *) __attribute__((weak));
extern bool (*vgpu__refusal_hook)(uint64_t caller) __attribute__((weak));
extern bool (*vgpu__failure_hook)(const char *call) __attribute__((weak));
void vgpu__fault_handler_install(void) __attribute__((weak));
uint64_t vgpu__symbolize_path(uint64_t address, char *path, size_t room) __attribute__((weak));

static int refusing;

void lab_refusing(int on)
{
    refusing = on;
}

/* What the tests themselves ask and have refused, to see whether it is, is nothing to read. */
static bool is_not_ours(uint64_t caller)
{
    char path[512];
    return !refusing && (!lab__line_of(caller, path, sizeof path) || !lab__is_ours(path));
}

/* ---- a call that fails because a test orders it ---- */

static int calls_left; /* 0: none fails */
static char failed_call[48];

static bool gives_back(const char *call)
{
    static const char *const words[] = {"Free",  "Destroy",     "Close",    "Release",
                                        "Unmap", "DisablePeer", "SetDevice"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(call, words[i]))
            return true;
    return false;
}

static bool is_the_one_to_fail(const char *call)
{
    if (gives_back(call) || calls_left == 0 || --calls_left > 0)
        return false;
    snprintf(failed_call, sizeof failed_call, "%s", call);
    return true;
}

void lab_fail_call(int k)
{
    failed_call[0] = 0;
    calls_left = k;
    if (&vgpu__failure_hook)
        vgpu__failure_hook = is_the_one_to_fail;
}

const char *lab_call_failed(void)
{
    calls_left = 0;
    return failed_call[0] ? failed_call : NULL;
}

void lab__watch_runtime(void)
{
    if (!vgpu__fault_handler_install)
        return;
    vgpu__refusal_hook = is_not_ours;
    vgpu__crash_hook = lab__crashed;
    vgpu__fault_handler_install();
}

uint64_t lab__line_of(uint64_t address, char *path, size_t room)
{
    return vgpu__symbolize_path ? vgpu__symbolize_path(address, path, room) : 0;
}

char *lab__sealed(void)
{
    return (char *)(uintptr_t)VGPU_SEALED_VA;
}

int lab__count_gpus(void)
{
    return -1;
}

int lab__check_each_gpu(void)
{
    return 0;
}

void lab__count_before(struct lab_status *status)
{
    status->leak_known = 0;
}

void lab__count_after(struct lab_status *status)
{
    status->leak_known = 0;
}
