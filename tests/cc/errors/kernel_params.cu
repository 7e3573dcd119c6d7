// SPDX-License-Identifier: MIT
// What only the types show: the message names the kernel's line as where it was required.
struct too_big {
    char bytes[5000];
};
struct not_copyable {
    __host__ __device__ not_copyable(const not_copyable &) {}
};

__global__ void large(too_big b, char *c) { *c = b.bytes[0]; } //? a kernel's parameters take at most 4096 bytes
__global__ void copied(not_copyable c) {}                      //? its type must be trivially copyable
