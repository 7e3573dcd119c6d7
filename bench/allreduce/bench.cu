/* SPDX-License-Identifier: MIT
 * bench.cu: measures all ways of all-reduce in one process and one run, in turn, each started the
 * same way: one host thread per GPU; back to back, and replayed from a CUDA graph.
 *
 *     allreduce-bench [--gpus 2,4] [--least BYTES] [--most BYTES] [--rounds N] [--csv FILE]
 *
 * Time of a call: from a barrier of all host threads until the last rank's stream is empty, divided
 * by the number of calls; the median of the rounds. algbw = bytes / time; busbw = algbw * 2 (n - 1)
 * / n (nccl-tests, doc/PERFORMANCE.md). Before a way is timed its results are checked, every float.
 */
#include <string.h>

#include "data.h"
#include "team.h"
#include "ways.h"

#define WAYS 16
#define ROUNDS 64

enum style { CALLS, GRAPH, STYLES };

static const char *const style_name[STYLES] = {"calls", "graph"};

struct options {
    int gpus[AR_RANKS], gpu_lists, rounds;
    size_t least, most;
    FILE *csv;
};

struct bench {
    const struct options *o;
    int n;
    struct ways *ways;
    size_t bytes;
    double us[STYLES][WAYS][ROUNDS]; /* written by rank 0 */
};

/* The number of calls between two readings of the clock. */
static int repeats(size_t bytes)
{
    return bytes <= (size_t)4 << 20 ? 100 : bytes <= (size_t)64 << 20 ? 20 : 5;
}

static bool measured(const struct way *way, size_t bytes)
{
    return bytes >= way->least && bytes <= way->most;
}

static bool takes_part(const struct way *way, const struct way_rank *r)
{
    return !way->one_host || r->rank == 0;
}

static void wait_for(struct team *team, struct way_rank *r)
{
    CHECK(cudaStreamSynchronize(r->stream));
    team_barrier(team, r->rank);
}

/* The numbers are multiples of 1/256: the sum does not depend on the order of additions. */
static void verify(struct team *team, struct bench *b, const struct way *way, struct way_rank *r)
{
    const size_t count = b->bytes / sizeof(float);
    const unsigned seed = (unsigned)(b->bytes + b->n);

    data_fill(way->send(r), count, DATA_DYADIC, seed, r->rank, r->stream);
    CHECK(cudaMemsetAsync(way->recv(r), 0xee, b->bytes, r->stream));
    wait_for(team, r);
    if (takes_part(way, r))
        way->call(r, count);
    CHECK(cudaDeviceSynchronize());
    team_barrier(team, r->rank);
    struct data_verdict v = data_check(way->recv(r), count, DATA_DYADIC, seed, b->n, r->stream);
    if (v.wrong) {
        fprintf(stderr,
                "%s, %d GPUs, %zu bytes, rank %d: %llu floats are wrong, the first is %llu\n",
                way->name, b->n, b->bytes, r->rank, v.wrong, v.first);
        exit(1);
    }
}

