/* SPDX-License-Identifier: MIT
 * image.h: the symbols that vgpu-cc defines in a device image, and those that vgpu-exec provides to
 * it.
 *
 * A device image is a shared object that vgpu-exec loads with dlopen. It contains kernels and the
 * device functions that they reach, and nothing else. Its undefined symbols (the builtins below,
 * the compiler's __tsan_* callbacks, libm) are provided by vgpu-exec, which is linked with
 * --export-dynamic.
 *
 * Host object and image identify a kernel by its index among the kernels of its file.
 */
#ifndef VGPU_IMAGE_H
#define VGPU_IMAGE_H

#include <stdint.h>

#include "launch_limits.h"
#include "texture.h"

#define VGPU_IMAGE_ABI 6
#define VGPU_DEVICE_VAR_SECTION "vgpu_devvars" /* storage of __device__/__constant__ variables */
/* Marks the place in the image where the address of a __managed__ variable is stored; followed by a
 * word that identifies the variable. */
#define VGPU_MANAGED_MARK 0x9d27b1c4656e616dull

#ifdef __CUDA__
#define VGPU_OFFERED __attribute__((device))
#else
#define VGPU_OFFERED
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct vgpu_lanes; /* lanes.h */

/* One kernel of an image. `call` unpacks args[i] (pointer to the i-th argument) and calls it. */
struct vgpu_kernel {
    const char *key;
    uint32_t ordinal; /* index among the kernels of its file; part of the key */
    const char *name; /* as in the source: "sum_shared" */
    void (*call)(void **args);
    uint32_t param_count;
    uint32_t any_order; /* 1: its blocks cannot tell in which order they run, or that they wait */
    const uint32_t *param_bytes;    /* param_count sizes */
    uint32_t static_shared_bytes;   /* sum of the kernel's __shared__ declarations; 0 if unknown */
    uint32_t max_threads;           /* __launch_bounds__, or VGPU_BLOCK_THREADS_MAX */
    const struct vgpu_lanes *lanes; /* its fast form; NULL: it has none */
    const char *careful;            /* why not: a sentence's end */
    /* Not 0: its blocks can tell the order if parameters of both sets point to the same allocation
     * (bit i: the i-th parameter). All that the kernel does with memory to which those of `summed`
     * point is atomics of one kind that commute, whose results are not used. It reads or stores
     * through those of `others`. */
    uint64_t summed, others;
};

/* A __device__ or __constant__ variable. It lies in VGPU_DEVICE_VAR_SECTION, which is page-aligned
 * and padded, so that vgpu-exec can map device memory over it. */
struct vgpu_var {
    const char *key; /* "<module>:<name>" */
    void *address;   /* in the image */
    uint64_t bytes;
};

/* The objects that an image exports, with C linkage and default visibility, found by dlsym;
 * all its other symbols are local. vgpu-exec does not define them. struct vgpu_launch.kernel is an
 * index into vgpu_image_kernels.
 *
 * An image is linked with -shared -nostdlib -Wl,-z,now
 * -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset and may have undefined symbols: vgpu-exec provides
 * vgpu_*, __tsan_*, __safestack_*, __wrap_mem* and those of libm; loading fails on any other one,
 * with its name. The image is compiled with LLVM's option -tsan-distinguish-volatile, since
 * spinning threads are detected by their volatile accesses. */
extern const uint32_t vgpu_image_abi; /* VGPU_IMAGE_ABI */
extern const struct vgpu_kernel vgpu_image_kernels[];
extern const uint32_t vgpu_image_kernel_count;
extern const struct vgpu_var vgpu_image_vars[];
extern const uint32_t vgpu_image_var_count;
/* Only in images whose variables to which pointers lead are on a second stack, the pointer of which
 * is at __safestack_pointer_address(). */
extern const uint32_t vgpu_image_second_stack;

struct vgpu_dim3 {
    uint32_t x, y, z;
};

/* ---- provided by vgpu-exec to device code (C functions) ---- */

/* Builtin variables. const: a function runs in one thread from beginning to end. */
VGPU_OFFERED struct vgpu_dim3 vgpu_thread_idx(void) __attribute__((const));
VGPU_OFFERED struct vgpu_dim3 vgpu_block_idx(void) __attribute__((const));
VGPU_OFFERED struct vgpu_dim3 vgpu_block_dim(void) __attribute__((const));
VGPU_OFFERED struct vgpu_dim3 vgpu_grid_dim(void) __attribute__((const));

/* __shared__ variables: one object for each block and each declaration `id`, which is unique in the
 * image. */
