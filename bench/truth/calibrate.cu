// SPDX-License-Identifier: MIT
// calibrate.cu: asks a machine of 1 to 16 GPUs for the figures of a node description;
// grader/calibrate fits them.
//     truth-calibrate [SECONDS [GROUP]...]
// Prints figures, "NAME VALUE" (us, or gbs), and facts, "NAME: TEXT". What SECONDS (default 240)
// leave no time for is printed as "skipped: NAME". GROUPs are the first words of names, default
// all. Progress goes to standard error.
#include "calibrate.h"

int gpus;
static double seconds_allowed = 240;
static std::vector<std::string> groups;
struct gpu gpu[MOST_GPUS];

static double elapsed_s()
{
    static const auto begin = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void progress(const char *what)
{
    fprintf(stderr, "[%3.0f s] %s\n", elapsed_s(), what);
}

void use(int g)
{
    CHECK(cudaSetDevice(g));
}

std::string text(const char *format, ...)
{
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return line;
}

static bool wanted(const std::string &name)
{
    return groups.empty() ||
           std::find(groups.begin(), groups.end(), name.substr(0, name.find('.'))) != groups.end();
}

// One that hangs ends the program after MOST_SECONDS, and what was printed before counts.
void figure(const std::string &name, const std::function<double()> &measure)
{
    const unsigned MOST_SECONDS = 60;
    if (!wanted(name))
        return;
    if (elapsed_s() > seconds_allowed) {
        printf("skipped: %s\n", name.c_str());
        return;
    }
    alarm(MOST_SECONDS);
    double value = measure();
    alarm(0);
    printf("%s %.6g\n", name.c_str(), value);
    fflush(stdout);
}

// The median; as many repetitions as a second allows, and once in virtual time, which is the same
// in every run.
double typical(const std::function<double()> &measure)
{
    std::vector<double> values;
    double begin = elapsed_s();
    measure(); // the first time takes longer
    for (int i = 0; i < (VIRTUAL ? 1 : 7) && (i < 1 || elapsed_s() - begin < 1); i++)
        values.push_back(measure());
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void wait_all()
{
    for (int g = gpus - 1; g >= 0; g--) {
        use(g);
        CHECK(cudaDeviceSynchronize());
    }
}

cudaStream_t stream_of(int g, size_t number)
{
    std::vector<cudaStream_t> &streams = gpu[g].streams;
    use(g);
    while (streams.size() <= number) {
        streams.emplace_back();
        CHECK(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking));
    }
    return streams[number];
}

static __device__ long long spun(long long cycles)
{
    long long start = clock64(), now = start;
    while (now - start < cycles)
        now = clock64();
    return now - start;
}

static __global__ void spin(long long cycles)
{
    spun(cycles);
}

static __global__ void spin_and_tell(long long cycles, long long *told)
{
    *told = spun(cycles);
}

// A kernel that takes this time at the clock of the GPU's description.
void hold(int g, cudaStream_t stream, double us)
{
    use(g);
    spin<<<1, 1, 0, stream>>>(static_cast<long long>(us * gpu[g].clock_khz * 1e-3));
}

// The cycles that such a kernel takes.
double held_cycles(int g, double us)
{
    long long told, *there = reinterpret_cast<long long *>(gpu[g].to);
    use(g);
    spin_and_tell<<<1, 1>>>(static_cast<long long>(us * gpu[g].clock_khz * 1e-3), there);
    CHECK(cudaMemcpy(&told, there, sizeof told, cudaMemcpyDeviceToHost));
    return static_cast<double>(told);
}

// Microseconds on GPU g's first stream of `work`, which is queued behind a kernel of hold_us.
double queued_us(int g, const std::function<void()> &work, double hold_us)
{
    float ms;
    cudaStream_t stream = stream_of(g, 0);
    hold(g, stream, hold_us);
    CHECK(cudaEventRecord(gpu[g].began, stream));
    work();
    use(g);
    CHECK(cudaEventRecord(gpu[g].ended, stream));
    CHECK(cudaEventSynchronize(gpu[g].ended));
    CHECK(cudaEventElapsedTime(&ms, gpu[g].began, gpu[g].ended));
    return static_cast<double>(ms) * 1e3;
}

// The same of one of many that follow each other; what begins and ends them does not count.
double each_us(int g, int count, const std::function<void()> &one)
{
    auto many = [&](int n) {
        return typical([&] {
            return queued_us(g, [&] {
                for (int i = 0; i < n; i++)
                    one();
            });
        });
    };
    double first = many(1);
    return (many(1 + count) - first) / count;
}

double host_time(const std::function<void()> &work)
{
    double begin = host_us();
    work();
    return host_us() - begin;
}

// ---- facts ----

static int attribute(int g, cudaDeviceAttr name)
{
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, name, g));
    return value;
}

// The first line of a file in a GPU's folder of /sys, or "" if it cannot be read.
static std::string system_line(const char *pci, const char *file)
{
    std::string path = text("/sys/bus/pci/devices/%s/%s", pci, file), line;
    for (char &c : path)
        c = static_cast<char>(tolower(c));
    if (FILE *in = VIRTUAL ? nullptr : fopen(path.c_str(), "r")) {
        char word[200] = "";
        if (fscanf(in, "%199[^\n]", word) == 1)
            line = word;
        fclose(in);
    }
    return line;
}