static cudaGraphExec_t capture(struct bench *b, const struct way *way, struct way_rank *r)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < repeats(b->bytes); i++)
        way->call(r, b->bytes / sizeof(float));
    CHECK(cudaStreamEndCapture(r->stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static double time_one(struct team *team, struct bench *b, const struct way *way,
                       struct way_rank *r, cudaGraphExec_t graph)
{
    team_barrier(team, r->rank);
    double start = team_now();
    if (takes_part(way, r) && graph)
        CHECK(cudaGraphLaunch(graph, r->stream));
    for (int i = 0; takes_part(way, r) && !graph && i < repeats(b->bytes); i++)
        way->call(r, b->bytes / sizeof(float));
    wait_for(team, r);
    return (team_now() - start) / repeats(b->bytes);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times all ways in turn, round after round. */
static void time_all(struct team *team, struct bench *b, struct way_rank *r)
{
    cudaGraphExec_t graph[WAYS] = {};

    for (int w = 0; ways_list[w].name; w++)
        if (measured(&ways_list[w], b->bytes)) {
            verify(team, b, &ways_list[w], r);
            if (takes_part(&ways_list[w], r))
                graph[w] = capture(b, &ways_list[w], r);
            team_barrier(team, r->rank);
        }
    for (int round = -1; round < b->o->rounds; round++)
        for (int w = 0; ways_list[w].name; w++)
            for (int style = 0; style < STYLES && measured(&ways_list[w], b->bytes); style++) {
                bool graphs = style == GRAPH;
                double us = time_one(team, b, &ways_list[w], r, graphs ? graph[w] : NULL);
                if (r->rank == 0 && round >= 0)
                    b->us[style][w][round] = us;
            }
    for (int w = 0; ways_list[w].name; w++)
        if (graph[w])
            CHECK(cudaGraphExecDestroy(graph[w]));
    team_barrier(team, r->rank);
}

/* ---- output of rank 0 ---- */

static double median(struct bench *b, int style, int w)
{
    double *us = b->us[style][w];
    qsort(us, b->o->rounds, sizeof *us, by_value);
    return us[b->o->rounds / 2];
}

static void print_header(const struct bench *b)
{
    printf("\n%d GPUs%40s us a call, replayed from a graph (and called back to back)\n%12s", b->n,
           "", "bytes");
    for (int w = 0; ways_list[w].name; w++)
        printf(" %17s", ways_list[w].name);
    printf(" %7s %7s\n", "busbw", "ratio");
}

static void write_csv(struct bench *b, const struct way *way, int style, const double *us)
{
    double seconds = us[b->o->rounds / 2] * 1e-6, algbw = b->bytes / seconds / 1e9;

    if (b->o->csv)
        fprintf(b->o->csv, "%d,%zu,%s,%s,%.3f,%.3f,%.3f,%.2f,%.2f\n", b->n, b->bytes, way->name,
                style_name[style], us[b->o->rounds / 2], us[0], us[b->o->rounds - 1], algbw,
                algbw * 2 * (b->n - 1) / b->n);
}

/* A row of the table: the ratio is the time of the better NCCL variant over ours. */
static void print_row(struct bench *b)
{
    double peer = 1e30, ours = 1e30;

    printf("%12zu", b->bytes);
    for (int w = 0; ways_list[w].name; w++) {
        if (!measured(&ways_list[w], b->bytes)) {
            printf(" %17s", "-");
            continue;
        }
        double calls = median(b, CALLS, w), graph = median(b, GRAPH, w);
        printf(" %8.2f (%6.*f)", graph, calls < 1000 ? 2 : 0, calls);
        for (int style = 0; style < STYLES; style++)
            write_csv(b, &ways_list[w], style, b->us[style][w]);
        if (ways_list[w].peer && graph < peer)
            peer = graph;
        if (ways_list[w].ours)
            ours = graph;
    }
    printf(" %7.1f %7.2f\n", b->bytes / ours * 1e-3 * 2 * (b->n - 1) / b->n, peer / ours);
    fflush(stdout);
}

static void body(struct team *team, int rank, void *argument)
{
    struct bench *b = (struct bench *)argument;
    struct way_rank r;

    ways_join(b->ways, rank, &r);
    team_barrier(team, rank);
    for (size_t bytes = b->o->least; bytes <= b->o->most; bytes *= 4) {
        if (rank == 0)
            b->bytes = bytes;
        team_barrier(team, rank);
        time_all(team, b, &r);
        if (rank == 0)
            print_row(b);
    }
    team_barrier(team, rank);
    ways_leave(&r);
}

static size_t bytes_option(const char *text)
{
    size_t bytes = (size_t)atoll(text) / 16 * 16;
    if (bytes == 0) {
        fprintf(stderr, "allreduce-bench: %s is not a number of bytes, 16 or more\n", text);
        exit(2);
    }
    return bytes;
}

static void gpus_option(struct options *o, const char *text)
{
    for (o->gpu_lists = 0; *text && o->gpu_lists < AR_RANKS; text += *text == ',') {
        char *end;
        long n = strtol(text, &end, 10);
        if (end == text || n < 2 || n > AR_RANKS) {
            fprintf(stderr, "allreduce-bench: --gpus 2,4: numbers from 2 to %d\n", AR_RANKS);
            exit(2);
        }
        o->gpus[o->gpu_lists++] = (int)n;
        text = end;
    }
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {{2, 4}, 2, 9, 1024, (size_t)1 << 30, NULL};

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--gpus") == 0)
            gpus_option(&o, argv[i + 1]);
        else if (strcmp(argv[i], "--least") == 0)
            o.least = bytes_option(argv[i + 1]);
        else if (strcmp(argv[i], "--most") == 0)
            o.most = bytes_option(argv[i + 1]);
        else if (strcmp(argv[i], "--rounds") == 0)
            o.rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--csv") == 0 && !(o.csv = fopen(argv[i + 1], "w")))
            perror(argv[i + 1]), exit(2);
        else if (strcmp(argv[i], "--csv") != 0)
            argc = 0;
    }
    if (argc % 2 == 0 || o.rounds < 1 || o.rounds > ROUNDS) {
        fprintf(stderr,
                "usage: allreduce-bench [--gpus 2,4] [--least BYTES] [--most BYTES] "
                "[--rounds 1..%d] [--csv FILE]\n",
                ROUNDS);
        exit(2);
    }
    return o;
}

static void say_machine(const struct options *o)
{
    struct cudaDeviceProp prop;
    char versions[200];

    CHECK(cudaGetDeviceProperties(&prop, 0));
    ways_versions(versions, sizeof versions);
    printf("%s; %s; medians of %d rounds\n", prop.name, versions, o->rounds);
    if (o->csv)
        fprintf(o->csv,
                "# %s; %s; medians of %d rounds\n"
                "gpus,bytes,way,style,us,us_min,us_max,algbw_gb_s,busbw_gb_s\n",
                prop.name, versions, o->rounds);
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    static struct bench b;
    int there = 0;

    CHECK(cudaGetDeviceCount(&there));
    say_machine(&o);
    for (int i = 0; i < o.gpu_lists; i++) {
        if (o.gpus[i] > there) {
            printf("\n%d GPUs: cannot run here, this machine has %d\n", o.gpus[i], there);
            continue;
        }
        b.o = &o;
        b.n = o.gpus[i];
        b.ways = ways_open(b.n, o.most);
        print_header(&b);
        team_run(b.n, 120, body, &b);
        ways_close(b.ways);
    }
    return o.csv && fclose(o.csv) ? 1 : 0;
}
