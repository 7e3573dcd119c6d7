// SPDX-License-Identifier: MIT
// Every collective with every type and operation, on all GPUs there are, checked element by
// element. How the ranks run: "thread" (one thread for all GPUs, in groups), "threads" (a thread a
// GPU), "processes" (a process a GPU). Odd counts, several slots, in place and out of place.
#include "check.h"

#include <math.h>
#include <nccl.h> // has the numbers of 16 and of 8 bits, as NVIDIA's
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t nccl_result = (call);                                                         \
        if (nccl_result != ncclSuccess) {                                                          \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(nccl_result)); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int gpus;

// ---- elements ----

// Small whole numbers, different in every rank and place; sums and products of 8 stay exact.
static int number(int rank, size_t i, int op)
{
    if (op == ncclProd)
        return 1 + (int)((i + (size_t)rank) % 2);
    return (int)((i * 7 + (size_t)rank * 3) % 11);
}

static double reduced(size_t i, int op)
{
    double value = number(0, i, op);
    for (int r = 1; r < gpus; r++) {
        double other = number(r, i, op);
        value = op == ncclProd  ? value * other
                : op == ncclMax ? fmax(value, other)
                : op == ncclMin ? fmin(value, other)
                                : value + other;
    }
    return op == ncclAvg ? value / gpus : value;
}

static size_t bytes_of(ncclDataType_t type)
{
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return bytes[type];
}

static void put(void *at, size_t i, ncclDataType_t type, double value)
{
    switch (type) {
    case ncclInt8:
        ((int8_t *)at)[i] = (int8_t)value;
        break;
    case ncclUint8:
        ((uint8_t *)at)[i] = (uint8_t)value;
        break;
    case ncclInt32:
        ((int32_t *)at)[i] = (int32_t)value;
        break;
    case ncclUint32:
        ((uint32_t *)at)[i] = (uint32_t)value;
        break;
    case ncclInt64:
        ((int64_t *)at)[i] = (int64_t)value;
        break;
    case ncclUint64:
        ((uint64_t *)at)[i] = (uint64_t)value;
        break;
    case ncclFloat16:
        ((__half *)at)[i] = __float2half((float)value);
        break;
    case ncclFloat32:
        ((float *)at)[i] = (float)value;
        break;
    case ncclFloat64:
        ((double *)at)[i] = value;
        break;
    case ncclFloat8e4m3:
        ((__nv_fp8_e4m3 *)at)[i] = __nv_fp8_e4m3(value);
        break;
    case ncclFloat8e5m2:
        ((__nv_fp8_e5m2 *)at)[i] = __nv_fp8_e5m2(value);
        break;
    default:
        ((__nv_bfloat16 *)at)[i] = __float2bfloat16((float)value);
        break;
    }
}

static double get(const void *at, size_t i, ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
        return ((const int8_t *)at)[i];
    case ncclUint8:
        return ((const uint8_t *)at)[i];
    case ncclInt32:
        return ((const int32_t *)at)[i];
    case ncclUint32:
        return ((const uint32_t *)at)[i];
    case ncclInt64:
        return (double)((const int64_t *)at)[i];
    case ncclUint64:
        return (double)((const uint64_t *)at)[i];
    case ncclFloat16:
        return __half2float(((const __half *)at)[i]);
    case ncclFloat32:
        return ((const float *)at)[i];
    case ncclFloat64:
        return ((const double *)at)[i];
    case ncclFloat8e4m3:
        return (double)((const __nv_fp8_e4m3 *)at)[i];
    case ncclFloat8e5m2:
        return (double)((const __nv_fp8_e5m2 *)at)[i];
    default:
        return __bfloat162float(((const __nv_bfloat16 *)at)[i]);
    }
}

// What an element of that type must be: whole types are divided downwards.
static double as_type(double value, ncclDataType_t type)
{
    char place[8];
    put(place, 0, type, type <= ncclUint64 ? floor(value) : value);
    return get(place, 0, type);
}

static double allowed(ncclDataType_t type, int op, double value)
{
    if (type == ncclFloat8e4m3 || type == ncclFloat8e5m2)
        return fabs(value) * (type == ncclFloat8e4m3 ? 0.0625 : 0.125) * gpus; // of 3 and 2 bits
    if (op != ncclAvg || type <= ncclUint64)
        return 0;
    double step = type == ncclFloat16 ? 1e-3 : type == ncclBfloat16 ? 8e-3 : 1e-6;
    return fabs(value) * step * gpus; // scaled first, then summed: a rounding a rank
}

// ---- a rank ----

