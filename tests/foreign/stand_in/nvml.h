/* SPDX-License-Identifier: MIT */
/* nvml.h: of NVML only what binds a program to the processors near a GPU, which the virtual node
 * does not have. */
#pragma once

#include <stdio.h>

#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3 } nvmlReturn_t;

static inline const char *nvmlErrorString(nvmlReturn_t result)
{
    return result == NVML_SUCCESS ? "Success" : "Not Supported";
}

static inline nvmlReturn_t nvmlInit(void)
{
    return NVML_SUCCESS;
}

static inline nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    snprintf(version, length, "none");
    return NVML_SUCCESS;
}

static inline nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    (void)uuid;
    *device = 0;
    return NVML_SUCCESS;
}

static inline nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device)
{
    (void)device;
    return NVML_ERROR_NOT_SUPPORTED;
}
