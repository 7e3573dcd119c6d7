/* SPDX-License-Identifier: MIT */
struct relay_out {
    int rc, gpus;
};
