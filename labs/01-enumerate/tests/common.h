/* SPDX-License-Identifier: MIT
 * common.h: what lab 01's public and hidden cases share.
 */
#ifndef LAB01_COMMON_H
#define LAB01_COMMON_H

#include <stdio.h>
#include <string.h>

#include "case.h"

#include "io.h"

#define OTHER_MACHINE "dgx-h100" /* no answer of the usual node is right there */
#define MIXED_MACHINE "mixed-3"  /* no answer about one GPU is right of another */

#define ASK(t, what, in, out_type)                                                                 \
    ((const struct out_type *)lab_output(                                                          \
        lab_run((t), (what), (in), sizeof *(in), sizeof(struct out_type))))

static inline const char *rc_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    return rc <= 0 && rc > -8 ? names[-rc] : "not a result of lab.h";
}

/* `call` is what a person would have typed: "inv_device(7, &info)". */
static inline void expect_rc(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "%s returned %d (%s), expected %d (%s)", call, got, rc_name(got),
               want, rc_name(want));
}

static inline void expect_clear(struct lab_test *t, const char *call, int last)
{
    lab_expect(t, last == 0,
               "after %s CUDA's last error was still %d: the caller's next cudaGetLastError() will "
               "report it for a call that succeeded; clear it with cudaGetLastError()",
               call, last);
}

/* What the node says: whoever is asked about GPUs in the student's process may be lying. */
static inline struct facts_out facts_of_node(struct lab_test *t)
{
    struct facts_out facts = {.gpus = 0};
    struct lab_device d;
    while (facts.gpus < IO_GPUS && lab_device(t, facts.gpus, &d)) {
        struct gpu_info *info = &facts.info[facts.gpus++];
        *info = (struct gpu_info){.major = d.major,
                                  .minor = d.minor,
                                  .sms = d.sms,
                                  .copy_engines = d.copy_engines,
                                  .clock_mhz = d.clock_khz / 1000,
                                  .memory_bytes = d.memory_bytes,
                                  .l2_bytes = d.l2_bytes};
        memcpy(info->name, d.name, sizeof d.name);
        memcpy(info->bus_id, d.bus_id, sizeof d.bus_id);
        memcpy(info->uuid, d.uuid, sizeof d.uuid);
    }
    return facts;
}

/* What CUDA says about this node. On real GPUs a runner says it, which calls none of the student's
 * functions. */
static inline struct facts_out facts_of(struct lab_test *t)
{
    if (lab_is_virtual(t))
        return facts_of_node(t);
    struct lab_run *run = lab_run(t, "facts", NULL, 0, sizeof(struct facts_out));
    return *(const struct facts_out *)lab_output(run);
}

static inline void same_number(struct lab_test *t, int gpu, const char *field, uint64_t got,
                               uint64_t want, const char *unit)
{
    lab_expect(t, got == want, "inv_device(%d): %s is %llu, expected %llu (%s)", gpu, field,
               (unsigned long long)got, (unsigned long long)want, unit);
}

/* Compares field by field, so that the first wrong one is named. */
static inline void same_info(struct lab_test *t, int gpu, const struct gpu_info *got,
                             const struct gpu_info *want)
{
    lab_expect(t, !strncmp(got->name, want->name, sizeof got->name),
               "inv_device(%d): name is '%.255s', expected '%s'", gpu, got->name, want->name);
    lab_expect(t, !strncmp(got->bus_id, want->bus_id, sizeof got->bus_id),
               "inv_device(%d): bus_id is '%.15s', expected '%s', as cudaDeviceGetPCIBusId has it",
               gpu, got->bus_id, want->bus_id);
    lab_expect(
        t, !memcmp(got->uuid, want->uuid, sizeof got->uuid),
        "inv_device(%d): the UUID's 16 bytes differ from the properties' (a UUID may contain "
        "zero bytes: it is not a string)",
        gpu);
    same_number(t, gpu, "major", (uint64_t)got->major, (uint64_t)want->major, "capability");
    same_number(t, gpu, "minor", (uint64_t)got->minor, (uint64_t)want->minor, "capability");
    same_number(t, gpu, "sms", (uint64_t)got->sms, (uint64_t)want->sms, "multiprocessors");
    same_number(t, gpu, "copy_engines", (uint64_t)got->copy_engines, (uint64_t)want->copy_engines,
                "asynchronous engines");
    same_number(t, gpu, "clock_mhz", (uint64_t)got->clock_mhz, (uint64_t)want->clock_mhz,
                "MHz; CUDA gives kHz");
    same_number(t, gpu, "memory_bytes", got->memory_bytes, want->memory_bytes, "bytes");
    same_number(t, gpu, "l2_bytes", got->l2_bytes, want->l2_bytes, "bytes");
}

