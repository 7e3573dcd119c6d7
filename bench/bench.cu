/* SPDX-License-Identifier: MIT
 * bench.cu: measures the cost of the virtual node, with the goal of each figure and a reference
 * from the same run. README.md beside it explains the figures.
 *
 * The program starts itself (`--first`, `--idle`) for measurements that need a separate node.
 */
#include "bench.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

struct sizes {
    long floats = 16 << 20;
    size_t copy_bytes = 256u << 20;
    int launches = 2001, runs = 5, starts = 7;
};

struct took {
    double wall, cpu;
};

char node_id[64];

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

void figure(const char *name, const char *goal, bool held, const char *format, ...)
{
    char value[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    printf("%-24s %-16s %-4s %s\n", name, goal, held ? "yes" : "NO", value);
    fflush(stdout);
}

/* The least wall time of a few runs, and the least CPU time of the node's processes. */
template <typename Work> took least(int runs, Work work)
{
    took best = {1e9, 1e9};
    for (int i = 0; i < runs; i++) {
        double cpu = node_cpu_seconds(node_id), wall = peer_seconds();
        work();
        check(cudaDeviceSynchronize(), "a measured kernel");
        best.wall = std::min(best.wall, peer_seconds() - wall);
        best.cpu = std::min(best.cpu, node_cpu_seconds(node_id) - cpu);
    }
    return best;
}

template <typename Work> double least_here(int runs, Work work)
{
    double best = 1e9;
    for (int i = 0; i < runs; i++) {
        double start = peer_seconds();
        work();
        best = std::min(best, peer_seconds() - start);
    }
    return best;
}

/* ---- a separate node ---- */

/* The output of this program for `argument`: a number or two. */
std::vector<double> ask(const char *self, const char *argument)
{
    std::string command = std::string("'") + self + "' " + argument;
    std::vector<double> answer;
    FILE *pipe = popen(command.c_str(), "r");
    for (double value; pipe && fscanf(pipe, "%lf", &value) == 1;)
        answer.push_back(value);
    if (!pipe || pclose(pipe) != 0 || answer.empty()) {
        fprintf(stderr, "bench: %s failed\n", command.c_str());
        exit(1);
    }
    return answer;
}

void own_node(const char *name, const char *node)
{
    snprintf(node_id, sizeof node_id, "bench-%s-%d", name, (int)getpid());
    setenv("VGPU_NODE_ID", node_id, 1);
    setenv("VGPU_NODE", node, 1);
}

int first()
{
    int count;
    own_node("first", "dgx-a100");
    double start = peer_seconds();
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    check(cudaFree(nullptr), "cudaFree(0)");
    printf("%f %d\n", (peer_seconds() - start) * 1e3, count);
    return 0;
}

int idle()
{
    int count;
    own_node("idle", "dgx-a100");
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (int d = 0; d < count; d++) {
        check(cudaSetDevice(d), "cudaSetDevice");
        check(cudaFree(nullptr), "cudaFree(0)");
    }
    double unused = node_megabytes(node_id);
    for (int d = 0; d < count; d++) {
        check(cudaSetDevice(d), "cudaSetDevice");
        launch_nop();
        check(cudaDeviceSynchronize(), "nop");
    }
    printf("%f %f\n", unused, node_megabytes(node_id));
    return 0;
}

/* The least CPU seconds over a few runs of a streaming kernel, and of one with barriers. */
int checked(const sizes &s)
{
    own_node("checked", "hgx-h200-4");
    float *a, *b, *c;
    size_t bytes = (size_t)s.floats * sizeof(float);
    check(cudaMalloc(&a, bytes), "cudaMalloc");
    check(cudaMalloc(&b, bytes), "cudaMalloc");
    check(cudaMalloc(&c, bytes), "cudaMalloc");
    launch_fill(a, s.floats);
    launch_fill(b, s.floats);
    double add = least(s.runs, [&] { launch_add(a, b, c, s.floats); }).cpu;
    double reduce = least(s.runs, [&] { launch_reduce(a, c, (unsigned)(s.floats / BLOCK)); }).cpu;
    for (float *p : {a, b, c})
        check(cudaFree(p), "cudaFree");
    printf("%f %f\n", add, reduce);
    return 0;
}

/* ---- the figures ---- */

void starting(const char *self, const sizes &s)
{
    std::vector<double> took;
    for (int i = 0; i < s.starts; i++)
        took.push_back(ask(self, "--first")[0]);
    std::sort(took.begin(), took.end());
    double median = took[took.size() / 2];
    figure("first call", "<= 50 ms", median <= 50, "%.1f ms (median of %zu; least %.1f)", median,
           took.size(), took[0]);
    std::vector<double> used = ask(self, "--idle");
    figure("idle node", "< 64 MiB", used[0] < 64, "%.1f MiB", used[0]);
    figure("8 contexts", "< 64 MiB", used[1] < 64, "%.1f MiB", used[1]);
}

void launching(const sizes &s)
{
    std::vector<double> took;
    double cpu = node_cpu_seconds(node_id);
    for (int i = 0; i < s.launches; i++) {
        double start = peer_seconds();
        launch_nop();
        check(cudaDeviceSynchronize(), "nop");
        took.push_back((peer_seconds() - start) * 1e6);
    }
    cpu = (node_cpu_seconds(node_id) - cpu) * 1e6 / s.launches;
    std::sort(took.begin(), took.end());
    double median = took[took.size() / 2], trip = peer_round_trip_us();
    figure("launch", "<= 15 us", median <= 15,
           "%.1f us (median; least %.1f); CPU %.1f us; a message to another process and back: "
           "least %.1f us, ratio %.1f",
           median, took[0], cpu, trip, took[0] / trip);
}

/* ---- kernels of two GPUs ---- */

struct pair {
    float *in[2], *out[2];
};

template <typename Launch> void on_both(const pair &p, bool waits, Launch launch)
{
    for (int d = 0; d < 2; d++) {
        check(cudaSetDevice(d), "cudaSetDevice");
        launch(p.in[d], p.out[d]);
        if (waits)
            check(cudaDeviceSynchronize(), "a kernel of two");
    }
    for (int d = 1; d >= 0; d--) {
        check(cudaSetDevice(d), "cudaSetDevice");
        check(cudaDeviceSynchronize(), "kernels of two GPUs");
    }
}

template <typename Launch> void both(const char *name, const sizes &s, const pair &p, Launch launch)
{
    took after = least(s.runs, [&] { on_both(p, true, launch); });
    took at_once = least(s.runs, [&] { on_both(p, false, launch); });
    double ratio = at_once.wall / after.wall, used = at_once.cpu / at_once.wall;
    figure(name, "all processors", used > 0.8 * (double)sysconf(_SC_NPROCESSORS_ONLN),
           "%.1f ms at once, %.1f ms one after the other, ratio %.2f; processors in use: %.1f",
           at_once.wall * 1e3, after.wall * 1e3, ratio, used);
}

void pairing(const sizes &s)
{
    pair p;
    for (int d = 1; d >= 0; d--) {
        check(cudaSetDevice(d), "cudaSetDevice");
        for (float **at : {&p.in[d], &p.out[d]})
            check(cudaMalloc(at, (size_t)s.floats * sizeof(float)), "cudaMalloc");
        launch_fill(p.in[d], s.floats);
    }
    both("two GPUs", s, p, [&](float *in, float *out) { launch_add(in, in, out, s.floats); });
    both("two GPUs, atomics", s, p,
         [&](float *in, float *out) { launch_count(in, (unsigned *)out, s.floats); });
    for (int d = 0; d < 2; d++) {
        check(cudaFree(p.in[d]), "cudaFree");
        check(cudaFree(p.out[d]), "cudaFree");
    }
}

void adding(const sizes &s, float *a, float *b, float *c, const std::vector<float> &host)
{
    std::vector<float> out(host.size());
    took node = least(s.runs, [&] { launch_add(a, b, c, s.floats); });
    double peer =
        least_here(s.runs, [&] { peer_add(host.data(), host.data(), out.data(), s.floats); });
    figure("vector add", "< 114 ms", node.wall * 1e3 < 114,
           "%.1f ms, CPU %.1f ms; plain C on %d CPUs %.1f ms, ratio %.1f", node.wall * 1e3,
           node.cpu * 1e3, peer_threads(), peer * 1e3, node.wall / peer);
}

/* The cost of the detectors in kernels, which run in the careful form with them: against that form
 * without them, and against the fast one. */
void checking(const char *self, bool tiny)
{
    const char *argument = tiny ? "--checked-tiny" : "--checked";
    setenv("VGPU_CHECK", "none", 1);
    std::vector<double> fast = ask(self, argument);
    setenv("VGPU_FORM", "careful", 1);
    std::vector<double> without = ask(self, argument);
    unsetenv("VGPU_FORM");
    setenv("VGPU_CHECK", "all", 1);
    std::vector<double> with = ask(self, argument);
    unsetenv("VGPU_CHECK");
    static const char *const names[] = {"vector add, checked", "reduction, checked"};
    for (int i = 0; i < 2; i++)
        figure(names[i], "ratio <= 8", with[i] / without[i] <= 8,
               "CPU %.1f ms; VGPU_CHECK=all / none: CPU %.1f; none in the fast form: %.1f",
               with[i] * 1e3, with[i] / without[i], with[i] / fast[i]);
}

void reducing(const sizes &s, float *in, float *out, const std::vector<float> &host)
{
    const unsigned blocks = (unsigned)(s.floats / BLOCK);
    std::vector<float> mine(blocks), theirs(blocks);
    took node = least(s.runs, [&] { launch_reduce(in, out, blocks); });
    check(cudaMemcpy(mine.data(), out, blocks * sizeof(float), cudaMemcpyDeviceToHost), "sums");
    double peer = least_here(s.runs, [&] { peer_reduce(host.data(), theirs.data(), blocks); });
    double floor = 1e9;
    for (int i = 0; i < s.runs; i++)
        floor = std::min(floor, peer_switch_ns() * 1e-9 * 9 * (double)s.floats);
    figure("reduction", "<= 0.90 s", node.wall <= 0.9,
           "%.3f s, CPU %.3f s; its barriers by plain switches: CPU %.3f s, ratio %.2f; plain C on "
           "%d CPUs %.4f s, ratio %.0f",
           node.wall, node.cpu, floor, node.cpu / floor, peer_threads(), peer, node.wall / peer);
    if (memcmp(mine.data(), theirs.data(), blocks * sizeof(float)) != 0) {
        fprintf(stderr, "bench: the reduction's sums are wrong\n");
        exit(1);
    }
}

void copying(const sizes &s)
{
    std::vector<char> from(s.copy_bytes, 1), to(s.copy_bytes, 2);
    char *source, *target;
    check(cudaSetDevice(1), "cudaSetDevice(1)");
    check(cudaMalloc(&target, s.copy_bytes), "cudaMalloc on GPU 1");
    check(cudaSetDevice(0), "cudaSetDevice(0)");
    check(cudaMalloc(&source, s.copy_bytes), "cudaMalloc on GPU 0");
    check(cudaMemset(source, 1, s.copy_bytes), "cudaMemset");
    auto copy = [&] { check(cudaMemcpyPeer(target, 1, source, 0, s.copy_bytes), "peer copy"); };
    least(1, copy); /* first touch */
    took node = least(s.runs, copy);
    double peer = least_here(s.runs, [&] {
        memcpy(to.data(), from.data(), s.copy_bytes);
        __asm__ volatile("" : : "r"(to.data()) : "memory");
    });
    double gigabytes = (double)s.copy_bytes * 1e-9;
    figure("peer copy", "ratio >= 1", peer / node.wall >= 1,
           "%.1f GB/s, memcpy %.1f GB/s, ratio %.2f", gigabytes / node.wall, gigabytes / peer,
           peer / node.wall);
    check(cudaFree(source), "cudaFree");
    check(cudaFree(target), "cudaFree");
}

int all(const char *self, const sizes &s)
{
    printf("%-24s %-16s %-4s %s\n", "figure", "goal", "held", "measured");
    starting(self, s);
    own_node("main", "hgx-h200-4");
    float *a, *b, *c;
    size_t bytes = (size_t)s.floats * sizeof(float);
    check(cudaMalloc(&a, bytes), "cudaMalloc");
    check(cudaMalloc(&b, bytes), "cudaMalloc");
    check(cudaMalloc(&c, bytes), "cudaMalloc");
    launch_fill(a, s.floats);
    launch_fill(b, s.floats);
    launch_fill(c, s.floats);
    std::vector<float> host((size_t)s.floats);
    check(cudaMemcpy(host.data(), a, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    launching(s);
    reducing(s, a, c, host);
    adding(s, a, b, c, host);
    copying(s);
    pairing(s);
    checking(self, s.runs == 1);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    sizes s;
    const char *argument = argc > 1 ? argv[1] : "";
    if (strcmp(argument, "--first") == 0)
        return first();
    if (strcmp(argument, "--idle") == 0)
        return idle();
    if (strcmp(argument, "--checked") == 0)
        return checked(s);
    if (strcmp(argument, "--tiny") == 0 || strcmp(argument, "--checked-tiny") == 0) {
        s.floats = 64 << 10;
        s.copy_bytes = 4 << 20;
        s.launches = 20;
        s.runs = s.starts = 1;
        if (strcmp(argument, "--checked-tiny") == 0)
            return checked(s);
    } else if (argc > 1) {
        fprintf(stderr, "usage: bench-node [--tiny]\n");
        return 2;
    }
    return all(argv[0], s);
}
