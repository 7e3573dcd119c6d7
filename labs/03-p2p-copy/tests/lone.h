/* SPDX-License-Identifier: MIT
 * lone.h: the adapter of one copy that is refused, or of which a call fails (part of runner.c).
 */
#ifndef LAB03_LONE_H
#define LAB03_LONE_H

#define LONE_SENT 0x3C  /* in the source when the copy's turn comes */
#define LONE_LATER 0xC3 /* and after it */

struct lone_copy {
    const struct lone_in *in;
    char *dst, *src, *back;
    cudaStream_t stream;
    struct stage stage;
};

static int open_lone(struct lone_copy *l)
{
    const struct lone_in *in = l->in;
    l->back = malloc(in->bytes);
    return !l->back || failed(cudaSetDevice(in->dst_dev)) ||
           failed(cudaMalloc((void **)&l->dst, in->bytes)) ||
           failed(cudaMemset(l->dst, IO_RIM, in->bytes)) || failed(cudaDeviceSynchronize()) ||
           failed(cudaSetDevice(in->src_dev)) || failed(cudaMalloc((void **)&l->src, in->bytes)) ||
           failed(cudaMemset(l->src, IO_STALE, in->bytes)) || failed(cudaDeviceSynchronize()) ||
           failed(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking)) ||
           (in->move != MOVE_PEER && stage_create(&l->stage, in->dst_dev, in->src_dev, in->chunk));
}

static int copy_lone(struct lone_copy *l, int *taken)
{
    const struct lone_in *in = l->in;
    struct stage none = {0}, other = l->stage, *stage = in->stage_is_zero ? &none : &other;
    void *dst = in->how == LONE_NO_POINTERS ? NULL : l->dst;
    void *src = in->how == LONE_NO_POINTERS ? NULL : l->src;
    enum path path;
    int rc;
    other.chunk_bytes = in->claimed_chunk ? in->claimed_chunk : in->chunk;
    if (in->how == LONE_OTHER_DST)
        other.dst_dev = in->src_dev;
    if (in->how == LONE_OTHER_SRC)
        other.src_dev = in->dst_dev;
    memset(&path, IO_FILL, sizeof path);
    if (in->move == MOVE_PEER)
        rc = copy_peer_async(dst, in->dst_dev, src, in->src_dev, in->claimed, l->stream);
    else if (in->move == MOVE_STAGE)
        rc = stage_copy_async(stage, dst, src, in->claimed, l->stream);
    else
        rc = p2p_copy(stage, dst, in->dst_dev, src, in->src_dev, in->claimed, l->stream, &path);
    memcpy(taken, &path, sizeof *taken);
    return rc;
}

static void close_lone(struct lone_copy *l)
{
    (void)stage_destroy(&l->stage);
    (void)cudaStreamDestroy(l->stream);
    (void)cudaFree(l->src);
    (void)cudaFree(l->dst);
    free(l->back);
    (void)last_error();
}

static void wait_for(int device)
{
    (void)cudaSetDevice(device);
    (void)cudaDeviceSynchronize();
}

/* p2p_copy once more, for a caller that has turned peer access off in between. */
static void copy_again(struct lone_copy *l, struct lone_out *out)
{
    const struct lone_in *in = l->in;
    out->again_rc = copy_lone(l, &out->again_taken);
    wait_for(in->dst_dev);
    wait_for(in->src_dev);
    out->again_left = peer_off(in->src_dev, in->dst_dev) == LAB_OK;
}

LAB_RUN(lone)
{
    const struct lone_in *in = lab_input(io, sizeof *in);
    struct lone_out *out = lab_result(io, sizeof *out);
    struct lone_copy l = {.in = in};
    memset(out, 0, sizeof *out);
    if (!(out->setup = open_lone(&l))) {
        (void)cudaMemsetAsync(l.src, LONE_SENT, in->bytes, l.stream);
        (void)last_error();
        out->rc = copy_lone(&l, &out->taken);
        out->last = last_error();
        out->current = current_gpu();
        if (!out->rc) /* what is under way after an error may read the source still */
            (void)cudaMemsetAsync(l.src, LONE_LATER, in->bytes, l.stream);
        wait_for(in->dst_dev);
        wait_for(in->src_dev);
        (void)cudaMemcpy(l.back, l.dst, in->bytes, cudaMemcpyDeviceToHost);
        for (uint64_t i = 0; i < in->bytes; i++)
            out->wrong += l.back[i] != LONE_SENT;
        out->peer_left = peer_off(in->src_dev, in->dst_dev) == LAB_OK;
        if (in->again)
            copy_again(&l, out);
    }
    close_lone(&l);
}

#endif
