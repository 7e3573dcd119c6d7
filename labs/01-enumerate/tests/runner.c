/* SPDX-License-Identifier: MIT
 * runner.c: lab 01's adapters: a question from the verifier, the student's function, the answer.
 */
#include <pthread.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runner.h"

#include "io.h"

static int current_gpu(void)
{
    int device = IO_UNSET;
    return cudaGetDevice(&device) == cudaSuccess ? device : IO_UNSET;
}

static int last_error(void)
{
    cudaError_t error = cudaPeekAtLastError();
    (void)cudaGetLastError(); /* what one call left must not be blamed on the next */
    /* Where CUDA cannot start at all (no driver, no device, a device list that makes no sense),
     * every call says so for ever, these two as well: nobody can take that away. */
    return cudaPeekAtLastError() == error ? 0 : (int)error;
}

static void make_current(int device)
{
    if (device >= 0)
        (void)cudaSetDevice(device);
}

/* ---- what CUDA says, without the student's code ---- */

static int attribute(enum cudaDeviceAttr which, int device)
{
    int value = IO_UNSET;
    (void)cudaDeviceGetAttribute(&value, which, device);
    return value;
}

static int fact(int device, struct gpu_info *info)
{
    struct cudaDeviceProp prop;
    memset(info, 0, sizeof *info);
    if (cudaGetDeviceProperties(&prop, device) != cudaSuccess)
        return 0;
    snprintf(info->name, sizeof info->name, "%s", prop.name);
    memcpy(info->uuid, prop.uuid.bytes, sizeof info->uuid);
    (void)cudaDeviceGetPCIBusId(info->bus_id, sizeof info->bus_id, device);
    info->memory_bytes = prop.totalGlobalMem;
    info->major = attribute(cudaDevAttrComputeCapabilityMajor, device);
    info->minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
    info->sms = attribute(cudaDevAttrMultiProcessorCount, device);
    info->copy_engines = attribute(cudaDevAttrAsyncEngineCount, device);
    info->clock_mhz = attribute(cudaDevAttrClockRate, device) / 1000;
    info->l2_bytes = (size_t)attribute(cudaDevAttrL2CacheSize, device);
    return 1;
}

LAB_RUN(facts)
{
    struct facts_out *out = lab_result(io, sizeof *out);
    out->gpus = 0;
    while (out->gpus < IO_GPUS && fact(out->gpus, &out->info[out->gpus]))
        out->gpus++;
}

/* ---- one function each ---- */

LAB_RUN(count)
{
    const struct count_in *in = lab_input(io, sizeof *in);
    struct count_out *out = lab_result(io, sizeof *out);
    out->n = IO_UNSET;
    lab_doing("inv_count(%s)", in->null ? "NULL" : "&n");
    out->rc = inv_count(in->null ? NULL : &out->n);
}

/* Found by the runtime, not by the linker: libcuda.so.1 comes with a GPU's driver. */
static CUresult primary_state(CUdevice device, unsigned *flags, int *active)
{
    CUresult (*call)(CUdevice, unsigned *, int *) = NULL;
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
    (void)cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found, 12000,
                                           cudaEnableDefault, &status);
#else
    (void)cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &found, cudaEnableDefault, &status);
#endif
    memcpy(&call, &found, sizeof call);
    return call ? call(device, flags, active) : CUDA_ERROR_NOT_FOUND;
}

static int contexts_now(void)
{
    int gpus = 0, active, contexts = 0;
    unsigned flags;
    (void)cudaGetDeviceCount(&gpus);
    for (int i = 0; i < gpus; i++) {
        CUresult answer = primary_state(i, &flags, &active);
        if (answer == CUDA_ERROR_NOT_FOUND)
            return -1;
        contexts += answer == CUDA_SUCCESS && active;
    }
    return contexts;
}

LAB_RUN(device)
{
    const struct device_in *in = lab_input(io, sizeof *in);
    struct device_out *out = lab_result(io, sizeof *out);
    memset(out->info, IO_FILL, sizeof out->info);
    for (int i = 0; i < in->asked; i++) {
        lab_doing("inv_device(%d, %s)", in->device[i], in->null ? "NULL" : "&info");
        out->rc[i] = inv_device(in->device[i], in->null ? NULL : &out->info[i]);
        out->last[i] = last_error();
    }
    out->contexts = contexts_now();
}

