/* SPDX-License-Identifier: MIT
 * tex_obj_input_iterator.cuh: stands in for CUB's, which <cub/cub.cuh> includes: virtual GPUs have no
 * textures, so there is no cub::TexObjInputIterator.
 */
#pragma GCC system_header
