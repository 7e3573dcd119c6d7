/* SPDX-License-Identifier: MIT
 * timed.h: the adapter of the timed task (part of runner.c): sealed bytes are loaded to one GPU,
 * copied to another one, and stored from there. Its time is the node's: timed.c.
 */
#ifndef LAB03_TIMED_H
#define LAB03_TIMED_H

static int move_timed(const struct timed_in *in, struct side *dst, struct side *src,
                      struct stage *stage, void *pinned, struct timed_out *out)
{
    enum path taken = (enum path)0;
    int rc;
    if (in->naive)
        return copy_serially(dst->buffer, src->buffer, in->bytes, pinned);
    rc = p2p_copy(stage, dst->buffer, dst->device, src->buffer, src->device, in->bytes, src->stream,
                  &taken);
    out->taken = (int)taken;
    return rc;
}

LAB_RUN(timed)
{
    const struct timed_in *in = lab_input(io, sizeof *in);
    struct timed_out *out = lab_result(io, sizeof *out);
    struct side dst = {0}, src = {0};
    struct stage stage = {0};
    void *pinned = NULL;
    memset(out, 0, sizeof *out);
    out->setup = open_side(&dst, in->dst_dev, in->bytes) ||
                 open_side(&src, in->src_dev, in->bytes) ||
                 (in->naive ? p2p_result(cudaHostAlloc(&pinned, in->bytes, cudaHostAllocPortable))
                            : stage_create(&stage, in->dst_dev, in->src_dev, in->chunk));
    for (int round = 0; !out->setup && round < lab_timed_rounds(); round++) {
        (void)cudaSetDevice(in->src_dev);
        (void)cudaMemcpyAsync(src.buffer, lab_sealed_input(), in->bytes, cudaMemcpyDefault,
                              src.stream);
        (void)cudaStreamSynchronize(src.stream);
        double began = lab_seconds();
        out->rc = move_timed(in, &dst, &src, &stage, pinned, out);
        (void)cudaStreamSynchronize(src.stream);
        out->seconds = lab_seconds() - began;
    }
    if (!out->setup)
        (void)cudaMemcpy(lab_sealed_result(), dst.buffer, in->bytes, cudaMemcpyDefault);
    (void)stage_destroy(&stage);
    (void)peer_off(in->src_dev, in->dst_dev);
    close_side(&src);
    close_side(&dst);
    (void)cudaFreeHost(pinned);
    (void)last_error();
}

#endif