static void take_memory(const uint64_t *bytes, void **taken)
{
    for (int i = 0; i < IO_GPUS; i++) {
        if (!bytes[i] || cudaSetDevice(i) != cudaSuccess)
            continue;
        if (cudaMalloc(&taken[i], bytes[i]) != cudaSuccess)
            taken[i] = NULL;
    }
}

static void free_all(void *taken[IO_GPUS])
{
    for (int i = 0; i < IO_GPUS; i++) {
        (void)cudaFree(taken[i]);
        taken[i] = NULL;
    }
}

static void ask_memory(const struct mem_in *in, struct mem_out *out, int i)
{
    size_t free_bytes = (size_t)IO_UNSET, total_bytes = (size_t)IO_UNSET;
    make_current(in->current);
    lab_doing("inv_mem(%d, %s, %s)", in->device[i], in->null == 1 ? "NULL" : "&free_bytes",
              in->null == 2 ? "NULL" : "&total_bytes");
    out->rc[i] = inv_mem(in->device[i], in->null == 1 ? NULL : &free_bytes,
                         in->null == 2 ? NULL : &total_bytes);
    out->last[i] = last_error();
    out->current[i] = current_gpu();
    out->free_bytes[i] = free_bytes;
    out->total_bytes[i] = total_bytes;
}

static int is_gone(const void *memory)
{
    struct cudaPointerAttributes at;
    int gone = memory && (cudaPointerGetAttributes(&at, memory) != cudaSuccess ||
                          at.type != cudaMemoryTypeDevice);
    (void)last_error();
    return gone;
}

/* What CUDA says of the GPU of question i, if there is one. */
static void ask_cuda(const struct mem_in *in, struct mem_out *out, int i)
{
    size_t free_bytes = 0, total_bytes = 0;
    if (cudaSetDevice(in->device[i]) == cudaSuccess)
        (void)cudaMemGetInfo(&free_bytes, &total_bytes);
    out->true_free[i] = free_bytes;
    out->true_total[i] = total_bytes;
    (void)last_error();
}

static void lose_gpu(int device)
{
    void *word = NULL;
    (void)cudaSetDevice(device);
    if (cudaMalloc(&word, 1) == cudaSuccess)
        (void)cudaMemset(word, 0, 1);
    (void)cudaDeviceSynchronize();
}

LAB_RUN(mem)
{
    const struct mem_in *in = lab_input(io, sizeof *in);
    struct mem_out *out = lab_result(io, sizeof *out);
    void *taken[IO_GPUS] = {0};
    int gpus = 0;
    (void)cudaGetDeviceCount(&gpus);
    if (in->lost)
        lose_gpu(in->current);
    take_memory(in->taken, taken);
    for (int i = 0; i < gpus && !in->lost; i++)
        (void)cudaSetDevice(i); /* the context takes memory, too */
    for (int i = 0; i < in->asked; i++) {
        if (in->given_back && i == in->given_back)
            free_all(taken);
        if (!in->lost)
            ask_cuda(in, out, i);
        ask_memory(in, out, i);
        int gpu = in->device[i];
        out->freed[i] = !in->lost && gpu >= 0 && gpu < IO_GPUS && is_gone(taken[gpu]);
    }
    free_all(taken);
}

/* Leaves `left` bytes of a GPU's memory. */
static void *fill_gpu(int device, uint64_t left)
{
    void *all = NULL;
    size_t free_bytes = 0, total_bytes = 0;
    if (device < 0 || cudaSetDevice(device) != cudaSuccess)
        return NULL;
    (void)cudaMemGetInfo(&free_bytes, &total_bytes);
    if (free_bytes > left && cudaMalloc(&all, free_bytes - left) != cudaSuccess)
        all = NULL;
    return all;
}