VGPU_OFFERED void *vgpu_shared(uint32_t id, uint32_t bytes, uint32_t align);
VGPU_OFFERED void *vgpu_dynamic_shared(void); /* extern __shared__ */

/* Barriers and warp operations; `site` is "file:line" for diagnoses. */
VGPU_OFFERED void vgpu_syncthreads(const char *site);
/* op: 0 count, 1 and, 2 or. */
VGPU_OFFERED int vgpu_syncthreads_reduce(int op, int predicate, const char *site);
/* The block's barriers 0 to 15; count: threads, 0: all of the block. op as above. */
VGPU_OFFERED int vgpu_barrier(int op, uint32_t number, uint32_t count, int predicate,
                              const char *site);
VGPU_OFFERED void vgpu_barrier_arrive(uint32_t number, uint32_t count, const char *site);
VGPU_OFFERED void vgpu_syncwarp(uint32_t mask, const char *site);
enum vgpu_shfl { VGPU_SHFL_IDX, VGPU_SHFL_UP, VGPU_SHFL_DOWN, VGPU_SHFL_XOR };
VGPU_OFFERED uint64_t vgpu_shfl(enum vgpu_shfl kind, uint32_t mask, uint64_t bits, int lane_arg,
                                int width, const char *site);
/* In the fast form (lanes.h), for the 32 lanes of a warp. */
VGPU_OFFERED void vgpu_lanes_shuffle(enum vgpu_shfl kind, uint32_t width, const uint64_t *bits,
                                     const int *lane_arg, uint64_t *result);
enum vgpu_vote { VGPU_VOTE_ALL, VGPU_VOTE_ANY, VGPU_VOTE_BALLOT };
VGPU_OFFERED uint32_t vgpu_vote(enum vgpu_vote kind, uint32_t mask, int predicate,
                                const char *site);
VGPU_OFFERED uint32_t vgpu_lanes_vote(enum vgpu_vote kind, const uint32_t *predicate);
VGPU_OFFERED uint32_t vgpu_activemask(void);
VGPU_OFFERED uint32_t vgpu_lane_id(void) __attribute__((const));

/* One product of matrices by the 32 lanes of a warp: c (m x n) += a (m x k) * b (k x n). Each lane
 * has the same part of each: of e elements, by rows, lane l has those from l * e / 32 on. */
struct vgpu_matrices {
    uint32_t m, n, k;
    const double *a, *b;
    double *c;
};
VGPU_OFFERED void vgpu_matrix_product(struct vgpu_matrices *part, const char *site);

/* Barrier of a cooperative grid of `blocks` blocks; one thread of each block calls it. */
VGPU_OFFERED void vgpu_grid_meet(uint64_t blocks);

/* Thread block clusters. A thread arrives at its cluster's barrier, and waits there later. map: the
 * address of the block's `address` in the shared memory of block `rank`; rank_of: whose it is. */
VGPU_OFFERED void vgpu_cluster_arrive(void);
VGPU_OFFERED void vgpu_cluster_wait(const char *site);
VGPU_OFFERED uint32_t vgpu_cluster_dim(int axis);
VGPU_OFFERED void *vgpu_cluster_map(const void *address, uint32_t rank);
VGPU_OFFERED uint32_t vgpu_cluster_rank_of(const void *address);

/* What a GPU's instructions take that a thread has carried out (vgpu/cc/lower/lower_work.c): two
 * sums of 32 bits in each word. Loads are chains of dependent ones from global memory, in parts of
 * VGPU_WORK_ROUNDS; a chain is in cycles, without them. */
enum vgpu_work_kind {
    VGPU_WORK_SLOTS,
    VGPU_WORK_INTEGERS,
    VGPU_WORK_DOUBLES,
    VGPU_WORK_SPECIAL,
    VGPU_WORK_CHAIN,
    VGPU_WORK_LOADS,
    VGPU_WORK_KINDS
};
enum { VGPU_WORK_ROUNDS = 4 };
extern uint64_t vgpu_work[VGPU_WORK_KINDS / 2];

/* Fences: scope 0 block, 1 device, 2 system; sequentially consistent (fence.sc), or not
 * (fence.acq_rel). */
enum { VGPU_SCOPE_MASK = 3, VGPU_ACQ_REL = 4, VGPU_ACQUIRES = 8, VGPU_UNUSED = 16 };
VGPU_OFFERED void vgpu_fence(int scope);

/* Of the atomic load or store of LLVM that follows, where it is not the system. */
VGPU_OFFERED void vgpu_scope(int scope);

/* Behind the relaxed load that follows comes a relaxed store of `value`, which does not depend on
 * it; `how`: bytes stored, bytes loaded, the store's scope. Only vgpu-cc writes such calls. */
