// SPDX-License-Identifier: MIT
// numbers.cu: cuRAND's generators for device code, which are all in its headers: the numbers of
// three of them. ../test_headers.py has what an H200 printed.
#include <curand_kernel.h>
#include <stdio.h>

static const int THREADS = 2, EACH = 4;

template <class State> __device__ void draw(State state, unsigned *number, float *uniform)
{
    for (int i = 0; i < EACH; i++) {
        number[threadIdx.x * EACH + i] = curand(&state);
        uniform[threadIdx.x * EACH + i] = curand_uniform(&state);
    }
}

template <class State> __global__ void numbers(unsigned *number, float *uniform)
{
    State state;
    curand_init(1234, threadIdx.x, 5, &state);
    draw(state, number, uniform);
}

template <class State> static void show(const char *name)
{
    unsigned *number;
    float *uniform;
    cudaMallocManaged(&number, THREADS * EACH * sizeof *number);
    cudaMallocManaged(&uniform, THREADS * EACH * sizeof *uniform);
    numbers<State><<<1, THREADS>>>(number, uniform);
    printf("%s: %s", name, cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < THREADS * EACH; i++)
        printf(" %08x %.8f", number[i], uniform[i]);
    printf("\n");
}

int main()
{
    show<curandStateXORWOW_t>("XORWOW");
    show<curandStatePhilox4_32_10_t>("Philox");
    show<curandStateMRG32k3a_t>("MRG32k3a");
    return 0;
}
