// SPDX-License-Identifier: MIT
// A kernel's parameters have a limit.
struct too_big {
    char bytes[32760];
};

__global__ void large(too_big b, char *c) { *c = b.bytes[0]; } //!1 kernel 'large' has 32768 bytes of parameters