struct rank {
    int number;
    ncclComm_t comm;
    cudaStream_t stream;
    char *send, *recv; // on its GPU
};

enum { MOST = 8 * (1 << 21) };

static void open_rank(struct rank *r)
{
    MUST(cudaSetDevice(r->number));
    MUST(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
    MUST(cudaMalloc(&r->send, MOST));
    MUST(cudaMalloc(&r->recv, MOST));
}

static void close_rank(struct rank *r)
{
    MUST(cudaSetDevice(r->number));
    NCCL(ncclCommDestroy(r->comm));
    MUST(cudaFree(r->send));
    MUST(cudaFree(r->recv));
    MUST(cudaStreamDestroy(r->stream));
}

struct test {
    const char *name;
    ncclDataType_t type;
    ncclRedOp_t op;
    size_t count;
    int root;
    bool in_place;
};

static bool is(const struct test *t, const char *name)
{
    return strcmp(t->name, name) == 0;
}

// Elements that a rank gives and gets.
static size_t given(const struct test *t)
{
    bool blocks = is(t, "reduce-scatter") || is(t, "all-to-all") || is(t, "scatter");
    return t->count * (blocks ? (size_t)gpus : 1);
}

static size_t got(const struct test *t)
{
    bool blocks =
        is(t, "all-gather") || is(t, "send-recv") || is(t, "all-to-all") || is(t, "gather");
    return t->count * (blocks ? (size_t)gpus : 1);
}

// Where the input lies: in place it is inside the output, or around it.
static char *input_of(const struct rank *r, const struct test *t)
{
    if (!t->in_place)
        return r->send;
    bool inside = is(t, "all-gather") || is(t, "gather");
    return inside ? r->recv + r->number * t->count * bytes_of(t->type) : r->recv;
}

static char *output_of(const struct rank *r, const struct test *t)
{
    bool inside = t->in_place && is(t, "reduce-scatter");
    return inside ? r->recv + r->number * t->count * bytes_of(t->type) : r->recv;
}

static void fill(const struct rank *r, const struct test *t)
{
    std::vector<char> data(given(t) * bytes_of(t->type) + 1);
    for (size_t i = 0; i < given(t); i++)
        put(data.data(), i, t->type, number(r->number, i, t->op));
    MUST(cudaSetDevice(r->number));
    MUST(cudaMemset(r->recv, 0xa5, got(t) * bytes_of(t->type)));
    MUST(cudaMemcpy(input_of(r, t), data.data(), given(t) * bytes_of(t->type),
                    cudaMemcpyHostToDevice));
}

static void issue(const struct rank *r, const struct test *t)
{
    const char *send = input_of(r, t);
    char *recv = output_of(r, t);
    if (is(t, "all-reduce"))
        NCCL(ncclAllReduce(send, recv, t->count, t->type, t->op, r->comm, r->stream));
    else if (is(t, "reduce"))
        NCCL(ncclReduce(send, recv, t->count, t->type, t->op, t->root, r->comm, r->stream));
    else if (is(t, "reduce-scatter"))
        NCCL(ncclReduceScatter(send, recv, t->count, t->type, t->op, r->comm, r->stream));
    else if (is(t, "all-gather"))
        NCCL(ncclAllGather(send, recv, t->count, t->type, r->comm, r->stream));
    else if (is(t, "broadcast"))
        NCCL(ncclBroadcast(send, recv, t->count, t->type, t->root, r->comm, r->stream));
    else if (is(t, "all-to-all"))
        NCCL(ncclAlltoAll(send, recv, t->count, t->type, r->comm, r->stream));
    else if (is(t, "gather"))
        NCCL(ncclGather(send, recv, t->count, t->type, t->root, r->comm, r->stream));
    else if (is(t, "scatter"))
        NCCL(ncclScatter(send, recv, t->count, t->type, t->root, r->comm, r->stream));
    else if (is(t, "scaled sum")) { // each rank's by its number + 1
        const float scalar = (float)r->number + 1;
        ncclRedOp_t op;
        NCCL(ncclRedOpCreatePreMulSum(&op, (void *)&scalar, t->type, ncclScalarHostImmediate,
                                      r->comm));
        NCCL(ncclAllReduce(send, recv, t->count, t->type, op, r->comm, r->stream));
        NCCL(ncclRedOpDestroy(op, r->comm));
    } else { // everybody to everybody, itself too
        NCCL(ncclGroupStart());
        for (int p = 0; p < gpus; p++) {
            NCCL(ncclSend(send, t->count, t->type, p, r->comm, r->stream));
            NCCL(ncclRecv(recv + p * t->count * bytes_of(t->type), t->count, t->type, p, r->comm,
                          r->stream));
        }
        NCCL(ncclGroupEnd());
    }
}

static double expected(const struct rank *r, const struct test *t, size_t i)
{
    if (is(t, "reduce-scatter"))
        return reduced((size_t)r->number * t->count + i, t->op);
    if (is(t, "all-to-all"))
        return number((int)(i / t->count), (size_t)r->number * t->count + i % t->count, t->op);
    if (is(t, "scatter"))
        return number(t->root, (size_t)r->number * t->count + i, t->op);
    if (is(t, "scaled sum")) {
        double sum = 0;
        for (int rank = 0; rank < gpus; rank++)
            sum += number(rank, i, t->op) * (rank + 1);
        return sum;
    }
    if (is(t, "all-gather") || is(t, "send-recv") || is(t, "gather"))
        return number((int)(i / t->count), i % t->count, t->op);
    if (is(t, "broadcast"))
        return number(t->root, i, t->op);
    return reduced(i, t->op);
}

// In a graph, launched once.
static void issue_captured(const struct rank *r, const struct test *t)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaSetDevice(r->number));
    MUST(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
    issue(r, t);
    MUST(cudaStreamEndCapture(r->stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, r->stream));
    MUST(cudaStreamSynchronize(r->stream));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}

