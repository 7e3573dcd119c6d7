/* SPDX-License-Identifier: MIT
 * hidden.c: lab 01's hidden tests: other machines, other amounts, other orders.
 */
#include "common.h"

#include <ctype.h>

static void check_shapes(struct lab_test *t)
{
    static const struct {
        const char *node;
        int gpus;
    } shapes[] = {{"single", 1}, {"pcie-4090-2", 2}, {"dgx-a100", 8}, {"pcie-dual-socket-4", 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        lab_node(t, shapes[i].node);
        int n = count_here(t);
        lab_expect(t, n == shapes[i].gpus, "inv_count gave %d GPUs on a machine with %d", n,
                   shapes[i].gpus);
    }
}

static void check_duplicate(struct lab_test *t)
{
    struct count_in in = {0};
    lab_env(t, "CUDA_VISIBLE_DEVICES", "0,0");
    const struct count_out *out = ASK(t, "count", &in, count_out);
    expect_rc(t, "with CUDA_VISIBLE_DEVICES=0,0, inv_count(&n)", out->rc, LAB_ECUDA);
    lab_expect(
        t, out->n == IO_UNSET,
        "inv_count failed and set n to %d all the same: on an error the outputs keep what they "
        "held",
        out->n);
}

static void check_device_other(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    struct facts_out facts = facts_of(t);
    check_all_devices(t, &facts);
    lab_node(t, "oneway-2");
    facts = facts_of(t);
    check_all_devices(t, &facts);
}

/* What the recording of a real machine says, so that a wrong fact shows too. */
static void check_device_recorded(struct lab_test *t)
{
    struct facts_out facts = facts_of(t);
    for (int i = 0; i < facts.gpus; i++) {
        struct gpu_info *want = &facts.info[i];
        memset(want->name, 0, sizeof want->name);
        strcpy(want->name, "NVIDIA H200");
        want->major = 9;
        want->minor = 0;
        want->sms = 132;
        want->copy_engines = 3;
        want->clock_mhz = 1980;
        want->memory_bytes = 150109880320;
        want->l2_bytes = 62914560;
    }
    check_all_devices(t, &facts);
    lab_node(t, OTHER_MACHINE);
    facts = facts_of(t);
    check_all_devices(t, &facts);
}

static void check_order(struct lab_test *t)
{
    lab_env(t, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    struct facts_out all = facts_of(t);
    for (int i = 1; i < all.gpus; i++)
        lab_expect(t, strcmp(all.info[i - 1].bus_id, all.info[i].bus_id) < 0,
                   "with CUDA_DEVICE_ORDER=PCI_BUS_ID GPU %d (%s) comes before GPU %d (%s)", i - 1,
                   all.info[i - 1].bus_id, i, all.info[i].bus_id);
    struct facts_out some = {.gpus = 3, .info = {all.info[3], all.info[0], all.info[2]}};
    char list[4 * INV_UUID_BYTES] = "";
    for (int i = 0; i < some.gpus; i++) {
        char uuid[INV_UUID_BYTES];
        uuid_text(some.info[i].uuid, uuid);
        strcat(strcat(list, i ? "," : ""), uuid);
    }
    lab_env(t, "CUDA_VISIBLE_DEVICES", list);
    check_all_devices(t, &some);
}

/* A process that has lost a GPU gets no other one: a switch fails, whatever it leaves current. */
static void check_memory_lost(struct lab_test *t)
{
    struct mem_in in = {.asked = 2, .current = 2, .lost = 1, .device = {1, 3}};
    lab_node(t, "dgx-a100");
    lab_fault(t, "gpu-lost:2@op=1");
    const struct mem_out *out = ASK(t, "mem", &in, mem_out);
    for (int i = 0; i < in.asked; i++) {
        char call[64];
        snprintf(call, sizeof call, "inv_mem(%d, &free, &total), when GPU 2 is lost,",
                 in.device[i]);
        expect_rc(t, call, out->rc[i], LAB_ECUDA);
        lab_expect(t, out->current[i] == in.current,
                   "%s failed and left GPU %d current; before it was GPU %d: switch back, whatever "
                   "failed",
                   call, out->current[i], in.current);
        lab_expect(t,
                   out->free_bytes[i] == (uint64_t)IO_UNSET &&
                       out->total_bytes[i] == (uint64_t)IO_UNSET,
                   "%s failed and wrote its outputs all the same", call);
    }
    lab_fault(t, NULL);
}

static void check_mem_other(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    check_memory(t, 8, 5, (uint64_t)67 << 20);
    check_memory(t, 8, 0, (uint64_t)1 << 30);
    lab_node(t, "single");
    check_memory(t, 1, 0, (uint64_t)67 << 20);
    check_memory_lost(t);
}

static void check_alloc_other(struct lab_test *t)
{
    lab_node(t, "dgx-a100");
    check_each(t, 8, 786433, 6);
    check_each(t, 5, 2, 7);
    lab_node(t, "single");
    check_each(t, 1, 4099, 0);
}

/* After a process has lost a GPU, switching to another one fails. */
static void check_alloc_lost(struct lab_test *t)
{
    struct each_in in = {.bytes = 4096, .n = 2, .current = 2, .full_gpu = -1, .lost = 1};
    struct lab_run *run;
    lab_fault(t, "gpu-lost:2@op=1");
    const struct each_out *out = run_each(t, &in, &run);
    expect_rc(t, "inv_alloc_each(4096, buffers, 2), when GPU 2 is lost,", out->rc, LAB_ECUDA);
    lab_expect(t, untouched(out->pointer, sizeof out->pointer),
               "inv_alloc_each(4096, buffers, 2) failed, because a GPU is lost, and changed "
               "buffers[] all the same");
    lab_fault(t, NULL);
}

/* Every GPU in turn is the one that has no room. */
static void check_alloc_full_other(struct lab_test *t)
{
    struct each_in in = {.bytes = (uint64_t)96 << 20, .n = 4, .current = 2, .left = 48 << 20};
    for (in.full_gpu = 0; in.full_gpu < 3; in.full_gpu++) {
        lab_node(t, "pcie-dual-socket-4");
        refuse_each(t, &in, LAB_ENOMEM);
    }
    lab_node(t, "none");
    in.full_gpu = in.current = -1;
    in.n = 1;
    refuse_each(t, &in, LAB_ENOGPU);
    lab_node(t, "dgx-a100");
    lab_env(t, "CUDA_VISIBLE_DEVICES", "0,0"); /* inv_count cannot tell */
    refuse_each(t, &in, LAB_ECUDA);
    lab_env(t, "CUDA_VISIBLE_DEVICES", NULL);
    check_alloc_lost(t);
}

static void check_bus_other(struct lab_test *t)
{
    struct facts_out facts = facts_of(t);
    struct bus_in in = {.asked = 3};
    memcpy(in.bus_id[0], facts.info[1].bus_id, sizeof facts.info[1].bus_id);
    memcpy(in.bus_id[1], facts.info[1].bus_id, sizeof facts.info[1].bus_id);
    for (char *c = in.bus_id[1]; *c; c++)
        *c = (char)(islower((unsigned char)*c) ? toupper((unsigned char)*c)
                                               : tolower((unsigned char)*c));
    memcpy(in.bus_id[2], facts.info[0].bus_id, sizeof facts.info[0].bus_id);
    lab_env(t, "CUDA_VISIBLE_DEVICES", "1");
    const struct bus_out *out = ASK(t, "bus", &in, bus_out);
    for (int i = 0; i < 3; i++) {
        int seen = i < 2;
        lab_expect(t, out->rc[i] == (seen ? LAB_OK : LAB_ENOGPU),
                   "with CUDA_VISIBLE_DEVICES=1 inv_by_bus(\"%s\") returned %d, expected %d; that "
                   "is the GPU "
                   "which is %s (an address is hexadecimal, in lower or upper case)",
                   in.bus_id[i], out->rc[i], seen ? LAB_OK : LAB_ENOGPU,
                   seen ? "number 0 now" : "hidden now");
        lab_expect(t, out->device[i] == (seen ? 0 : IO_UNSET),
                   "with CUDA_VISIBLE_DEVICES=1 inv_by_bus(\"%s\") set device to %d", in.bus_id[i],
                   out->device[i]);
    }
    in.asked = 2;
    memcpy(in.bus_id[0], facts.info[0].bus_id, sizeof facts.info[0].bus_id);
    lab_env(t, "CUDA_VISIBLE_DEVICES", "1,0");
    out = ASK(t, "bus", &in, bus_out);
    for (int i = 0; i < in.asked; i++)
        lab_expect(
            t, out->device[i] == !i,
            "with CUDA_VISIBLE_DEVICES=1,0 inv_by_bus(\"%s\") set device to %d, expected %d: "
            "numbers do not follow the order of the slots",
            in.bus_id[i], out->device[i], !i);
}

static void check_table_none(struct lab_test *t)
{
    lab_node(t, "single");
    struct lab_run *run = lab_run(t, "json", NULL, 0, sizeof(struct table_out));
    lab_expect(t, strstr(lab_stdout(run), "\"count\": 1,"),
               "with a single GPU the JSON does not say \"count\": 1");
    lab_node(t, "none");
    run = lab_run(t, "json", NULL, 0, sizeof(struct table_out));
    expect_rc(t, "without any GPU, inv_print_json(stdout)",
              ((const struct table_out *)lab_output(run))->rc, LAB_OK);
    lab_expect(t, strstr(lab_stdout(run), "\"count\": 0,"),
               "without any GPU the JSON does not say \"count\": 0");
    lab_node(t, "none");
    run = lab_run(t, "table", NULL, 0, sizeof(struct table_out));
    lab_expect(t, strstr(lab_stdout(run), "no GPU here"),
               "without any GPU the table does not say so");
}

LAB_CASES = {
    {.name = "shapes",
     .todo = 1,
     .title = "inv_count on machines of 1, 2, 4 and 8 GPUs",
     .points = 1,
     .needs_witness = true,
     .check = check_shapes},
    {.name = "duplicate",
     .todo = 1,
     .title = "a device list that CUDA refuses is an error, not 0 GPUs",
     .rule = "only 'no device' and 'no driver' mean that there is no GPU; after any other error "
             "CUDA cannot tell",
     .about = "inv_count(&n) returned",
     .points = 2,
     .min_gpus = 1,
     .no_memcheck = true,
     .also_on = OTHER_MACHINE,
     .check = check_duplicate},
    {.name = "device_other",
     .todo = 2,
     .title = "inv_device on other machines",
     .points = 2,
     .needs_witness = true,
     .check = check_device_other},
    {.name = "device_recorded",
     .todo = 2,
     .title = "inv_device says of an H200 what a real H200 said",
     .points = 1,
     .needs_witness = true,
     .check = check_device_recorded},
    {.name = "order",
     .todo = 2,
     .title = "UUIDs in any order, numbered by PCI address before",
     .points = 1,
     .min_gpus = 4,
     .also_on = OTHER_MACHINE,
     .check = check_order},
    {.name = "mem_other",
     .todo = 3,
     .title = "inv_mem on 8 GPUs, from another current device",
     .points = 2,
     .needs_witness = true,
     .check = check_mem_other},
    {.name = "alloc_other",
     .todo = 4,
     .title = "inv_alloc_each on 8 GPUs and on 1",
     .points = 2,
     .needs_witness = true,
     .check = check_alloc_other},
    {.name = "alloc_full_other",
     .todo = 4,
     .title = "whichever GPU is full, nothing stays allocated",
     .points = 2,
     .needs_witness = true,
     .check = check_alloc_full_other},
    {.name = "bus_other",
     .todo = 5,
     .title = "inv_by_bus in either case, and among the visible GPUs only",
     .points = 1,
     .min_gpus = 2,
     .also_on = OTHER_MACHINE,
     .check = check_bus_other},
    {.name = "table_none",
     .title = "the printers work without any GPU",
     .points = 1,
     .needs_witness = true,
     .check = check_table_none},
    {0},
};