#define VGPU_EARLY(stored, loaded, scope) ((stored) | (loaded) << 4 | (scope) << 8)
VGPU_OFFERED void vgpu_early_store(void *to, uint64_t value, const void *from, uint32_t how);

/* Accesses of a loop that are counted and checked together (vgpu/cc/lower/lower_sweeps.c, which
 * alone writes such calls). A sweep: the accesses of one instruction in all rounds.
 *
 * vgpu_rounds: how many rounds a loop makes that goes on while a value compares to `end` by `how`
 * (enum vgpu_compare, and how many of the bits count): `first` at the end of the first round,
 * `second` at the end of the next, and so on in equal steps. 0: unknown. vgpu_sweep_holds: 1: all
 * accesses, from the addresses of the first and second to that of the last round, may be carried
 * out and are counted by vgpu_sweep_count; 0: each access must be reported.
 */
#define VGPU_ROUNDS(compare, bits) ((uint32_t)(compare) | (uint32_t)(bits) << 8)
#define VGPU_SWEEP(kind, write) ((uint32_t)(kind) | (uint32_t)(write) << 8)
VGPU_OFFERED uint64_t vgpu_rounds(uint64_t first, uint64_t second, uint64_t end, uint32_t how);
VGPU_OFFERED uint32_t vgpu_sweep_holds(uint64_t first, uint64_t second, uint64_t last,
                                       uint64_t rounds, uint32_t how);
VGPU_OFFERED void vgpu_sweep_count(uint64_t first, uint64_t rounds, uint32_t how);

/* Atomics on any memory that the context can access; scope as above, and VGPU_ACQUIRES,
 * VGPU_UNUSED (nothing uses the result). Values are passed and returned as raw bits. */
enum vgpu_atomic_op {
    VGPU_ATOMIC_ADD,
    VGPU_ATOMIC_SUB,
    VGPU_ATOMIC_EXCH,
    VGPU_ATOMIC_MIN,
    VGPU_ATOMIC_MAX,
    VGPU_ATOMIC_INC,
    VGPU_ATOMIC_DEC,
    VGPU_ATOMIC_AND,
    VGPU_ATOMIC_OR,
    VGPU_ATOMIC_XOR,
    VGPU_ATOMIC_CAS
};
enum vgpu_atomic_type { VGPU_I32, VGPU_U32, VGPU_I64, VGPU_U64, VGPU_F32, VGPU_F64 };
VGPU_OFFERED uint64_t vgpu_atomic(enum vgpu_atomic_op op, enum vgpu_atomic_type type, void *address,
                                  uint64_t value, uint64_t compare, int scope);

/* The same of 16 bits, or of two halves of 32: EXCH and CAS of bits; ADD, MIN and MAX of numbers.
 */
enum vgpu_half_type { VGPU_HALF_BITS, VGPU_HALF_F16, VGPU_HALF_BF16, VGPU_TWO_F16, VGPU_TWO_BF16 };
VGPU_OFFERED uint32_t vgpu_atomic_half(enum vgpu_atomic_op op, enum vgpu_half_type type,
                                       void *address, uint32_t value, uint32_t compare, int scope);
/* cp.reduce.async.bulk: each element of `bytes` at `from` updates the one at `to`; type: of numbers
 * of 16 bits vgpu_half_type, if `halves`, or else vgpu_atomic_type. */
VGPU_OFFERED void vgpu_atomic_bulk(enum vgpu_atomic_op op, int halves, int type, void *to,
                                   const void *from, uint64_t bytes);
/* EXCH and CAS of 128 bits; old: what was there, the lower half first. */
VGPU_OFFERED void vgpu_atomic_wide(enum vgpu_atomic_op op, void *address, uint64_t low,
                                   uint64_t high, uint64_t compare_low, uint64_t compare_high,
                                   uint64_t *old, int scope);

/* ---- for inline PTX (vgpu/cc/ptx/ptx_*.c): PTX ISA 9.0, chapter 9.7 ---- */

