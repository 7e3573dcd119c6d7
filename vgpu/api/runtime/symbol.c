/* SPDX-License-Identifier: MIT
 * symbol.c: __device__ and __constant__ variables. A program names a variable by its host shadow;
 * each device has its own copy, whose address the node returns.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#include "registration.h"

struct variable {
    uint64_t address;
    size_t bytes;
};

static cudaError_t unknown_symbol(const char *call, const void *symbol)
{
    return vgpu__refuse(cudaErrorInvalidSymbol, call,
                        "%p is not a __device__ or __constant__ variable of this program; give the "
                        "variable itself, not its address or a string",
                        symbol);
}

static cudaError_t locate_variable(const char *call, const void *symbol, struct variable *out)
{
    struct vgpu_host_module *module;
    const struct vgpu_reply *reply;
    uint32_t id;
    if (!vgpu__admit(call, VGPU_OP_VAR))
        return vgpu__failed();
    const struct vgpu_managed *managed = vgpu__find_managed(symbol);
    if (managed) {
        *out = (struct variable){(uint64_t)(uintptr_t)symbol, managed->bytes};
        return cudaSuccess;
    }
    const struct vgpu_host_var *var = vgpu__find_var(symbol, &module);
    if (!var)
        return unknown_symbol(call, symbol);
    cudaError_t error = vgpu__load_image(module, call, &id);
    if (error != cudaSuccess)
        return error;
    struct vgpu_request *request = vgpu__new_request(call, VGPU_OP_VAR);
    size_t length = strlen(var->key);
    if (length > VGPU_ARGS_MAX)
        return vgpu__failed();
    request->module = id;
    request->data_bytes = (uint32_t)length;
    memcpy(request->data, var->key, length);
    error = vgpu__record(vgpu__ask(-1, true, &reply));
    if (error == cudaSuccess)
        *out = (struct variable){reply->value, var->bytes};
    return error;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    struct variable v;
    if (!devPtr)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = locate_variable("cudaGetSymbolAddress", symbol, &v);
    if (error == cudaSuccess)
        *devPtr = (void *)(uintptr_t)v.address;
    return error;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    struct variable v;
    if (!size)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = locate_variable("cudaGetSymbolSize", symbol, &v);
    if (error == cudaSuccess)
        *size = v.bytes;
    return error;
}

/* ---- copies ---- */

struct part { /* part of a variable */
    const char *call;
    const void *symbol;
    size_t offset, bytes;
};

static cudaError_t locate_variable_part(const struct part *p, void **address)
{
    struct variable v;
    cudaError_t error = locate_variable(p->call, p->symbol, &v);
    if (error != cudaSuccess)
        return error;
    if (p->offset > v.bytes || p->bytes > v.bytes - p->offset)
        return vgpu__refuse(cudaErrorInvalidValue, p->call,
                            "%zu bytes at offset %zu do not fit the variable's %zu", p->bytes,
                            p->offset, v.bytes);
    *address = (void *)(uintptr_t)(v.address + p->offset);
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(const struct part *p, const void *src, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, bool sync)
{
    void *dst;
    cudaError_t error = locate_variable_part(p, &dst);
    if (error != cudaSuccess)
        return error;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return vgpu__record(cudaErrorInvalidMemcpyDirection);
    return vgpu__copy(&(struct vgpu__copy){p->call, dst, src, p->bytes, 1, p->bytes, p->bytes, kind,
                                           stream, .sync = sync});
}

static cudaError_t copy_from_symbol(const struct part *p, void *dst, enum cudaMemcpyKind kind,
                                    cudaStream_t stream, bool sync)
{
    void *src;
    cudaError_t error = locate_variable_part(p, &src);
    if (error != cudaSuccess)
        return error;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return vgpu__record(cudaErrorInvalidMemcpyDirection);
    return vgpu__copy(&(struct vgpu__copy){p->call, dst, src, p->bytes, 1, p->bytes, p->bytes, kind,
                                           stream, .sync = sync});
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return copy_to_symbol(&(struct part){"cudaMemcpyToSymbol", symbol, offset, count}, src, kind,
                          NULL, true);
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return copy_from_symbol(&(struct part){"cudaMemcpyFromSymbol", symbol, offset, count}, dst,
                            kind, NULL, true);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to_symbol(&(struct part){"cudaMemcpyToSymbolAsync", symbol, offset, count}, src,
                          kind, stream, false);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from_symbol(&(struct part){"cudaMemcpyFromSymbolAsync", symbol, offset, count}, dst,
                            kind, stream, false);
}
