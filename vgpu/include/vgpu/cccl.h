/* SPDX-License-Identifier: MIT
 * cccl.h: what CCCL (Thrust, CUB, libcu++) asks of its compiler by macros, where the answer is
 * another one here than nvcc's.
 */
#ifndef VGPU_CCCL_H
#define VGPU_CCCL_H

/* Numbers of 4 and 6 bits are not offered, whatever headers lie around; of those of 8 bits e8m0 is
 * not. */
#ifndef CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#endif
#ifndef _CCCL_DISABLE_NVFP8_SUPPORT /* up to 2.8 */
#define _CCCL_DISABLE_NVFP8_SUPPORT
#endif
#ifndef CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#endif
#ifndef CCCL_DISABLE_NVFP4_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT
#endif

/* Clang does not take [[deprecated]] behind __host__ __device__, where CCCL 2.8 has it. */
#ifndef CCCL_IGNORE_DEPRECATED_API
#define CCCL_IGNORE_DEPRECATED_API
#endif

#endif