/* Another GPU's description is a mistake of its own: it is said before any field is compared. */
static inline void not_of_another(struct lab_test *t, int gpu, const struct gpu_info *got,
                                  const struct facts_out *facts)
{
    for (int k = 0; k < facts->gpus; k++)
        lab_expect(t, k == gpu || memcmp(got->uuid, facts->info[k].uuid, sizeof got->uuid) != 0,
                   "inv_device(%d) describes GPU %d, by its UUID: was the current device asked, "
                   "not the one with the number?",
                   gpu, k);
}

/* Asks about every GPU there should be and compares. */
static inline void check_all_devices(struct lab_test *t, const struct facts_out *facts)
{
    struct device_in in = {.asked = facts->gpus};
    for (int i = 0; i < facts->gpus; i++)
        in.device[i] = i;
    struct lab_run *run = lab_run(t, "device", &in, sizeof in, sizeof(struct device_out));
    const struct device_out *out = lab_output(run);
    for (int i = 0; i < facts->gpus; i++) {
        char call[48];
        snprintf(call, sizeof call, "inv_device(%d, &info)", i);
        expect_rc(t, call, out->rc[i], LAB_OK);
        not_of_another(t, i, &out->info[i], facts);
        same_info(t, i, &out->info[i], &facts->info[i]);
    }
    lab_expect(t, out->contexts == 0 || !lab_is_virtual(t),
               "inv_device made a context on %d GPUs, expected on none (some hundred MB each): "
               "these questions need no current device",
               out->contexts);
    lab_nothing_leaked(t, run);
}

static inline int count_here(struct lab_test *t)
{
    struct count_in in = {0};
    const struct count_out *out = ASK(t, "count", &in, count_out);
    expect_rc(t, "inv_count(&n)", out->rc, LAB_OK);
    return out->n;
}

/* Sets CUDA_VISIBLE_DEVICES for the next runs and expects so many GPUs. */
static inline void expect_visible(struct lab_test *t, const char *list, int want)
{
    lab_env(t, "CUDA_VISIBLE_DEVICES", list);
    struct count_in in = {0};
    const struct count_out *out = ASK(t, "count", &in, count_out);
    char call[80];
    snprintf(call, sizeof call, "with CUDA_VISIBLE_DEVICES=%s, inv_count(&n)", list);
    expect_rc(t, call, out->rc, LAB_OK);
    int n = out->n;
    lab_expect(t, n == want, "with CUDA_VISIBLE_DEVICES=%s inv_count gave %d GPUs, expected %d",
               list, n, want);
}

static inline void uuid_text(const unsigned char uuid[16], char text[INV_UUID_BYTES])
{
    int at = 0;
    for (int i = 0; i < 16; i++)
        at += snprintf(text + at, (size_t)(INV_UUID_BYTES - at), "%s%02x",
                       i == 0                                  ? "GPU-"
                       : i == 4 || i == 6 || i == 8 || i == 10 ? "-"
                                                               : "",
                       uuid[i]);
}

static inline int untouched(const void *what, size_t bytes)
{
    const unsigned char *byte = what;
    while (bytes > 0 && *byte == IO_FILL)
        byte++, bytes--;
    return bytes == 0;
}