static void tell_gpu(int g)
{
    static const struct {
        const char *name;
        cudaDeviceAttr attribute;
    } numbers[] = {{"sms", cudaDevAttrMultiProcessorCount},
                   {"l2_bytes", cudaDevAttrL2CacheSize},
                   {"clock_khz", cudaDevAttrClockRate},
                   {"memory_clock_khz", cudaDevAttrMemoryClockRate},
                   {"memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth},
                   {"shared_per_block", cudaDevAttrMaxSharedMemoryPerBlock},
                   {"shared_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin},
                   {"shared_per_sm", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
                   {"threads_per_sm", cudaDevAttrMaxThreadsPerMultiProcessor},
                   {"blocks_per_sm", cudaDevAttrMaxBlocksPerMultiprocessor},
                   {"regs_per_block", cudaDevAttrMaxRegistersPerBlock},
                   {"regs_per_sm", cudaDevAttrMaxRegistersPerMultiprocessor},
                   {"constant_bytes", cudaDevAttrTotalConstantMemory},
                   {"async_engines", cudaDevAttrAsyncEngineCount},
                   {"ecc", cudaDevAttrEccEnabled}};
    cudaDeviceProp p;
    char pci[32];
    CHECK(cudaGetDeviceProperties(&p, g));
    CHECK(cudaDeviceGetPCIBusId(pci, sizeof pci, g));
    printf("gpu[%d].name: %s\n", g, p.name);
    printf("gpu[%d].capability: %d %d\n", g, p.major, p.minor);
    printf("gpu[%d].total_bytes: %zu\n", g, p.totalGlobalMem);
    for (const auto &n : numbers)
        printf("gpu[%d].%s: %d\n", g, n.name, attribute(g, n.attribute));
    std::string numa = system_line(pci, "numa_node");
    printf("gpu[%d].pci: %s\n", g, pci);
    printf("gpu[%d].numa: %s\n", g,
           numa.empty() ? text("%d", attribute(g, cudaDevAttrHostNumaId)).c_str() : numa.c_str());
    printf("gpu[%d].cpus: %s\n", g, system_line(pci, "local_cpulist").c_str());
    gpu[g].clock_khz = attribute(g, cudaDevAttrClockRate);
    gpu[g].l2_bytes = static_cast<size_t>(attribute(g, cudaDevAttrL2CacheSize));
    gpu[g].processors = attribute(g, cudaDevAttrMultiProcessorCount);
}

static void tell_pair(int i, int j)
{
    int access, atomics = 0;
    CHECK(cudaDeviceCanAccessPeer(&access, i, j));
    if (access)
        CHECK(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, i, j));
    gpu[i].reaches[j] = access != 0;
    printf("peer[%d,%d]: %d %d\n", i, j, access, atomics);
}

// What the machine's own tool says of the links; the figures do without it, labels do not.
static void tell_links(const char *arguments)
{
    std::string command = text("%s %s 2>&1", VIRTUAL ? "vgpu-smi" : "nvidia-smi", arguments);
    char line[1024];
    FILE *out = popen(command.c_str(), "r");
    while (out && fgets(line, sizeof line, out))
        printf("smi: %s%s", line, strchr(line, '\n') ? "" : "\n");
    if (out)
        pclose(out);
}

static void tell_machine(int found)
{
    int driver;
    CHECK(cudaDriverGetVersion(&driver));
    printf("calibrate: 1\nvirtual: %d\nfound: %d\ngpus: %d\ndriver: %d\n", VIRTUAL, found, gpus,
           driver);
    tell_links("topo -m");
    tell_links("topo -p2p r");
    for (int g = 0; g < gpus; g++)
        tell_gpu(g);
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++)
            if (i != j)
                tell_pair(i, j);
    fflush(stdout);
}

static void allocate()
{
    for (int g = 0; g < gpus; g++) {
        use(g);
        CHECK(cudaMalloc(&gpu[g].from, CURVE_BYTES));
        CHECK(cudaMalloc(&gpu[g].to, CURVE_BYTES));
        CHECK(cudaMemset(gpu[g].from, 0, CURVE_BYTES));
        CHECK(cudaMemset(gpu[g].to, 0, CURVE_BYTES));
        size_t host = g ? RATE_BYTES : CURVE_BYTES;
        CHECK(cudaMallocHost(&gpu[g].host_in, host));
        CHECK(cudaMallocHost(&gpu[g].host_out, host));
        memset(gpu[g].host_in, 1, host);
        CHECK(cudaEventCreate(&gpu[g].began));
        CHECK(cudaEventCreate(&gpu[g].ended));
        CHECK(cudaEventCreateWithFlags(&gpu[g].joined, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&gpu[g].other, cudaEventDisableTiming));
    }
    wait_all();
}

// A GPU may have no more than eight peers without NVSwitch; those beyond are as if they had no
// access.
static void enable_access()
{
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++)
            if (gpu[i].reaches[j]) {
                use(i);
                gpu[i].reaches[j] = cudaDeviceEnablePeerAccess(j, 0) == cudaSuccess;
                (void)cudaGetLastError();
            }
}

int main(int count, char **words)
{
    if (count > 1)
        seconds_allowed = atof(words[1]);
    for (int i = 2; i < count; i++)
        groups.emplace_back(words[i]);
    setvbuf(stdout, nullptr, _IOLBF, 0);
    prepare_messages();
    cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess || gpus == 0) {
        fprintf(stderr, "no GPU to measure: %s\n",
                error == cudaSuccess ? "cudaGetDeviceCount found none" : cudaGetErrorString(error));
        return 77;
    }
    int found = gpus;
    gpus = std::min(gpus, static_cast<int>(MOST_GPUS));
    tell_machine(found);
    allocate();
    measure_messages();
    measure_calls();
    measure_kernels();
    measure_staged();
    enable_access();
    measure_curves();
    measure_host_links();
    measure_peer_links();
    measure_graphs();
    return 0;
}
