/* SPDX-License-Identifier: MIT
 * memset_request.c: sends a fill of device memory to the node.
 */
#include "work.h"

cudaError_t vgpu__memset(const char *call, const struct memset_call *m, cudaStream_t stream,
                         bool sync)
{
    struct vgpu_request *request = vgpu__new_request(call, VGPU_OP_MEMSET);
    size_t row = m->width * m->element_bytes;
    request->stream = vgpu__stream_id(stream);
    request->u.memset = (struct vgpu_memset){
        .dst = vgpu__node_address(m->dst),
        .bytes = m->rows ? row : 0,
        .rows = m->rows ? m->rows : 1,
        .pitch = m->rows > 1 ? m->pitch : row,
        .plane_rows = m->plane_rows,
        .plane = m->plane,
        .value = m->value,
        .width = m->element_bytes,
        .sync = sync,
    };
    return vgpu__end(NULL);
}
