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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define BODY(name, parameters)                                                                     \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        return not_modelled(#name);                                                                \
    }
VGPU_UNSUPPORTED_CALLS(BODY)
#pragma GCC diagnostic pop
