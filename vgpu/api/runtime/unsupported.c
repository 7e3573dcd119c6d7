/* SPDX-License-Identifier: MIT
 * unsupported.c: the calls that are declared but not modelled. Each says so, by name, and answers
 * 801: a program that went on as if a call had worked would teach something false.
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
VGPU_LATER_CALLS(BODY)
#pragma GCC diagnostic pop
