/* SPDX-License-Identifier: MIT
 * unsupported.c: the calls that are declared but not modelled. Each prints its name and returns
 * 801, since a program that continued as if the call had worked would show wrong results.
 */
#include "runtime.h"

static cudaError_t not_modelled(const char *call)
{
    return vgpu__refuse(cudaErrorNotSupported, call,
                        "not modelled by the virtual node yet; it answers cudaErrorNotSupported "
                        "(801) and does nothing");
}

/* Not declared in the headers, which refuse the type of the handle: for programs that nvcc
 * compiled. */
cudaError_t cudaGraphConditionalHandleCreate(unsigned long long *handle, cudaGraph_t graph,
                                             unsigned int value, unsigned int flags);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define BODY(name, parameters)                                                                     \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        return not_modelled(#name);                                                                \
    }
VGPU_UNSUPPORTED_CALLS(BODY)
BODY(cudaGraphConditionalHandleCreate,
     (unsigned long long *handle, cudaGraph_t graph, unsigned int value, unsigned int flags))
#pragma GCC diagnostic pop
