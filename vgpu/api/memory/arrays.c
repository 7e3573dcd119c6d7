/* SPDX-License-Identifier: MIT
 * arrays.c: see arrays.h.
 */
#include "arrays.h"

#include <pthread.h>

static pthread_mutex_t arrays_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cudaArray *arrays; /* guarded by arrays_lock */

void vgpu__array_add(struct cudaArray *array)
{
    pthread_mutex_lock(&arrays_lock);
    array->next = arrays;
    arrays = array;
    pthread_mutex_unlock(&arrays_lock);
}

/* The link to the array; the caller holds arrays_lock. */
static struct cudaArray **find_array(cudaArray_const_t array)
{
    struct cudaArray **at = &arrays;
    while (*at && *at != array)
        at = &(*at)->next;
    return at;
}

bool vgpu__array_known(cudaArray_const_t array)
{
    pthread_mutex_lock(&arrays_lock);
    bool known = array && *find_array(array);
    pthread_mutex_unlock(&arrays_lock);
    return known;
}

bool vgpu__array_take(cudaArray_t array)
{
    pthread_mutex_lock(&arrays_lock);
    struct cudaArray **at = find_array(array);
    bool known = array && *at;
    if (known)
        *at = array->next;
    pthread_mutex_unlock(&arrays_lock);
    return known;
}

size_t vgpu__texel_bytes(const struct cudaChannelFormatDesc *desc)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    bool wide = desc->x == 32, narrow = desc->x == 8 || desc->x == 16;
    int channels = 1;
    if (desc->f > cudaChannelFormatKindFloat || (!wide && !narrow) ||
        (desc->f == cudaChannelFormatKindFloat && desc->x == 8))
        return 0;
    while (channels < 4 && bits[channels] == desc->x)
        channels++;
    for (int c = channels; c < 4; c++)
        if (bits[c] != 0)
            return 0;
    return channels == 3 ? 0 : (size_t)(desc->x / 8 * channels);
}
