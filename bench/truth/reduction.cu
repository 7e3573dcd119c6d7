// SPDX-License-Identifier: MIT
// reduction.cu: lab 04's sum over 1 to G GPUs, by its own measurement.
#include "rows.h"

#include "lab04.h"

int main()
{
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int log2 = 20; log2 <= 26; log2 += 2)
        for (int g = 1; g <= gpus && g <= 4; g *= 2) {
            double us = median([=] {
                double ms;
                LAB(sum_time((size_t)1 << log2, g, &ms));
                return ms * 1e3;
            });
            row(us, "lab04.sum.2^%d.%d_gpus.us", log2, g);
        }
    return 0;
}
