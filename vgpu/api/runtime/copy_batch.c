/* SPDX-License-Identifier: MIT
 * copy_batch.c: cudaMemcpyBatchAsync. The copies are sent one after another, each as
 * cudaMemcpyAsync sends it. As recorded, a wrong copy ends the batch: those before it are made.
 */
#include "runtime.h"

static const char call[] = "cudaMemcpyBatchAsync";

struct batch {
    void *const *to;
    const void *const *from;
    const size_t *bytes;
    size_t count;
    const struct cudaMemcpyAttributes *attributes;
    const size_t *first; /* attributes[k] is for the copies from first[k] on */
    size_t attribute_count;
    cudaStream_t stream;
};

static bool hint_exists(struct cudaMemLocation hint)
{
    if (hint.type == cudaMemLocationTypeDevice)
        return hint.id >= 0 && hint.id < vgpu__process.device_count;
    return hint.type >= cudaMemLocationTypeNone && hint.type <= cudaMemLocationTypeHostNumaCurrent;
}

static cudaError_t check_attributes(const struct cudaMemcpyAttributes *a, size_t k)
{
    if (a->srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
        a->srcAccessOrder > cudaMemcpySrcAccessOrderAny)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "srcAccessOrder of attributes %zu is %d: give one of "
                            "cudaMemcpySrcAccessOrderStream and so on",
                            k, (int)a->srcAccessOrder);
    if (a->flags & ~(unsigned)cudaMemcpyFlagPreferOverlapWithCompute)
        return vgpu__refuse(cudaErrorInvalidValue, call, "flags of attributes %zu are %u", k,
                            a->flags);
    if (!hint_exists(a->srcLocHint) || !hint_exists(a->dstLocHint))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "a hint of attributes %zu is not a location: there are %d GPUs", k,
                            vgpu__process.device_count);
    return cudaSuccess;
}

static cudaError_t check_all_attributes(const struct batch *b)
{
    cudaError_t error = cudaSuccess;
    for (size_t k = 0; k < b->attribute_count && error == cudaSuccess; k++) {
        if (k == 0 ? b->first[0] != 0 : b->first[k] <= b->first[k - 1] || b->first[k] >= b->count)
            return vgpu__refuse(cudaErrorInvalidValue, call,
                                "attrsIdxs[%zu] is %zu: the first one is 0, each other one is "
                                "greater than the one before it and less than count (%zu)",
                                k, b->first[k], b->count);
        error = check_attributes(&b->attributes[k], k);
    }
    return error;
}

static cudaError_t check_batch(const struct batch *b)
{
    enum cudaStreamCaptureStatus status;
    if (!b->to || !b->from || !b->bytes || !b->attributes || !b->first)
        return vgpu__refuse(cudaErrorInvalidValue, call, "an array is a null pointer");
    if (b->attribute_count == 0 || b->attribute_count > b->count)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu attributes for %zu copies: there must be at least one, and no "
                            "more than copies",
                            b->attribute_count, b->count);
    if (!b->stream || vgpu__stream_id(b->stream) == VGPU_STREAM_LEGACY)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "stream 0 and the legacy stream take no batches; give another stream");
    cudaError_t error = cudaStreamIsCapturing(b->stream, &status);
    if (error == cudaSuccess && status != cudaStreamCaptureStatusNone)
        return vgpu__refuse(cudaErrorStreamCaptureUnsupported, call,
                            "the stream is being captured, and a graph cannot hold a batch; "
                            "capture a cudaMemcpyAsync for each copy");
    return error == cudaSuccess ? check_all_attributes(b) : error;
}

static cudaError_t send_copy(const struct batch *b, size_t i)
{
    size_t bytes = b->bytes[i];
    if (bytes == 0)
        return vgpu__refuse(cudaErrorInvalidValue, call, "copy %zu has no bytes", i);
    return vgpu__admitted_copy(&(struct vgpu__copy){call, b->to[i], b->from[i], bytes, 1, bytes,
                                                    bytes, cudaMemcpyDefault, b->stream,
                                                    .sync = false});
}

/* Sends all copies. Stores whether one has a source that must have been read when the call returns
 * and may not have been: pageable memory is read while the copy is sent. */
static cudaError_t send_copies(const struct batch *b, bool *must_wait)
{
    cudaError_t error = cudaSuccess;
    *must_wait = false;
    for (size_t i = 0, k = 0; i < b->count && error == cudaSuccess; i++) {
        if (k + 1 < b->attribute_count && b->first[k + 1] == i)
            k++;
        if (b->attributes[k].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall)
            *must_wait |= vgpu__place(b->from[i]) != VGPU__PAGEABLE;
        error = send_copy(b, i);
    }
    return error;
}

cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *attrs,
                                 size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    const struct batch batch = {dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream};
    bool must_wait;
    if (!vgpu__admit(call, VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = check_batch(&batch);
    if (error == cudaSuccess)
        error = send_copies(&batch, &must_wait);
    if (error != cudaSuccess || !must_wait)
        return error;
    struct vgpu_request *request = vgpu__new_request(call, VGPU_OP_STREAM_SYNC);
    request->stream = vgpu__stream_id(stream);
    return vgpu__end(NULL);
}
