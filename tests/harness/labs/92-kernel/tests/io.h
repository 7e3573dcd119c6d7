/* SPDX-License-Identifier: MIT */
enum { NUMBERS = 100 };
struct double_out {
    int rc, data[NUMBERS];
};
