/* SPDX-License-Identifier: MIT
 * reference.h: lab 08's network in double, on one computer, straight from the formulas: what the
 * first step must give.
 */
#ifndef LAB08_REFERENCE_H
#define LAB08_REFERENCE_H

#include <math.h>
#include <string.h>

#include "../data.h"
#include "io_run.h"

struct reference {
    int params;
    double loss;
    float param[IO_PARAMS];     /* at the beginning; exact in fp16 */
    double gradient[IO_PARAMS]; /* summed over the batch, each sample's rounded as data.h says */
};

static inline double reference_rounded(double gradient)
{
    double steps = rint(gradient * DATA_STEPS);
    return fmax(fmin(steps, DATA_STEPS), -DATA_STEPS) / DATA_STEPS;
}

/* One sample: adds to loss and gradient. */
static inline void reference_sample(const struct io_net *net, int sample, struct reference *ref)
{
    int in = net->inputs, mid = net->hidden, out = net->outputs;
    const float *w1 = ref->param, *b1 = w1 + mid * in, *w2 = b1 + mid, *b2 = w2 + out * mid;
    double *g1 = ref->gradient, *h1 = g1 + mid * in, *g2 = h1 + mid, *h2 = g2 + out * mid;
    double hidden[IO_PARAMS], back[IO_PARAMS] = {0}, x[IO_PARAMS];
    for (int i = 0; i < in; i++)
        x[i] = data_input(net->seed, (uint32_t)(sample * in + i));
    for (int j = 0; j < mid; j++) {
        hidden[j] = b1[j];
        for (int i = 0; i < in; i++)
            hidden[j] += x[i] * w1[j * in + i];
        hidden[j] = hidden[j] > 0 ? hidden[j] : 0;
    }
    for (int k = 0; k < out; k++) {
        double y = b2[k];
        for (int j = 0; j < mid; j++)
            y += hidden[j] * w2[k * mid + j];
        double off = y - data_target(net->seed, (uint32_t)(sample * out + k));
        ref->loss += off * off / 2;
        h2[k] += reference_rounded(off);
        for (int j = 0; j < mid; j++) {
            g2[k * mid + j] += reference_rounded(off * hidden[j]);
            back[j] += off * w2[k * mid + j];
        }
    }
    for (int j = 0; j < mid; j++) {
        double off = hidden[j] > 0 ? back[j] : 0;
        h1[j] += reference_rounded(off);
        for (int i = 0; i < in; i++)
            g1[j * in + i] += reference_rounded(off * x[i]);
    }
}

static inline void reference_make(const struct io_net *net, struct reference *ref)
{
    memset(ref, 0, sizeof *ref);
    ref->params = net->hidden * (net->inputs + 1) + net->outputs * (net->hidden + 1);
    for (int i = 0; i < ref->params; i++)
        ref->param[i] = data_parameter(net->seed, (uint32_t)i);
    for (int s = 0; s < net->batch; s++)
        reference_sample(net, s, ref);
    ref->loss /= net->batch;
}

#endif