/* Every question must have been answered with `want`, and nothing written. */
static inline void expect_refused(struct lab_test *t, const struct device_in *in, int want)
{
    const struct device_out *out = ASK(t, "device", in, device_out);
    for (int i = 0; i < in->asked; i++) {
        char call[48];
        snprintf(call, sizeof call, in->null ? "inv_device(%d, NULL)" : "inv_device(%d, &info)",
                 in->device[i]);
        expect_rc(t, call, out->rc[i], want);
        expect_clear(t, call, out->last[i]);
        lab_expect(
            t, untouched(&out->info[i], sizeof out->info[i]),
            "%s failed and wrote into *info all the same: fill a struct of your own and copy "
            "it at the end",
            call);
    }
}

#define CONTEXT_MOST ((uint64_t)1 << 30) /* what a context and its heap take of a GPU, at most */

/* What CUDA said in the student's process before question i fits what the node knows: a call can be
 * replaced there. */
static inline void check_cudas_word(struct lab_test *t, const struct mem_in *in,
                                    const struct mem_out *out, int i)
{
    struct lab_device d;
    int gpu = in->device[i];
    if (!lab_device(t, gpu, &d))
        return;
    uint64_t taken = i < in->given_back ? in->taken[gpu] : 0;
    uint64_t left = d.memory_bytes - taken, got = out->true_free[i];
    lab_expect(t, out->true_total[i] == d.memory_bytes && got <= left && left - got <= CONTEXT_MOST,
               "cudaMemGetInfo says %llu of %llu bytes are free on GPU %d, of which the node has "
               "%llu, and %llu of them are taken: was the call replaced?",
               (unsigned long long)got, (unsigned long long)out->true_total[i], gpu,
               (unsigned long long)d.memory_bytes, (unsigned long long)taken);
}

/* Compares the answer to question i with what CUDA said. */
static inline void check_memory_of(struct lab_test *t, const struct mem_in *in,
                                   const struct mem_out *out, int i)
{
    char call[96];
    snprintf(call, sizeof call, "inv_mem(%d, &free, &total)%s", in->device[i],
             i < in->given_back ? "" : ", asked again after memory was freed,");
    expect_rc(t, call, out->rc[i], LAB_OK);
    lab_expect(t,
               out->free_bytes[i] == out->true_free[i] || out->free_bytes[i] != out->true_total[i],
               "%s says %llu bytes are free, expected %llu: that is all of the GPU's memory, and "
               "some of it is in use",
               call, (unsigned long long)out->free_bytes[i], (unsigned long long)out->true_free[i]);
    lab_expect(t, out->total_bytes[i] == out->true_total[i],
               "%s says %llu bytes in all, expected %llu", call,
               (unsigned long long)out->total_bytes[i], (unsigned long long)out->true_total[i]);
    lab_expect(t, out->free_bytes[i] == out->true_free[i],
               "%s says %llu bytes are free, expected %llu (%s)", call,
               (unsigned long long)out->free_bytes[i], (unsigned long long)out->true_free[i],
               i < in->given_back
                   ? "each GPU has another amount free here; was the right one current?"
                   : "what is free changes from call to call: has it been asked for anew?");
    lab_expect(t, out->current[i] == in->current,
               "GPU %d was current before %s, GPU %d after it: the caller's next cudaMalloc "
               "goes to the wrong GPU",
               in->current, call, out->current[i]);
    lab_expect(t, !out->freed[i],
               "%s freed the %llu bytes that the caller had allocated on GPU %d: it only asks "
               "(cudaDeviceReset frees all memory of a GPU)",
               call, (unsigned long long)in->taken[in->device[i]], in->device[i]);
    check_cudas_word(t, in, out, i);
}

/* Asks for the memory of each GPU with `current` current, when so much is taken and when that is
 * free again; compares with CUDA. */
static inline void check_memory(struct lab_test *t, int gpus, int current, uint64_t step)
{
    struct mem_in in = {.asked = 2 * gpus, .current = current, .given_back = gpus};
    for (int i = 0; i < gpus; i++) {
        in.device[i] = in.device[gpus + i] = i;
        in.taken[i] = step * (uint64_t)(i + 1);
    }
    struct lab_run *run = lab_run(t, "mem", &in, sizeof in, sizeof(struct mem_out));
    const struct mem_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++)
        check_memory_of(t, &in, out, i);
    lab_nothing_leaked(t, run);
}

