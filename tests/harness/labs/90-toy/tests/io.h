/* SPDX-License-Identifier: MIT */
#ifndef IO_H
#define IO_H

#define TOY_MAX 64

struct all_in {
    int n, values[TOY_MAX];
};

struct all_out {
    int rc, values[TOY_MAX];
};

struct sum_out {
    int rc, sum, negative;
};

#endif
