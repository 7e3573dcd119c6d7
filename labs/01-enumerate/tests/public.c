/* SPDX-License-Identifier: MIT
 * public.c: lab 01's public tests.
 */
#include "common.h"

#include <stdlib.h>

/* Each call of CUDA that the function of this TODO makes fails once. */
static void refuse_calls(struct lab_test *t, int todo, const char *call)
{
    struct refused_in in = {.todo = todo, .current = lab_gpus(t) > 1};
    if (!lab_is_virtual(t))
        return;
    struct lab_run *run = lab_run(t, "refused", &in, sizeof in, sizeof(struct lab_refusals));
    lab_expect_refused(t, call, lab_output(run), in.current);
    lab_refused_leaked_nothing(t, run);
}

/* ---- TODO 1 ---- */

static void check_count(struct lab_test *t)
{
    int n = count_here(t), want = lab_gpus(t);
    lab_expect(t, n == want, "inv_count gave %d GPUs, this machine has %d", n, want);
    struct count_in in = {.null = 1};
    const struct count_out *out = ASK(t, "count", &in, count_out);
    expect_rc(t, "inv_count(NULL)", out->rc, LAB_EINVAL);
    refuse_calls(t, 1, "inv_count(&n)");
}

static void check_count_none(struct lab_test *t)
{
    lab_node(t, "none");
    lab_env(t, "CUDA_VISIBLE_DEVICES", lab_is_virtual(t) ? NULL : "");
    struct count_in in = {0};
    const struct count_out *out = ASK(t, "count", &in, count_out);
    expect_rc(t, "without any GPU, inv_count(&n)", out->rc, LAB_OK);
    lab_expect(t, out->n == 0, "without any GPU, inv_count gave n = %d, expected 0", out->n);
    if (!lab_is_virtual(t))
        return;
    lab_env(t, "VGPU_NODE_QUEUE", "/nowhere"); /* nobody answers: as without a driver */
    out = ASK(t, "count", &in, count_out);
    expect_rc(t, "without a driver (error 35), inv_count(&n)", out->rc, LAB_OK);
    lab_expect(t, out->n == 0, "without a driver, inv_count gave n = %d, expected 0", out->n);
}

