/* SPDX-License-Identifier: MIT
 * net.cu: comes with lab 08: the network's layers, forward and backward, and Adam. One thread makes
 * one number, and adds in a fixed order, so that every run and every split gives the same bits.
 */
#include <math.h>

#include <cuda_fp16.h>

#include "data.h"
#include "run.h"

#define THREADS 128

static int blocks_for(uint64_t count)
{
    return (int)((count + THREADS - 1) / THREADS);
}

static __device__ uint64_t my_element(void)
{
    return (uint64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* One layer's numbers: `out` neurons of `in` inputs on `samples` samples. */
struct shape {
    int samples, in, out;
};

/* ---- forward ---- */

static __global__ void forward_kernel(struct shape s, const float *x, const __half *weight,
                                      const __half *bias, int relu, float *y)
{
    uint64_t i = my_element();
    if (i >= (uint64_t)s.samples * s.out)
        return;
    int sample = (int)(i / s.out), neuron = (int)(i % s.out);
    float sum = __half2float(bias[neuron]);
    for (int k = 0; k < s.in; k++)
        sum = fmaf(x[(uint64_t)sample * s.in + k],
                   __half2float(weight[(uint64_t)neuron * s.in + k]), sum);
    y[i] = relu && sum < 0 ? 0 : sum;
}

/* ---- backward ---- */

static __device__ float rounded(float gradient)
{
    float steps = rintf(gradient * DATA_STEPS);
    return fminf(fmaxf(steps, -DATA_STEPS), DATA_STEPS) / DATA_STEPS;
}

/* dy: what the loss changes by, for each output of the layer. `target`: dy is y - target. */
static __global__ void gradient_kernel(struct shape s, const float *x, const float *y,
                                       const float *target, __half *weight, __half *bias)
{
    uint64_t i = my_element(), weights = (uint64_t)s.in * s.out;
    float sum = 0;
    if (i >= weights + s.out)
        return;
    uint64_t neuron = i < weights ? i / s.in : i - weights;
    for (int n = 0; n < s.samples; n++) {
        uint64_t at = (uint64_t)n * s.out + neuron;
        float dy = target ? y[at] - target[at] : y[at];
        sum += rounded(i < weights ? dy * x[(uint64_t)n * s.in + i % s.in] : dy);
    }
    if (i < weights)
        weight[i] = __float2half(sum);
    else
        bias[neuron] = __float2half(sum);
}

/* The hidden activations become what the loss changes by for each of them. */
static __global__ void back_kernel(struct shape s, float *hidden, const float *y,
                                   const float *target, const __half *weight)
{
    uint64_t i = my_element();
    float sum = 0;
    if (i >= (uint64_t)s.samples * s.in)
        return;
    uint64_t sample = i / s.in, k = i % s.in;
    for (int o = 0; o < s.out; o++) {
        uint64_t at = sample * s.out + o;
        sum = fmaf(y[at] - target[at], __half2float(weight[(uint64_t)o * s.in + k]), sum);
    }
    hidden[i] = hidden[i] > 0 ? sum : 0;
}

/* ---- Adam ---- */

struct adam {
    float scale, rate, corrected1, corrected2; /* 1 / batch, learning rate, 1 - beta^t */
};

static struct adam adam_of(const struct zero_run *run)
{
    struct adam a;
    a.scale = 1.0f / (float)run->net.batch;
    a.rate = 0.01f;
    a.corrected1 = (float)(1 - pow(0.9, run->steps + 1));
    a.corrected2 = (float)(1 - pow(0.999, run->steps + 1));
    return a;
}

/* The same on the host and on the GPU: every product that is added to is an fmaf, so that no
 * compiler can make one of it here and not there. */
static __host__ __device__ float adam_one(struct adam a, float gradient, float *master,
                                          float *momentum, float *variance)
{
    float g = gradient * a.scale;
    *momentum = fmaf(0.9f, *momentum, 0.1f * g);
    *variance = fmaf(0.999f, *variance, 0.001f * g * g);
    float step = a.rate * (*momentum / a.corrected1) / (sqrtf(*variance / a.corrected2) + 1e-8f);
    *master = *master - step;
    return *master;
}

static __global__ void adam_kernel(struct adam a, uint64_t count, const __half *gradient,
                                   float *master, float *momentum, float *variance, __half *param)
{
    uint64_t i = my_element();
    if (i < count)
        param[i] = __float2half(
            adam_one(a, __half2float(gradient[i]), &master[i], &momentum[i], &variance[i]));
}

/* ---- for everybody ---- */

/* Where tensor t of a unit begins, in elements. */
static uint64_t offset_in(const struct zero_run *run, const struct zero_unit *unit, int t)
{
    uint64_t sum = 0;
    for (int i = unit->tensor; i < t; i++)
        sum += run->model.tensor[i].count;
    return sum;
}

/* Tensor t's parameters or gradients on a rank, whole; NULL: they are not there. */
static __half *tensor_at(const struct zero_run *run, int rank, enum zero_kind kind, int t)
{
    struct zero_place place;
    for (int u = 0; u < run->work.layout.units; u++) {
        const struct zero_unit *unit = &run->work.layout.unit[u];
        if (t < unit->tensor || t >= unit->tensor + unit->tensors)
            continue;
        if (zero_place(run, rank, kind, u, &place) != LAB_OK || !place.whole)
            return NULL;
        return (__half *)place.whole + offset_in(run, unit, t);
    }
    return NULL;
}

static struct shape shape_of(const struct zero_run *run, int rank, int layer)
{
    struct shape s;
    s.samples = run->rank[rank].samples;
    s.in = layer ? run->net.hidden : run->net.inputs;
    s.out = layer ? run->net.outputs : run->net.hidden;
    return s;
}

int net_forward(struct zero_run *run, int rank, int layer)
{
    struct zero_rank *me = &run->rank[rank];
    struct shape s = shape_of(run, rank, layer);
    __half *weight = tensor_at(run, rank, ZERO_PARAM, 2 * layer);
    __half *bias = tensor_at(run, rank, ZERO_PARAM, 2 * layer + 1);
    float *hidden = (float *)me->at[ZERO_ACTIVATION][0];
    if (!weight || !bias || !hidden)
        return LAB_EINVAL;
    cudaSetDevice(me->gpu);
    forward_kernel<<<blocks_for((uint64_t)s.samples * s.out), THREADS, 0,
                     run->ring.rank[rank].stream>>>(s, layer ? hidden : me->input, weight, bias,
                                                    layer == 0, layer ? me->output : hidden);
    return ring_result(cudaGetLastError());
}

/* The padding behind the gradients of a unit that ends in this layer: it is summed as they are. */
static int clear_padding(struct zero_run *run, int rank, int layer)
{
    struct zero_place gradient;
    int rc = LAB_OK;
    for (int u = 0; u < run->work.layout.units && !rc; u++) {
        const struct zero_unit *unit = &run->work.layout.unit[u];
        int last = unit->tensor + unit->tensors - 1;
        if (last / 2 != layer || unit->padded == unit->count)
            continue;
        if (zero_place(run, rank, ZERO_GRAD, u, &gradient) != LAB_OK || !gradient.whole)
            return LAB_EINVAL;
        rc = ring_result(cudaMemsetAsync((__half *)gradient.whole + unit->count, 0,
                                         2 * (unit->padded - unit->count),
                                         run->ring.rank[rank].stream));
    }
    return rc;
}

int net_backward(struct zero_run *run, int rank, int layer)
{
    struct zero_rank *me = &run->rank[rank];
    struct shape s = shape_of(run, rank, layer);
    cudaStream_t stream = run->ring.rank[rank].stream;
    __half *weight = tensor_at(run, rank, ZERO_PARAM, 2 * layer);
    __half *weight_gradient = tensor_at(run, rank, ZERO_GRAD, 2 * layer);
    __half *bias_gradient = tensor_at(run, rank, ZERO_GRAD, 2 * layer + 1);
    float *hidden = (float *)me->at[ZERO_ACTIVATION][0];
    if (!weight || !weight_gradient || !bias_gradient || !hidden)
        return LAB_EINVAL;
    cudaSetDevice(me->gpu);
    gradient_kernel<<<blocks_for((uint64_t)s.in * s.out + s.out), THREADS, 0, stream>>>(
        s, layer ? hidden : me->input, layer ? me->output : hidden, layer ? me->target : NULL,
        weight_gradient, bias_gradient);
    if (layer == 1)
        back_kernel<<<blocks_for((uint64_t)s.samples * s.in), THREADS, 0, stream>>>(
            s, hidden, me->output, me->target, weight);
    int rc = ring_result(cudaGetLastError());
    return rc ? rc : clear_padding(run, rank, layer);
}

static int update_on_host(struct zero_run *run, int rank, int unit, struct adam a)
{
    struct zero_rank *me = &run->rank[rank];
    __half *half = (__half *)me->halves[unit];
    float *master = (float *)me->at[ZERO_MASTER][unit];
    float *momentum = (float *)me->at[ZERO_MOMENTUM][unit];
    float *variance = (float *)me->at[ZERO_VARIANCE][unit];
    if (!half || !master || !momentum || !variance)
        return LAB_EINVAL;
    int rc = ring_result(cudaStreamSynchronize(run->ring.rank[rank].stream));
    for (uint64_t i = 0; i < run->work.layout.unit[unit].shard && rc == LAB_OK; i++)
        half[i] = __float2half(
            adam_one(a, __half2float(half[i]), &master[i], &momentum[i], &variance[i]));
    return rc;
}

int net_update(struct zero_run *run, int rank, int unit)
{
    struct zero_rank *me = &run->rank[rank];
    uint64_t count = run->work.layout.unit[unit].shard;
    struct zero_place param, gradient;
    if (run->work.layout.how.offload)
        return update_on_host(run, rank, unit, adam_of(run));
    if (zero_place(run, rank, ZERO_PARAM, unit, &param) != LAB_OK ||
        zero_place(run, rank, ZERO_GRAD, unit, &gradient) != LAB_OK || !param.owned ||
        !gradient.owned || !me->at[ZERO_MASTER][unit])
        return LAB_EINVAL;
    cudaSetDevice(me->gpu);
    adam_kernel<<<blocks_for(count), THREADS, 0, run->ring.rank[rank].stream>>>(
        adam_of(run), count, (const __half *)gradient.owned, (float *)me->at[ZERO_MASTER][unit],
        (float *)me->at[ZERO_MOMENTUM][unit], (float *)me->at[ZERO_VARIANCE][unit],
        (__half *)param.owned);
    return ring_result(cudaGetLastError());
}

void zero_halves(const float *from, void *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        ((__half *)to)[i] = __float2half(from[i]);
}