static inline const struct each_out *run_each(struct lab_test *t, const struct each_in *in,
                                              struct lab_run **run)
{
    *run = lab_run(t, "each", in, sizeof *in, sizeof(struct each_out));
    return lab_output(*run);
}

/* n buffers of `bytes`, with GPU `current` current: all must be where they belong. */
static inline void check_each(struct lab_test *t, int n, uint64_t bytes, int current)
{
    struct each_in in = {.bytes = bytes, .n = n, .current = current, .full_gpu = -1};
    struct lab_run *run;
    const struct each_out *out = run_each(t, &in, &run);
    char call[64];
    snprintf(call, sizeof call, "inv_alloc_each(%llu, buffers, %d)", (unsigned long long)bytes, n);
    expect_rc(t, call, out->rc, LAB_OK);
    for (int i = 0; i < n; i++) {
        lab_expect(t, out->gpu[i] >= 0,
                   "%s: buffers[%d] is not memory of its own on any GPU, expected what cudaMalloc "
                   "gave on GPU %d",
                   call, i, i);
        lab_expect(t, out->gpu[i] == i,
                   "%s: buffers[%d] lies on GPU %d, expected GPU %d: cudaMalloc allocates on the "
                   "current device",
                   call, i, out->gpu[i], i);
        lab_expect(t, out->wrong[i] == 0, "%s: buffers[%d] is not %llu bytes long", call, i,
                   (unsigned long long)bytes);
    }
    lab_expect(t, untouched(&out->pointer[n], (size_t)(IO_GPUS - n) * sizeof out->pointer[0]),
               "%s wrote behind buffers[%d]", call, n - 1);
    lab_expect(t, out->current == current, "GPU %d was current before %s, GPU %d after it", current,
               call, out->current);
    const struct lab_witness *w = lab_witness(run);
    for (int i = 0; i < n && w; i++)
        lab_expect(t, w->peak_asked_bytes[i] >= bytes,
                   "%s: of GPU %d no more than %llu bytes were taken at any time", call, i,
                   (unsigned long long)w->peak_asked_bytes[i]);
    lab_nothing_leaked(t, run);
}

/* cudaMalloc takes 0 bytes, and so does this. */
static inline void check_each_empty(struct lab_test *t, int n, int current)
{
    struct each_in in = {.n = n, .current = current, .full_gpu = -1};
    struct lab_run *run;
    const struct each_out *out = run_each(t, &in, &run);
    char call[64];
    snprintf(call, sizeof call, "inv_alloc_each(0, buffers, %d)", n);
    expect_rc(t, call, out->rc, LAB_OK);
    expect_clear(t, call, out->last);
    lab_expect(t, out->current == current, "GPU %d was current before %s, GPU %d after it", current,
               call, out->current);
    lab_nothing_leaked(t, run);
}

/* A call that must fail: nothing written, nothing left allocated, same device. */
static inline void refuse_each(struct lab_test *t, const struct each_in *in, int want)
{
    struct lab_run *run;
    const struct each_out *out = run_each(t, in, &run);
    char call[64];
    snprintf(call, sizeof call, "inv_alloc_each(%llu, %s, %d)", (unsigned long long)in->bytes,
             in->null ? "NULL" : "buffers", in->n);
    expect_rc(t, call, out->rc, want);
    if (in->current >= 0) /* without any GPU, the error is the machine's */
        expect_clear(t, call, out->last);
    lab_expect(t, untouched(out->pointer, sizeof out->pointer),
               "%s failed and changed buffers[] all the same", call);
    lab_expect(t, out->lost < 0,
               "%s failed and freed memory that it had not allocated, on GPU %d: cudaDeviceReset "
               "frees all memory of a GPU; cudaFree each buffer",
               call, out->lost);
    if (in->current >= 0)
        lab_expect(t, out->current == in->current,
                   "%s failed and left GPU %d current; before it was GPU %d: the current device is "
                   "put back on errors, too",
                   call, out->current, in->current);
    lab_refused_leaked_nothing(t, run);
}

#endif
