/* SPDX-License-Identifier: MIT
 * rows.h: shared by the programs of this folder, which print one figure per line, "NAME VALUE". The
 * name ends in its unit (us or gbs); names that differ only in numbers in [brackets] belong
 * together.
 */
#ifndef TRUTH_ROWS_H
#define TRUTH_ROWS_H

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

/* On the virtual node time is the same in every run, and bytes cost host time. */
#if __has_include(<vgpu_time.h>)
#include <vgpu_time.h>
static const bool VIRTUAL = true;
static inline double host_us()
{
    return static_cast<double>(vgpu_time()) * 1e-6;
}
#else
#include <chrono>
static const bool VIRTUAL = false;
static inline double host_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}
#endif

static const size_t KIB = 1024, MIB = 1024 * KIB;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A lab's function; 0 is LAB_OK. */
#define LAB(call)                                                                                  \
    do {                                                                                           \
        int result_ = (call);                                                                      \
        if (result_ != 0) {                                                                        \
            fprintf(stderr, "%s:%d: %s: result %d\n", __FILE__, __LINE__, #call, result_);         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__attribute__((format(printf, 2, 3))) static inline void row(double value, const char *name, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(text, sizeof text, name, arguments);
    va_end(arguments);
    printf("%s %.4g\n", text, value);
    fflush(stdout);
}

/* The median of several measurements, after a warm-up; a single one in virtual time. */
static inline double median(const std::function<double()> &measure)
{
    std::vector<double> values;
    measure();
    for (int i = 0; i < (VIRTUAL ? 1 : 9); i++)
        values.push_back(measure());
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* "4KiB", "64MiB". */
static inline const char *size_name(size_t bytes)
{
    static char text[24];
    if (bytes >= MIB)
        snprintf(text, sizeof text, "%zuMiB", bytes / MIB);
    else if (bytes >= KIB)
        snprintf(text, sizeof text, "%zuKiB", bytes / KIB);
    else
        snprintf(text, sizeof text, "%zuB", bytes);
    return text;
}

#endif
