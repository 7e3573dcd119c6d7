/* SPDX-License-Identifier: MIT
 * offered.c: the symbols that device code may leave undefined: vgpu-exec defines them (image.h, the
 * compiler's callbacks, memory copies) or is linked with them (libm).
 */
#include <string.h>

#include "mem.h"
#include "names.h"

static const char *const builtins[] = {
    "vgpu_thread_idx",   "vgpu_block_idx",
    "vgpu_block_dim",    "vgpu_grid_dim",
    "vgpu_shared",       "vgpu_dynamic_shared",
    "vgpu_syncthreads",  "vgpu_syncthreads_reduce",
    "vgpu_syncwarp",     "vgpu_shfl",
    "vgpu_vote",         "vgpu_activemask",
    "vgpu_lane_id",      "vgpu_fence",
    "vgpu_atomic",       "vgpu_clock64",
    "vgpu_printf",       "vgpu_assert_fail",
    "vgpu_trap",         "__wrap_memcpy",
    "__wrap_memmove",    "__wrap_memset",
    "warpSize",          "threadIdx",
    "blockIdx",          "blockDim",
    "gridDim",           "vgpu_cooperative",
    "vgpu_grid_meet",    "vgpu_vprintf",
    "vgpu_set_rounding", "vgpu_globaltimer",
    "vgpu_call_target",  "vgpu_variable_access",
    "vgpu_ptx",          "vgpu_ptx_register",
    "vgpu_ptx_shfl",     "vgpu_ptx_elect",
    "vgpu_ptx_round",    "vgpu_ptx_narrow",
    "vgpu_ptx_fma_odd",  "vgpu_ptx_match",
    "vgpu_ptx_redux",    "vgpu_is_space",
    "vgpu_mbarrier",     "vgpu_load_vector",
    "vgpu_exit",         "vgpu_matrix_product",
    "vgpu_texture_read", "vgpu_surface_at",
    "vgpu_local_array",  "__safestack_pointer_address",
    "vgpu_work",         "vgpu_cluster_arrive",
    "vgpu_cluster_wait", "vgpu_cluster_dim",
    "vgpu_cluster_map",  "vgpu_cluster_rank_of",
    "vgpu_ptx_mma",      "vgpu_texture_query",
    "vgpu_scope",        "vgpu_early_store",
    "vgpu_rounds",       "vgpu_sweep_holds",
    "vgpu_sweep_count",  "vgpu_atomic_half",
    "vgpu_atomic_wide",  "vgpu_atomic_bulk",
    "vgpu_barrier",      "vgpu_barrier_arrive",
};

/* Functions of double; each has a float version, with f appended to the name. */
static const char *const math[] = {
    "acos",      "acosh",    "asin",   "asinh",   "atan",  "atan2",     "atanh",     "cbrt",
    "ceil",      "copysign", "cos",    "cospi",   "cosh",  "erf",       "erfc",      "exp",
    "exp10",     "exp2",     "expm1",  "fabs",    "fdim",  "floor",     "fma",       "fmax",
    "fmin",      "fmod",     "frexp",  "hypot",   "ilogb", "j0",        "j1",        "jn",
    "ldexp",     "lgamma",   "llrint", "llround", "log",   "log10",     "log1p",     "log2",
    "logb",      "lrint",    "lround", "modf",    "nan",   "nearbyint", "nextafter", "pow",
    "remainder", "remquo",   "rint",   "rsqrt",   "round", "scalbln",   "scalbn",    "sin",
    "sincos",    "sinh",     "sinpi",  "sqrt",    "tan",   "tanh",      "tgamma",    "trunc",
    "y0",        "y1",       "yn",
};

static bool is_math(const char *symbol)
{
    if (cc_starts(symbol, "__wrap_")) /* functions that store through a pointer */
        symbol += strlen("__wrap_");
    size_t length = strlen(symbol);

    for (size_t i = 0; i < sizeof math / sizeof *math; i++) {
        size_t own = strlen(math[i]);
        if (strncmp(symbol, math[i], own) == 0 &&
            (length == own || (length == own + 1 && symbol[own] == 'f')))
            return true;
    }
    return false;
}

bool cc_is_reserved(const char *symbol)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(symbol, builtins[i]) == 0)
            return true;
    return cc_starts(symbol, "__tsan_") ||
           strcmp(symbol, "__ubsan_handle_out_of_bounds_abort") == 0 ||
           strcmp(symbol, "__ubsan_handle_type_mismatch_v1_abort") == 0 ||
           cc_starts(symbol, "__x86_indirect_thunk_") || cc_starts(symbol, "__llvm_retpoline_");
}

bool cc_is_offered(const char *symbol)
{
    return cc_is_reserved(symbol) || is_math(symbol);
}
