/* SPDX-License-Identifier: MIT
 * words.h: what vgpu-cc's two passes make of CUDA's declaration words, and the macros that vgpu-cc
 * itself puts into the text. Macros only: with clang this file is read a second time, in front of
 * preprocessed text.
 *
 * A mark is a comment in the assembly that tells vgpu-cc which function the compiler has made of
 * what (the Linux kernel gets its offsets out of the compiler in the same way).
 */
#ifndef VGPU_WORDS_H
#define VGPU_WORDS_H

#define __host__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

#ifdef __clang__
#define VGPU_APART noinline
#define VGPU_CONSTANT_START __attribute__((require_constant_initialization))
#else
#define VGPU_APART noipa
#define VGPU_CONSTANT_START __constinit
#endif

/* Kernels, and the stubs that stand for them in host code. */
#define __global__ __attribute__((VGPU_APART, used))

/* ---- put in by the host pass ---- */

#define VGPU_STUB_MARK(id) __asm__ volatile("\n# vgpu.stub %c0" : : "i"(id))
#define VGPU_DEVICE_ONLY                                                                           \
    __attribute__((unused, error("it is a __device__ function, which only device code can call")))
#define VGPU_HOST_VARS static const struct vgpu_host_var vgpu_host_vars[] =
/* `part` is defined by the assembly that vgpu-cc adds, or by the device link. */
#define VGPU_REGISTER(part, count)                                                                 \
    extern "C" {                                                                                   \
    extern const struct vgpu_image_part part __attribute__((visibility("hidden")));                \
    }                                                                                              \
    __attribute__((constructor(101))) static void vgpu_register(void)                              \
    {                                                                                              \
        static struct vgpu_host_module module = {                                                  \
            &part, vgpu_host_kernels, vgpu_host_kernel_count, vgpu_host_vars, count, 0};           \
        vgpu_register_module(&module);                                                             \
    }

/* The object's first value is vgpu_first_<name>: see vgpu/cc/managed.c. */
#define VGPU_MANAGED_MARK 0x9d27b1c4656e616du
#define VGPU_MANAGED_HOST(type, name, hash)                                                        \
    static struct vgpu_managed vgpu_entry_of_##name = {                                            \
        {VGPU_MANAGED_MARK, hash}, &vgpu_first_##name, sizeof(type), 0, 0};                        \
    __attribute__((unused)) static type &name = *(type *)vgpu_make_managed(&vgpu_entry_of_##name)

/* ---- put in by the device pass ---- */

#define VGPU_MANAGED_DEVICE(type, name, hash)                                                      \
    extern type &name __asm__("vgpu_managed_" #hash);                                              \
    static VGPU_DEVICE_VARIABLE uint64_t vgpu_address_of_##name[2] __asm__(                        \
        "vgpu_managed_" #hash) = {VGPU_MANAGED_MARK, hash##u}

#define VGPU_HOST_FUNCTION __attribute__((VGPU_APART))
#define VGPU_HOST_MARK(id) __asm__ volatile("\n# vgpu.host %c0" : : "i"(id))
#define VGPU_HOST_VARIABLE __attribute__((used))
#define VGPU_DEVICE_VARIABLE VGPU_CONSTANT_START __attribute__((section("vgpu_devvars"), used))
#define VGPU_KERNEL_ENTRY(id) static const void *const vgpu_entry_##id __attribute__((used))

#define VGPU_SHARED(id, seed, name, type, align)                                                   \
    static_assert(sizeof(type) > 0 && __is_trivially_constructible(type),                          \
                  "a __shared__ variable's type must have no constructor: nobody would run it");   \
    static_assert(sizeof(type) <= VGPU_STATIC_SHARED_MAX,                                          \
                  "a block has 48 KiB of static shared memory; more must be dynamic");             \
    __asm__ volatile("\n# vgpu.shared %c0 %c1" : : "i"(id), "i"(sizeof(type)));                    \
    constexpr uint32_t vgpu_number_##name = vgpu_shared_number(seed, __PRETTY_FUNCTION__);         \
    type &name = *(type *)vgpu_shared(vgpu_number_##name, sizeof(type),                            \
                                      align > alignof(type) ? align : alignof(type))
#define VGPU_DYNAMIC_SHARED(name, type) type &name = *(type *)vgpu_dynamic_shared()

/* The linker puts the tables of all files together: vgpu/cc/image_script.c. */
#define VGPU_IMAGE_VARS                                                                            \
    static const struct vgpu_var vgpu_image_vars_here[]                                            \
        __attribute__((section(".data.rel.ro.vgpu_vars"), used)) =

#endif