/* Arithmetic on values of `bits` bits, given and returned as raw bits. */
enum vgpu_ptx_kind { VGPU_PTX_UNSIGNED, VGPU_PTX_SIGNED, VGPU_PTX_FLOAT };
enum vgpu_ptx_operation {
    VGPU_PTX_ADD,
    VGPU_PTX_SUB,
    VGPU_PTX_MUL, /* its lower half */
    VGPU_PTX_MUL_HI,
    VGPU_PTX_MUL_WIDE,
    VGPU_PTX_MAD,
    VGPU_PTX_MAD_HI,
    VGPU_PTX_MAD_WIDE,
    VGPU_PTX_FMA,
    VGPU_PTX_DIV,
    VGPU_PTX_REM,
    VGPU_PTX_MIN,
    VGPU_PTX_MAX,
    VGPU_PTX_NEG,
    VGPU_PTX_ABS,
    VGPU_PTX_AND,
    VGPU_PTX_OR,
    VGPU_PTX_XOR,
    VGPU_PTX_NOT,
    VGPU_PTX_SHL,
    VGPU_PTX_SHR,
    VGPU_PTX_SHF_L_WRAP,
    VGPU_PTX_SHF_L_CLAMP,
    VGPU_PTX_SHF_R_WRAP,
    VGPU_PTX_SHF_R_CLAMP,
    VGPU_PTX_BFE,
    VGPU_PTX_BFI,
    VGPU_PTX_BMSK_WRAP,
    VGPU_PTX_BMSK_CLAMP,
    VGPU_PTX_PRMT,
    VGPU_PTX_LOP3,
    VGPU_PTX_POPC,
    VGPU_PTX_CLZ,
    VGPU_PTX_BREV,
    VGPU_PTX_BFIND,
    VGPU_PTX_EQ, /* comparisons: 0 or 1 */
    VGPU_PTX_NE,
    VGPU_PTX_LT,
    VGPU_PTX_LE,
    VGPU_PTX_GT,
    VGPU_PTX_GE,
    VGPU_PTX_FNS /* of 32 bits */
};
VGPU_OFFERED uint64_t vgpu_ptx(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind,
                               uint32_t bits, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* Floating-point operations with a rounding; up to RCP also by vgpu_ptx_round. */
enum vgpu_float_operation {
    VGPU_FLOAT_ADD,
    VGPU_FLOAT_SUB,
    VGPU_FLOAT_MUL,
    VGPU_FLOAT_FMA,
    VGPU_FLOAT_DIV,
    VGPU_FLOAT_SQRT,
    VGPU_FLOAT_RCP,
    VGPU_FLOAT_FROM_SIGNED, /* of a 64-bit integer */
    VGPU_FLOAT_FROM_UNSIGNED,
    VGPU_FLOAT_RSQRT,
    VGPU_FLOAT_MIN,
    VGPU_FLOAT_MAX,
    VGPU_FLOAT_NEG,
    VGPU_FLOAT_ABS,
    VGPU_FLOAT_CALL
};
enum vgpu_ptx_rounding { VGPU_ROUND_NEAREST, VGPU_ROUND_ZERO, VGPU_ROUND_DOWN, VGPU_ROUND_UP };
/* E4M3 and E5M2 are the formats of eight bits; a number that is too large becomes their largest. */
enum vgpu_narrow {
    VGPU_NARROW_F16,
    VGPU_NARROW_BF16,
    VGPU_NARROW_F32,
    VGPU_NARROW_E4M3,
    VGPU_NARROW_E5M2
};
VGPU_OFFERED uint64_t vgpu_ptx_round(enum vgpu_float_operation operation, uint32_t bits,
                                     enum vgpu_ptx_rounding rounding, uint64_t a, uint64_t b,
                                     uint64_t c);
/* An f64 as a narrower number. */
VGPU_OFFERED uint64_t vgpu_ptx_narrow(enum vgpu_narrow to, enum vgpu_ptx_rounding rounding,
                                      uint64_t f64);
/* a * b + c of f64s whose product is exact, rounded to odd. */
VGPU_OFFERED uint64_t vgpu_ptx_fma_odd(uint64_t a, uint64_t b, uint64_t c);

enum vgpu_ptx_register {
    VGPU_PTX_TID, /* .x, .y, .z */
    VGPU_PTX_NTID = VGPU_PTX_TID + 3,
    VGPU_PTX_CTAID = VGPU_PTX_NTID + 3,
    VGPU_PTX_NCTAID = VGPU_PTX_CTAID + 3,
    VGPU_PTX_WARPID = VGPU_PTX_NCTAID + 3,
    VGPU_PTX_NWARPID,
    VGPU_PTX_LANEMASK_EQ,
    VGPU_PTX_LANEMASK_LT,
    VGPU_PTX_LANEMASK_LE,
    VGPU_PTX_LANEMASK_GT,
    VGPU_PTX_LANEMASK_GE,
    VGPU_PTX_SMID,
    VGPU_PTX_NSMID,
    VGPU_PTX_DYNAMIC_SHARED
};
VGPU_OFFERED uint32_t vgpu_ptx_register(enum vgpu_ptx_register which);

VGPU_OFFERED void vgpu_exit(void) __attribute__((noreturn));

/* shfl.sync and elect.sync: the value, and from bit 32 the predicate. */
VGPU_OFFERED uint64_t vgpu_ptx_shfl(enum vgpu_shfl kind, uint32_t mask, uint32_t value, uint32_t b,
                                    uint32_t c, const char *site);
VGPU_OFFERED uint64_t vgpu_ptx_elect(uint32_t mask, const char *site);
VGPU_OFFERED uint32_t vgpu_ptx_match(int all, uint32_t mask, uint64_t value, const char *site);
VGPU_OFFERED uint32_t vgpu_ptx_redux(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind,
                                     uint32_t mask, uint32_t value, const char *site);

/* mma.sync and wmma.mma: d (m x n) = a (m x k) * b (k x n) + c. Each lane has its registers of a, b
 * and c one behind the other; types are of enum vgpu_mma_type. */
enum vgpu_mma_type {
    VGPU_MMA_F16,
    VGPU_MMA_BF16,
    VGPU_MMA_TF32,
    VGPU_MMA_F32,
    VGPU_MMA_F64,
    VGPU_MMA_S8,
    VGPU_MMA_U8,
    VGPU_MMA_S4,
    VGPU_MMA_U4,
    VGPU_MMA_E4M3,
    VGPU_MMA_E5M2,
    VGPU_MMA_S32
};
struct vgpu_mma {
    uint8_t m, n, k, a, b, c, d, saturate;
};
struct vgpu_mma_lane {
    struct vgpu_mma shape;
    const uint32_t *abc;
    uint32_t *d;
};
VGPU_OFFERED void vgpu_ptx_mma(struct vgpu_mma shape, const uint32_t *abc, uint32_t *d,
                               const char *site);

/* `count` elements of 1 to 8 bytes, as one load of volatile or atomic kind. */
VGPU_OFFERED void vgpu_load_vector(void *to, const void *from, uint32_t bytes, uint32_t count);

/* State spaces; addresses of shared memory also have a form of 32 bits, counted from its window. */
#define VGPU_SHARED_VA 0x350000000000ull
enum vgpu_space { VGPU_SPACE_GLOBAL, VGPU_SPACE_SHARED, VGPU_SPACE_LOCAL };
VGPU_OFFERED int vgpu_is_space(enum vgpu_space space, const void *address);

/* mbarrier objects; what it returns is a phase's state, or 0 or 1. */
enum vgpu_mbarrier_operation {
    VGPU_MBARRIER_INIT, /* value: threads */
    VGPU_MBARRIER_INVAL,
    VGPU_MBARRIER_ARRIVE,      /* value: how often */
    VGPU_MBARRIER_ARRIVE_DROP, /* value: how often */
    VGPU_MBARRIER_EXPECT_TX,   /* value: bytes */
    VGPU_MBARRIER_ARRIVE_EXPECT_TX,
    VGPU_MBARRIER_ARRIVE_DROP_EXPECT_TX,
    VGPU_MBARRIER_COMPLETE_TX,
    VGPU_MBARRIER_TEST,        /* value: a state */
    VGPU_MBARRIER_TEST_PARITY, /* value: 0 or 1 */
    VGPU_MBARRIER_PENDING      /* value: a state; no address */
};
VGPU_OFFERED uint64_t vgpu_mbarrier(enum vgpu_mbarrier_operation operation, void *address,
                                    uint64_t value);

/* Textures and surfaces (texture.h). A texel's channels are numbers of 32 bits, floating-point
 * where the object reads as such. A surface's access: the address of `bytes` that begin at byte x
 * of row y in plane or layer z; 0: outside of the surface, where zeros are read and nothing is
 * written. */
VGPU_OFFERED void vgpu_texture_read(uint64_t object, enum vgpu_texture_shape shape, float x,
                                    float y, float z, int32_t layer, uint32_t *channel);
VGPU_OFFERED uint64_t vgpu_surface_at(uint64_t object, int32_t x, int32_t y, int32_t z,
                                      uint32_t bytes, enum vgpu_boundary_mode mode);

VGPU_OFFERED uint32_t vgpu_texture_query(uint64_t object, int surface,
                                         enum vgpu_texture_query what);

VGPU_OFFERED int64_t vgpu_clock64(void); /* virtual SM cycles since the kernel started */
#ifndef __CUDA__
int vgpu_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
VGPU_OFFERED void vgpu_assert_fail(const char *expr, const char *file, unsigned line,
                                   const char *func) __attribute__((noreturn));
VGPU_OFFERED void vgpu_trap(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
