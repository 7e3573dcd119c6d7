// SPDX-License-Identifier: MIT
// lost.cu: which device is current after a kernel has ended a process's contexts. One that it has
// used it may choose again; another one cannot be had, and is current all the same: calls answer
// for it (recorded on H200s: hgx-h200-1/frees.txt [a_failed_device], hgx-h200-4/semantics.txt
// [null_store], semantics2.txt [sticky_two_contexts]).
#include "check.h"

__global__ void trap()
{
    asm("trap;");
}

static void expect(const char *call, int got, int want)
{
    HOLDS(got == want, "%s answers %d, not %d", call, got, want);
    cudaGetLastError();
}

static void expect_device(int want)
{
    int device = -1;
    MUST(cudaGetDevice(&device));
    HOLDS(device == want, "device %d is current, not %d", device, want);
}

int main()
{
    MUST(cudaFree(0));
    trap<<<1, 1>>>();
    expect("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    expect("cudaSetDevice(0)", cudaSetDevice(0), cudaSuccess);
    expect_device(0);
    expect("cudaSetDevice(99)", cudaSetDevice(99), cudaErrorInvalidDevice);
    expect_device(0);
    expect("cudaSetDevice(1)", cudaSetDevice(1), cudaErrorDevicesUnavailable);
    expect_device(1);
    expect("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorDevicesUnavailable);
    expect("cudaSetDevice(0)", cudaSetDevice(0), cudaSuccess);
    expect("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    MUST(cudaDeviceReset());
    expect("cudaSetDevice(0)", cudaSetDevice(0), cudaErrorDevicesUnavailable);
    expect("cudaFree(0)", cudaFree(0), cudaErrorDevicesUnavailable);
    puts("ok");
}