/* Says whose memory `buffer` is, and how many of the bytes at its ends keep what is written. */
static void examine(void *buffer, uint64_t bytes, int *gpu, int *wrong)
{
    struct cudaPointerAttributes at;
    unsigned char got[2] = {0, 0};
    const unsigned char want[2] = {0x3C, 0xC3};
    *gpu = -1;
    *wrong = 0;
    if (cudaPointerGetAttributes(&at, buffer) == cudaSuccess && at.type == cudaMemoryTypeDevice)
        *gpu = at.device;
    if (*gpu < 0 || bytes < 2)
        return;
    (void)cudaMemcpy(buffer, &want[0], 1, cudaMemcpyDefault);
    (void)cudaMemcpy((char *)buffer + bytes - 1, &want[1], 1, cudaMemcpyDefault);
    (void)cudaMemcpy(&got[0], buffer, 1, cudaMemcpyDefault);
    (void)cudaMemcpy(&got[1], (char *)buffer + bytes - 1, 1, cudaMemcpyDefault);
    *wrong = (got[0] != want[0]) + (got[1] != want[1]);
}

/* The caller's own memory, some on each GPU: it is none of the student's business. */
static void own_memory(void **own)
{
    int gpus = 0;
    (void)cudaGetDeviceCount(&gpus);
    for (int i = 0; i < gpus && i < IO_GPUS; i++)
        if (cudaSetDevice(i) == cudaSuccess && cudaMalloc(&own[i], 1) != cudaSuccess)
            own[i] = NULL;
    if (gpus > 0)
        (void)cudaSetDevice(0);
}

/* The first GPU on which it is not there any more, -1: none. Frees it. */
static int lost_memory(void **own)
{
    struct cudaPointerAttributes at;
    int lost = -1;
    for (int i = IO_GPUS - 1; i >= 0; i--) {
        if (!own[i])
            continue;
        if (cudaPointerGetAttributes(&at, own[i]) != cudaSuccess || at.type != cudaMemoryTypeDevice)
            lost = i;
        else
            (void)cudaFree(own[i]);
    }
    (void)last_error();
    return lost;
}

LAB_RUN(each)
{
    const struct each_in *in = lab_input(io, sizeof *in);
    struct each_out *out = lab_result(io, sizeof *out);
    void *buffers[IO_GPUS], *own[IO_GPUS] = {0};
    if (in->lost) /* before the other GPUs have a context: to switch to one takes a new one */
        lose_gpu(in->current);
    else
        own_memory(own);
    void *all = fill_gpu(in->full_gpu, in->left);
    memset(buffers, IO_FILL, sizeof buffers);
    make_current(in->current);
    lab_doing("inv_alloc_each(%zu, %s, %d)", (size_t)in->bytes, in->null ? "NULL" : "buffers",
              in->n);
    out->rc = inv_alloc_each(in->bytes, in->null ? NULL : buffers, in->n);
    out->last = last_error();
    out->current = current_gpu();
    for (int i = 0; i < IO_GPUS; i++) {
        out->pointer[i] = (uint64_t)(uintptr_t)buffers[i];
        out->gpu[i] = -1;
        out->wrong[i] = 0;
        if (out->rc != LAB_OK || i >= in->n)
            continue;
        examine(buffers[i], in->bytes, &out->gpu[i], &out->wrong[i]);
        (void)cudaFree(buffers[i]);
    }
    out->lost = lost_memory(own);
    if (out->lost < 0)
        (void)cudaFree(all);
}

LAB_RUN(bus)
{
    const struct bus_in *in = lab_input(io, sizeof *in);
    struct bus_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < in->asked; i++) {
        out->device[i] = IO_UNSET;
        lab_doing("inv_by_bus(%s, %s)", in->null == 1 ? "NULL" : in->bus_id[i],
                  in->null == 2 ? "NULL" : "&device");
        out->rc[i] = inv_by_bus(in->null == 1 ? NULL : in->bus_id[i],
                                in->null == 2 ? NULL : &out->device[i]);
        out->last[i] = last_error();
    }
}

/* ---- all of them together ---- */

struct asker {
    pthread_barrier_t *turn;
    const struct threads_in *in;
    struct threads_out *out;
    int which;
};