static void check(const struct rank *r, const struct test *t)
{
    std::vector<char> data(got(t) * bytes_of(t->type) + 1);
    MUST(cudaSetDevice(r->number));
    MUST(cudaStreamSynchronize(r->stream));
    if ((is(t, "reduce") || is(t, "gather")) && r->number != t->root)
        return;
    MUST(cudaMemcpy(data.data(), output_of(r, t), got(t) * bytes_of(t->type),
                    cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got(t); i++) {
        double want = as_type(expected(r, t, i), t->type), have = get(data.data(), i, t->type);
        if (!(fabs(want - have) <= allowed(t->type, t->op, want))) {
            printf("%s, type %d, op %d, %zu elements%s: rank %d of %d, element %zu is %g, "
                   "expected %g\n",
                   t->name, t->type, t->op, t->count, t->in_place ? " in place" : "", r->number,
                   gpus, i, have, want);
            exit(1);
        }
    }
}

// ---- what is tested ----

// Where there is no root, the first two differ in whether they are in place, and the rest in
// nothing. With many elements two roots have to do: which rank it is, the smaller counts ask of
// each.
static int roots(const char *name, size_t count)
{
    bool has_root = strcmp(name, "reduce") == 0 || strcmp(name, "broadcast") == 0;
    return has_root && count < 100000 ? gpus : gpus < 2 ? gpus : 2;
}

static std::vector<struct test> all_tests()
{
    static const char *const reducing[] = {"all-reduce", "reduce", "reduce-scatter"};
    static const char *const moving[] = {"all-gather", "broadcast", "send-recv"};
    std::vector<struct test> tests;
    for (int type = 0; type < ncclNumTypes; type++)
        for (int op = 0; op < ncclNumOps; op++)
            for (int k = 0; k < 3; k++)
                tests.push_back({reducing[k], (ncclDataType_t)type, (ncclRedOp_t)op,
                                 (size_t)(101 + 13 * op), type % gpus, (type + op + k) % 2 == 0});
    for (int k = 0; k < 3; k++)
        for (size_t count : {(size_t)0, (size_t)1, (size_t)3, (size_t)1021, (size_t)150001}) {
            for (int root = 0; root < roots(moving[k], count); root++)
                tests.push_back(
                    {moving[k], ncclFloat32, ncclSum, count, root, root % 2 == 1 && k < 2});
            for (int root = 0; root < roots(reducing[k], count); root++)
                tests.push_back({reducing[k], ncclInt32, ncclSum, count, root, root % 2 == 1});
        }
    tests.push_back({"all-reduce", ncclFloat32, ncclSum, 300007, 0, false}); // several rounds
    for (size_t count : {(size_t)0, (size_t)1, (size_t)1021, (size_t)70001}) {
        tests.push_back({"all-to-all", ncclFloat32, ncclSum, count, 0, false});
        tests.push_back({"scaled sum", ncclFloat32, ncclSum, count, 0, false});
        for (int root = 0; root<gpus; root += gpus> 1 ? gpus - 1 : 1) {
            tests.push_back({"gather", ncclInt32, ncclSum, count, root, root != 0});
            tests.push_back({"scatter", ncclFloat64, ncclSum, count, root, false});
        }
    }
    return tests;
}

static void run_together(std::vector<struct rank> &ranks, const std::vector<struct test> &tests)
{
    for (const struct test &t : tests) {
        for (struct rank &r : ranks)
            fill(&r, &t);
        NCCL(ncclGroupStart());
        for (struct rank &r : ranks)
            issue(&r, &t);
        NCCL(ncclGroupEnd());
        for (struct rank &r : ranks)
            check(&r, &t);
    }
}

static void run_alone(struct rank *r)
{
    const struct test captured = {"send-recv", ncclFloat32, ncclSum, 1021, 0, false};
    fill(r, &captured);
    issue_captured(r, &captured);
    check(r, &captured);
    for (const struct test &t : all_tests()) {
        fill(r, &t);
        issue(r, &t);
        check(r, &t);
    }
}

// ---- how the ranks run ----

static void by_one_thread()
{
    std::vector<struct rank> ranks(gpus);
    std::vector<ncclComm_t> comms(gpus);
    NCCL(ncclCommInitAll(comms.data(), gpus, NULL));
    for (int r = 0; r < gpus; r++) {
        ranks[r].number = r;
        ranks[r].comm = comms[r];
        open_rank(&ranks[r]);
    }
    run_together(ranks, all_tests());
    for (struct rank &r : ranks)
        close_rank(&r);
}

struct start {
    int rank;
    ncclUniqueId id;
};

static void *one_rank(void *argument)
{
    struct start *start = (struct start *)argument;
    struct rank r = {};
    int count, device, self;
    r.number = start->rank;
    open_rank(&r);
    NCCL(ncclCommInitRank(&r.comm, gpus, start->id, start->rank));
    NCCL(ncclCommCount(r.comm, &count));
    NCCL(ncclCommCuDevice(r.comm, &device));
    NCCL(ncclCommUserRank(r.comm, &self));
    if (count != gpus || device != start->rank || self != start->rank) {
        printf("rank %d: count %d, device %d, rank %d\n", start->rank, count, device, self);
        exit(1);
    }
    ncclWindow_t windows[2];
    NCCL(ncclCommWindowRegister(r.comm, r.send, MOST, &windows[0], NCCL_WIN_COLL_SYMMETRIC));
    NCCL(ncclCommWindowRegister(r.comm, r.recv, MOST, &windows[1], NCCL_WIN_DEFAULT));
    run_alone(&r);
    for (ncclWindow_t window : windows)
        NCCL(ncclCommWindowDeregister(r.comm, window));
    NCCL(ncclCommFinalize(r.comm));
    close_rank(&r);
    return NULL;
}

static void by_threads()
{
    std::vector<pthread_t> thread(gpus);
    std::vector<struct start> start(gpus);
    NCCL(ncclGetUniqueId(&start[0].id));
    for (int r = 0; r < gpus; r++) {
        start[r] = {r, start[0].id};
        pthread_create(&thread[r], NULL, one_rank, &start[r]);
    }
    for (int r = 0; r < gpus; r++)
        pthread_join(thread[r], NULL);
}

// The first process makes the id and passes it on through pipes.
static int by_processes(int count)
{
    std::vector<pid_t> child(count);
    int failed = 0, pipes[64][2];
    for (int r = 0; r < count; r++)
        if (pipe(pipes[r]) != 0)
            return 1;
    for (int r = 0; r < count; r++) {
        child[r] = fork();
        if (child[r] != 0)
            continue;
        struct start start = {r, {}};
        gpus = count;
        if (r == 0) {
            NCCL(ncclGetUniqueId(&start.id));
            for (int other = 1; other < count; other++)
                failed |= write(pipes[other][1], &start.id, sizeof start.id) < 0;
        } else {
            failed |= read(pipes[r][0], &start.id, sizeof start.id) != sizeof start.id;
        }
        one_rank(&start);
        exit(failed);
    }
    for (int r = 0; r < count; r++) {
        int status;
        waitpid(child[r], &status, 0);
        failed |= status != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "thread";
    if (strcmp(how, "processes") == 0) { // before any call of CUDA: its processes are forked
        int count = argc > 2 ? atoi(argv[2]) : 2;
        int failed = by_processes(count);
        printf("%s, %d ranks: %s\n", how, count, failed ? "wrong" : "right");
        return failed;
    }
    MUST(cudaGetDeviceCount(&gpus));
    if (argc > 2 && atoi(argv[2]) < gpus)
        gpus = atoi(argv[2]);
    strcmp(how, "thread") == 0 ? by_one_thread() : by_threads();
    printf("%s, %d ranks: right\n", how, gpus);
    return 0;
}