static void check_visible(struct lab_test *t)
{
    lab_env(t, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    expect_visible(t, "1", 1);
    expect_visible(t, "1,0", 2);
    expect_visible(t, "", 0);
    expect_visible(t, "1,99,0", 1); /* the list ends at the first entry that is nobody's */
    expect_visible(t, "1,99,1", 1); /* what stands behind it is no entry, and names none twice */
}

/* ---- TODO 2 ---- */

static void check_device(struct lab_test *t)
{
    struct facts_out facts = facts_of(t);
    check_all_devices(t, &facts);
    if (!lab_is_virtual(t))
        return;
    lab_node(t, MIXED_MACHINE);
    facts = facts_of(t);
    check_all_devices(t, &facts);
}

static void check_device_bad(struct lab_test *t)
{
    struct device_in in = {.asked = 4, .device = {-1, 4, 99, 1 << 30}};
    in.device[1] = lab_gpus(t);
    expect_refused(t, &in, LAB_ENOGPU);
    in = (struct device_in){.asked = 1, .null = 1};
    expect_refused(t, &in, LAB_EINVAL);
    refuse_calls(t, 2, "inv_device(0, &info)");
    lab_node(t, "none");
    if (!lab_is_virtual(t))
        return;
    in = (struct device_in){.asked = 1};
    expect_refused(t, &in, LAB_ENOGPU);
}

static void check_visible_devices(struct lab_test *t)
{
    struct facts_out all = facts_of(t);
    struct facts_out two = {.gpus = 2, .info = {all.info[1], all.info[0]}};
    lab_env(t, "CUDA_VISIBLE_DEVICES", "1,0");
    check_all_devices(t, &two);
    char uuid[INV_UUID_BYTES];
    uuid_text(all.info[1].uuid, uuid);
    two = (struct facts_out){.gpus = 1, .info = {all.info[1]}};
    lab_env(t, "CUDA_VISIBLE_DEVICES", uuid);
    check_all_devices(t, &two);
}

/* ---- TODO 3 ---- */

static void check_mem(struct lab_test *t)
{
    int gpus = lab_gpus(t);
    check_memory(t, gpus, gpus > 1, (uint64_t)96 << 20);
    if (!lab_is_virtual(t))
        return;
    lab_node(t, MIXED_MACHINE);
    check_memory(t, 3, 2, (uint64_t)33 << 20);
}

static void check_mem_bad(struct lab_test *t)
{
    int gpus = lab_gpus(t), current = gpus > 1;
    struct mem_in in = {.asked = 3, .current = current, .device = {-1, gpus, 99}};
    const struct mem_out *out = ASK(t, "mem", &in, mem_out);
    for (int i = 0; i < in.asked; i++) {
        char call[48];
        snprintf(call, sizeof call, "inv_mem(%d, &free, &total)", in.device[i]);
        expect_rc(t, call, out->rc[i], LAB_ENOGPU);
        expect_clear(t, call, out->last[i]);
        lab_expect(t, out->current[i] == current,
                   "%s failed and left GPU %d current; before it was GPU %d", call, out->current[i],
                   current);
        lab_expect(t,
                   out->free_bytes[i] == (uint64_t)IO_UNSET &&
                       out->total_bytes[i] == (uint64_t)IO_UNSET,
                   "%s failed and wrote its outputs all the same", call);
    }
    for (in.null = 1, in.asked = 1, in.device[0] = 0; in.null <= 2; in.null++) {
        out = ASK(t, "mem", &in, mem_out);
        expect_rc(t, in.null == 1 ? "inv_mem(0, NULL, &total)" : "inv_mem(0, &free, NULL)",
                  out->rc[0], LAB_EINVAL);
    }
    refuse_calls(t, 3, "inv_mem(0, &free, &total)");
    lab_node(t, "none");
    if (!lab_is_virtual(t))
        return;
    in = (struct mem_in){.asked = 1, .current = -1};
    out = ASK(t, "mem", &in, mem_out);
    expect_rc(t, "without any GPU, inv_mem(0, &free, &total)", out->rc[0], LAB_ENOGPU);
}

/* ---- TODO 4 ---- */

static void check_alloc_each(struct lab_test *t)
{
    int gpus = lab_gpus(t);
    check_each(t, gpus, 1000003, gpus > 1);
    check_each(t, 1, 1, gpus - 1);
    check_each(t, gpus, ((uint64_t)5 << 30) + 1, 0);
}

static void check_alloc_bad(struct lab_test *t)
{
    int gpus = lab_gpus(t), current = gpus > 1;
    struct each_in in = {.bytes = 4096, .current = current, .full_gpu = -1};
    in.n = gpus + 1;
    refuse_each(t, &in, LAB_ENOGPU);
    in.bytes = (uint64_t)1 << 60; /* GPU 0 has not got that much, but that is not what is wrong */
    refuse_each(t, &in, LAB_ENOGPU);
    in.bytes = 4096;
    in.n = -1;
    refuse_each(t, &in, LAB_EINVAL);
    in.n = 1;
    in.null = 1;
    refuse_each(t, &in, LAB_EINVAL);
    in.n = 0; /* nothing to write: a null array is as good as any */
    refuse_each(t, &in, LAB_OK);
    check_each_empty(t, gpus, current);
    refuse_calls(t, 4, "inv_alloc_each(4096, buffers, n)");
    lab_node(t, "none");
    in.current = -1; /* nothing needs a GPU either */
    if (lab_is_virtual(t))
        refuse_each(t, &in, LAB_OK);
}

static void check_alloc_full(struct lab_test *t)
{
    int gpus = lab_gpus(t);
    struct each_in in = {.bytes = (uint64_t)64 << 20, .n = gpus, .current = 0};
    in.full_gpu = gpus - 1;
    in.left = (uint64_t)32 << 20;
    refuse_each(t, &in, LAB_ENOMEM);
}

/* ---- TODO 5 ---- */

static void check_by_bus(struct lab_test *t)
{
    struct facts_out facts = facts_of(t);
    struct bus_in in = {.asked = facts.gpus + 4};
    for (int i = 0; i < facts.gpus; i++)
        memcpy(in.bus_id[i], facts.info[facts.gpus - 1 - i].bus_id, sizeof facts.info[0].bus_id);
    strcpy(in.bus_id[facts.gpus], "0000:fe:1f.0");
    strcpy(in.bus_id[facts.gpus + 1], "the second one");
    snprintf(in.bus_id[facts.gpus + 2], sizeof in.bus_id[0], "ffff%.11s", /* another domain's */
             strchr(facts.info[0].bus_id, ':'));
    snprintf(in.bus_id[facts.gpus + 3], sizeof in.bus_id[0], "%.15s and more",
             facts.info[0].bus_id);
    const struct bus_out *out = ASK(t, "bus", &in, bus_out);
    for (int i = 0; i < in.asked; i++) {
        char call[64];
        int want = i < facts.gpus ? facts.gpus - 1 - i : IO_UNSET;
        snprintf(call, sizeof call, "inv_by_bus(\"%s\", &device)", in.bus_id[i]);
        expect_rc(t, call, out->rc[i], i < facts.gpus ? LAB_OK : LAB_ENOGPU);
        expect_clear(t, call, out->last[i]);
        lab_expect(t, out->device[i] == want, "%s set device to %d, expected %d%s", call,
                   out->device[i], want, want == IO_UNSET ? " (untouched)" : "");
    }
    for (in.null = 1; in.null <= 2; in.null++) {
        out = ASK(t, "bus", &in, bus_out);
        expect_rc(t, "inv_by_bus with a null pointer", out->rc[0], LAB_EINVAL);
    }
    refuse_calls(t, 5, "inv_by_bus(address, &device)");
}

/* ---- all together ---- */

static void check_threads(struct lab_test *t)
{
    int gpus = lab_gpus(t);
    struct threads_in in = {.first = {1, -1}, .device = gpus - 1};
    const struct threads_out *out = ASK(t, "threads", &in, threads_out);
    for (int i = 0; i < 2; i++) {
        int want = in.first[i] < 0 ? 0 : in.first[i];
        expect_rc(t, "inv_mem in a second thread", out->rc[i], LAB_OK);
        lab_expect(t, out->current[i] == want,
                   "thread %d had GPU %d current before inv_mem(%d) and GPU %d after it: the "
                   "current device belongs to each host thread",
                   i, want, in.device, out->current[i]);
    }
}

/* The number behind "key": in the entry of GPU `gpu`; UINT64_MAX when it is not there. */
static uint64_t json_number(const char *json, int gpu, const char *key)
{
    char quoted[32];
    const char *at = strstr(json, "\"gpus\"");
    for (int i = 0; at && i <= gpu; i++)
        at = strchr(at + 1, '{');
    const char *end = at ? strchr(at, '}') : NULL;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    at = at ? strstr(at, quoted) : NULL;
    return at && end && at < end ? strtoull(at + strlen(quoted), NULL, 10) : UINT64_MAX;
}

static void same_json(struct lab_test *t, const char *json, int gpu, const char *key, uint64_t want)
{
    uint64_t got = json_number(json, gpu, key);
    lab_expect(t, got == want, "the JSON says \"%s\": %llu for GPU %d, expected %llu", key,
               (unsigned long long)got, gpu, (unsigned long long)want);
}

static void check_table(struct lab_test *t)
{
    struct facts_out facts = facts_of(t);
    struct lab_run *run = lab_run(t, "json", NULL, 0, sizeof(struct table_out));
    const struct table_out *out = lab_output(run);
    const char *json = lab_stdout(run);
    expect_rc(t, "inv_print_json(stdout)", out->rc, LAB_OK);
    for (int i = 0; i < facts.gpus; i++) {
        const struct gpu_info *want = &facts.info[i];
        char uuid[INV_UUID_BYTES];
        uuid_text(want->uuid, uuid);
        lab_expect(t, strstr(json, uuid), "the JSON has no GPU with the UUID %s", uuid);
        lab_expect(t, strstr(json, want->bus_id), "the JSON has no GPU at %s", want->bus_id);
        same_json(t, json, i, "device", (uint64_t)i);
        same_json(t, json, i, "sms", (uint64_t)want->sms);
        same_json(t, json, i, "clock_mhz", (uint64_t)want->clock_mhz);
        same_json(t, json, i, "memory_bytes", want->memory_bytes);
        same_json(t, json, i, "total_bytes", want->memory_bytes);
        same_json(t, json, i, "l2_bytes", want->l2_bytes);
    }
    lab_nothing_leaked(t, run);
}

LAB_CASES = {
    {.name = "count",
     .todo = 1,
     .title = "inv_count gives the number of GPUs",
     .rule = "everything after it loops from 0 to this number",
     .about = "GPUs, this machine",
     .points = 5,
     .quick = true,
     .check = check_count},
    {.name = "count_none",
     .todo = 1,
     .title = "no GPU is the number 0, not an error",
     .rule = "a machine with no GPU is not a failure: cudaErrorNoDevice (100) and "
             "cudaErrorInsufficientDriver (35) both mean 0 GPUs",
     .about = "inv_count(&n) returned",
     .points = 8,
     .quick = true,
     .no_memcheck = true,
     .check = check_count_none},
    {.name = "visible",
     .todo = 1,
     .title = "CUDA_VISIBLE_DEVICES decides how many GPUs there are",
     .rule = "CUDA reads the list: an empty list hides all GPUs, and a bad entry ends it",
     .points = 4,
     .min_gpus = 2,
     .no_memcheck = true,
     .also_on = OTHER_MACHINE,
     .check = check_visible},
    {.name = "device",
     .todo = 2,
     .title = "inv_device describes every GPU, in the units of lab01.h",
     .rule = "sizes are in bytes and clocks in MHz; CUDA reports kHz",
     .about = "clock_mhz",
     .points = 10,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .also_on = OTHER_MACHINE,
     .check = check_device},
    {.name = "device_bad",
     .todo = 2,
     .title = "inv_device refuses GPUs that are not there and touches nothing",
     .rule = "after an error the caller's struct must be unchanged",
     .about = "*info",
     .points = 6,
     .min_gpus = 1,
     .also_on = OTHER_MACHINE,
     .check = check_device_bad},
    {.name = "visible_devices",
     .todo = 2,
     .title = "CUDA_VISIBLE_DEVICES renumbers the GPUs, by index and by UUID",
     .rule = "device 0 is the first of the list, whichever GPU that is",
     .points = 5,
     .min_gpus = 2,
     .also_on = MIXED_MACHINE,
     .check = check_visible_devices},
    {.name = "mem",
     .todo = 3,
     .title = "inv_mem asks the right GPU and leaves the current device alone",
     .rule = "cudaMemGetInfo reports on the current device: change it, ask, change it back",
     .about = "was the right one current",
     .points = 10,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .also_on = OTHER_MACHINE,
     .check = check_mem},
    {.name = "mem_bad",
     .todo = 3,
     .title = "inv_mem restores the current device on errors too",
     .rule = "restore the current device on every way out of the function, also after an error",
     .points = 5,
     .min_gpus = 1,
     .also_on = OTHER_MACHINE,
     .check = check_mem_bad},
    {.name = "alloc_each",
     .todo = 4,
     .title = "buffer i lies on GPU i",
     .rule = "cudaMalloc allocates on the current device, and nothing changes it but cudaSetDevice",
     .points = 10,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_alloc_each},
    {.name = "alloc_bad",
     .todo = 4,
     .title = "inv_alloc_each refuses what it cannot do and touches nothing",
     .rule = "check before the first allocation",
     .points = 4,
     .min_gpus = 1,
     .also_on = OTHER_MACHINE,
     .check = check_alloc_bad},
    {.name = "alloc_full",
     .todo = 4,
     .title = "when one GPU is full, the buffers of the others are freed again",
     .rule = "all or nothing: a caller that gets an error must have nothing to free",
     .points = 6,
     .min_gpus = 2,
     .also_on = OTHER_MACHINE,
     .check = check_alloc_full},
    {.name = "by_bus",
     .todo = 5,
     .title = "inv_by_bus finds a GPU by its PCI address",
     .rule = "CUDA_VISIBLE_DEVICES changes a GPU's number, but not its slot",
     .about = "CUDA_VISIBLE_DEVICES",
     .points = 5,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_by_bus},
    {.name = "threads",
     .title = "the current device of each host thread stays its own",
     .rule = "a new thread starts with GPU 0, and cudaSetDevice changes the calling thread's only",
     .points = 3,
     .min_gpus = 2,
     .also_on = OTHER_MACHINE,
     .check = check_threads},
    {.name = "table",
     .title = "the JSON of the table says what CUDA says",
     .rule = "the printers call your five functions and format what they return",
     .points = 4,
     .min_gpus = 1,
     .wants_gpus = 4,
     .also_on = MIXED_MACHINE,
     .check = check_table},
    {0},
};
