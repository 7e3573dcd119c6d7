/* SPDX-License-Identifier: MIT
 * calibrate.h: what the parts of truth-calibrate share (calibrate.cu; calls and kernels, copies,
 * graphs and messages are calibrate_*.cu).
 */
#ifndef TRUTH_CALIBRATE_H
#define TRUTH_CALIBRATE_H

#include "rows.h"

#include <chrono>
#include <cstring>
#include <string>
#include <unistd.h>

enum { MOST_GPUS = 16 }; /* of a node description */

/* What curves over size end at, and what one copy of a shared link moves; bytes cost the virtual
 * node time of the computer that it runs on. */
static const size_t CURVE_BYTES = 128 * MIB, RATE_BYTES = (VIRTUAL ? 8 : 64) * MIB;

struct gpu {
    char *from, *to, *host_in, *host_out;
    std::vector<cudaStream_t> streams;
    cudaEvent_t began, ended, joined, other;
    double clock_khz;
    size_t l2_bytes;
    int processors;
    bool reaches[MOST_GPUS]; /* may access that one's memory */
};

extern int gpus;
extern struct gpu gpu[MOST_GPUS];

void progress(const char *what);
void use(int g);
__attribute__((format(printf, 1, 2))) std::string text(const char *format, ...);
void figure(const std::string &name, const std::function<double()> &measure);
double typical(const std::function<double()> &measure);
void wait_all();
cudaStream_t stream_of(int g, size_t number);
void hold(int g, cudaStream_t stream, double us);
double held_cycles(int g, double us);
double queued_us(int g, const std::function<void()> &work, double hold_us = 800);
double each_us(int g, int count, const std::function<void()> &one);
double host_time(const std::function<void()> &work);
void launch(int g, size_t number);
void launch_and_transfer();
double copied(int g, int to, int from, double times);

/* Starts the process that answers measure_messages; before any call of CUDA. */
void prepare_messages();
void measure_messages();
void measure_calls();
void measure_kernels();
void measure_graphs();
void measure_staged();
void measure_curves();
void measure_host_links();
void measure_peer_links();

#endif