/* The barrier makes thread 0 ask first and thread 1 look at its own device after that. */
static void *ask_from_thread(void *argument)
{
    struct asker *me = argument;
    size_t free_bytes, total_bytes;
    int t = me->which;
    me->out->started_with[t] = current_gpu();
    make_current(me->in->first[t]);
    pthread_barrier_wait(me->turn);
    if (t == 1)
        pthread_barrier_wait(me->turn);
    me->out->rc[t] = inv_mem(me->in->device, &free_bytes, &total_bytes);
    if (t == 0)
        pthread_barrier_wait(me->turn);
    pthread_barrier_wait(me->turn);
    me->out->current[t] = current_gpu();
    return NULL;
}

LAB_RUN(threads)
{
    const struct threads_in *in = lab_input(io, sizeof *in);
    struct threads_out *out = lab_result(io, sizeof *out);
    pthread_barrier_t turn;
    pthread_t thread[2];
    struct asker asker[2];
    pthread_barrier_init(&turn, NULL, 2);
    for (int t = 0; t < 2; t++) {
        asker[t] = (struct asker){&turn, in, out, t};
        pthread_create(&thread[t], NULL, ask_from_thread, &asker[t]);
    }
    for (int t = 0; t < 2; t++)
        pthread_join(thread[t], NULL);
    pthread_barrier_destroy(&turn);
}

LAB_RUN(json)
{
    struct table_out *out = lab_result(io, sizeof *out);
    out->rc = inv_print_json(stdout);
}

LAB_RUN(table)
{
    struct table_out *out = lab_result(io, sizeof *out);
    out->rc = inv_print_table(stdout);
}

/* ---- each call of CUDA fails once ---- */

struct outputs {
    int n, device;
    struct gpu_info info;
    size_t free_bytes, total_bytes;
    void *buffers[2];
};

static int ask_one(const struct refused_in *in, const char *bus_id, struct outputs *o)
{
    switch (in->todo) {
    case 1:
        return inv_count(&o->n);
    case 2:
        return inv_device(0, &o->info);
    case 3:
        return inv_mem(0, &o->free_bytes, &o->total_bytes);
    case 4:
        return inv_alloc_each(4096, o->buffers, 1 + in->current);
    default:
        return inv_by_bus(bus_id, &o->device);
    }
}

static void give_buffers_back(const struct refused_in *in, int rc, struct outputs *o)
{
    for (int i = 0; i <= in->current && in->todo == 4 && rc == LAB_OK; i++)
        (void)cudaFree(o->buffers[i]);
    if (in->todo == 4)
        memset(o->buffers, 0, sizeof o->buffers); /* other addresses are as right */
}

LAB_RUN(refused)
{
    const struct refused_in *in = lab_input(io, sizeof *in);
    struct lab_refusals *told = lab_result(io, sizeof *told);
    struct outputs before, right, now;
    struct lab_refusal *entry;
    char bus_id[16] = "";
    told->calls = 0;
    (void)cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0);
    memset(&before, IO_FILL, sizeof before);
    right = before;
    make_current(in->current);
    give_buffers_back(in, ask_one(in, bus_id, &right), &right);
    do {
        now = before;
        make_current(in->current);
        lab_fail_call(told->calls + 1);
        int rc = ask_one(in, bus_id, &now);
        const char *failed = lab_call_failed();
        int wrote = memcmp(&now, &before, sizeof now) != 0;
        int current = current_gpu(), error = last_error();
        give_buffers_back(in, rc, &now);
        if ((entry = lab_note_refusal(told, failed, rc))) {
            entry->wrote = wrote;
            entry->current = current;
            entry->error = error;
            entry->right = rc == LAB_OK && memcmp(&now, &right, sizeof now) == 0;
        }
    } while (entry);
}

LAB_RUNS = {
    LAB_ENTRY(facts), LAB_ENTRY(count),   LAB_ENTRY(device), LAB_ENTRY(mem),
    LAB_ENTRY(each),  LAB_ENTRY(bus),     LAB_ENTRY(table),  LAB_ENTRY(threads),
    LAB_ENTRY(json),  LAB_ENTRY(refused), LAB_END,
};
