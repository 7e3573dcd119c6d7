/* SPDX-License-Identifier: MIT
 * lane_rules.c: which instructions a kernel's fast form (lanes.h) may contain, and what they need:
 * an access a counter and a range, a division a range of its divisor.
 */
#include <string.h>

#include "lane_values.h"

/* ---- calls ---- */

/* Math functions: they access no memory of the program and always return. Each has a float version,
 * too. */
static bool is_mathematics(const char *name)
{
    static const char *const known[] = {
        "acos",     "acosh", "asin",  "asinh",  "atan",      "atan2", "atanh", "cbrt",  "ceil",
        "copysign", "cos",   "cosh",  "erf",    "erfc",      "exp",   "exp10", "exp2",  "expm1",
        "fabs",     "fdim",  "floor", "fma",    "fmax",      "fmin",  "fmod",  "hypot", "log",
        "log10",    "log1p", "log2",  "pow",    "nearbyint", "rint",  "round", "sin",   "sinh",
        "sqrt",     "tan",   "tanh",  "tgamma", "trunc"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i]);
        if (strncmp(name, known[i], n) == 0 && (length == n || (length == n + 1 && name[n] == 'f')))
            return true;
    }
    return false;
}

static bool is_pure_intrinsic(const char *name)
{
    static const char *const known[] = {
        "abs.",       "assume",     "bitreverse.",    "bswap.",  "ceil.",
        "copysign.",  "cos.",       "ctlz.",          "ctpop.",  "cttz.",
        "dbg.",       "exp.",       "exp2.",          "fabs.",   "floor.",
        "fma.",       "fmuladd.",   "fshl.",          "fshr.",   "log.",
        "log10.",     "log2.",      "maximum.",       "maxnum.", "minimum.",
        "minnum.",    "nearbyint.", "pow.",           "rint.",   "round.",
        "roundeven.", "sin.",       "smax.",          "smin.",   "sqrt.",
        "trunc.",     "umax.",      "vector.reduce.", "umin.",   "experimental.noalias.scope.decl"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cc_starts(name, known[i]))
            return true;
    return false;
}

bool cc_is_pure_call(LLVMValueRef called)
{
    const char *name = cc_value_name(called);

    return cc_starts(name, "llvm.") ? is_pure_intrinsic(name + 5) : is_mathematics(name);
}

static bool is_shared_variable(const char *name)
{
    return strcmp(name, "vgpu_shared") == 0 || strcmp(name, "vgpu_dynamic_shared") == 0;
}

static const char *refused_call(LLVMValueRef call)
{
    static const char *const reason[][2] = {{"vgpu_fence", "it has fences"},
                                            {"vgpu_clock64", "it reads the clock"},
                                            {"vgpu_vprintf", "it prints"},
                                            {"vgpu_printf", "it prints"},
                                            {"vgpu_assert_fail", "it has an assert"},
                                            {"vgpu_trap", "it has a trap"},
                                            {"vgpu_barrier", "it has barriers of some threads"},
                                            {"llvm.trap", "it has a trap"},
                                            {"vgpu_call_target", "it calls through a pointer"}};
    LLVMValueRef called = LLVMGetCalledValue(call);

    if (LLVMIsAFunction(called) == NULL)
        return "it calls through a pointer, or has PTX";
    const char *name = cc_value_name(called);
    for (size_t i = 0; i < sizeof reason / sizeof *reason; i++)
        if (cc_starts(name, reason[i][0]))
            return reason[i][1];
    if (!LLVMIsDeclaration(called))
        return "it calls a function that was not inlined and uses memory";
    if (is_shared_variable(name))
        return NULL;
    if (cc_meeting_at(call) != CC_MEET_NOT)
        return cc_refused_meeting(call);
    if (cc_is_atomic(call))
        return cc_refused_atomic(call);
    if (cc_is_pure_call(called))
        return NULL;
    return cc_format("it calls %s", name);
}

/* ---- instructions ---- */

static const char *refused(struct cc_lowering *l, LLVMValueRef i)
{
    int op = LLVMGetInstructionOpcode(i);

    switch (op) {
    case LLVM_OP_ALLOCA:
        return "it has an array of its own in each thread";
    case LLVM_OP_FENCE:
        return "it has fences";
    case LLVM_OP_COMPARE_EXCHANGE:
    case LLVM_OP_READ_MODIFY_WRITE:
        return "it has atomics";
    case LLVM_OP_FREM:
        return "it has a remainder of floating-point numbers";
    case LLVM_OP_CALL:
        return refused_call(i);
    case LLVM_OP_LOAD:
    case LLVM_OP_STORE:
        if (LLVMGetVolatile(i))
            return "it has volatile accesses";
        if (LLVMGetOrdering(i) != LLVM_ORDER_NONE)
            return "it has atomics";
        return NULL;
    case LLVM_OP_UDIV:
    case LLVM_OP_SDIV:
    case LLVM_OP_UREM:
    case LLVM_OP_SREM:
        return cc_step_bits(l, i) == 0 ? "it divides vectors or wide integers" : NULL;
    default: /* ret, br; from add to freeze: no side effects */
        return op == LLVM_OP_RET || op == LLVM_OP_BR ||
                       (op >= LLVM_OP_ADD && op <= LLVM_OP_FREEZE && op != 67)
                   ? NULL
                   : "it has a switch, or code that the compiler found impossible";
    }
}

/* With `#pragma clang fp reassociate(on)` the compiler chooses the order of additions, and could
 * choose differently for the two forms. LLVM's C interface has these flags only from release 18 on:
 * so they are searched in the printed text.
 */
static bool is_inexact(LLVMValueRef kernel)
{
    static const char *const marks[] = {" fast ", " reassoc ", " arcp ", " afn "};
    const char *text = LLVMPrintValueToString(kernel);

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(text, marks[i]) != NULL)
            return true;
    return false;
}

const char *cc_refused_instruction(struct cc_lowering *l, LLVMValueRef kernel)
{
    const char *why = NULL;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b && !why;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !why; i = LLVMGetNextInstruction(i))
            why = refused(l, i);
    if (why == NULL && is_inexact(kernel))
        why = "a pragma leaves the order of additions open";
    return why;
}

/* ---- needs of instructions ---- */

static struct vgpu_lane_shared shared_of(LLVMValueRef call)
{
    uint32_t number[3] = {0};

    for (unsigned i = 0; i < 3 && LLVMGetNumOperands(call) == 4; i++)
        number[i] = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, i));
    return (struct vgpu_lane_shared){number[0], number[1], number[2]};
}

int cc_shared_number(const struct cc_lane_plan *plan, LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsACallInst(call) != NULL ? LLVMGetCalledValue(call) : NULL;

    if (called == NULL || LLVMIsAFunction(called) == NULL ||
        !is_shared_variable(cc_value_name(called)))
        return -1;
    struct vgpu_lane_shared asked = shared_of(call);
    for (size_t i = 0; i < plan->shared_count; i++)
        if (memcmp(&plan->shared[i], &asked, sizeof asked) == 0)
            return (int)i;
    return -1;
}

void cc_add_demand(struct cc_lane_plan *plan, struct vgpu_lane_demand demand)
{
    plan->demand = cc_grow(plan->demand, plan->demand_count, &plan->demand_capacity, sizeof demand);
    plan->demand[plan->demand_count++] = demand;
}

/* The counter of the block, for all of its accesses. */
static uint16_t block_counter(struct cc_lane_plan *plan, LLVMBasicBlockRef block)
{
    for (size_t i = 0; i < plan->counted_count; i++)
        if (plan->counted[i] == block)
            return (uint16_t)i;
    plan->counted = cc_grow(plan->counted, plan->counted_count, &plan->counted_capacity,
                            sizeof(LLVMBasicBlockRef));
    plan->counted[plan->counted_count] = block;
    return (uint16_t)plan->counted_count++;
}

/* Its kind is filled in. */
static const char *note_lane_access(struct cc_planner *p, LLVMValueRef address, int block,
                                    struct vgpu_lane_access access)
{
    struct cc_lane_plan *plan = p->plan;

    access.step = cc_step_of(p, address, block);
    if (access.step == VGPU_NO_STEP || cc_is_unknown(plan, access.step))
        return "an address in it depends on what is in memory";
    access.place = p->place[block];
    if (access.object == 0)
        access.counter = block_counter(plan, p->graph.block[block].block);
    plan->access = cc_grow(plan->access, plan->access_count, &plan->access_capacity, sizeof access);
    plan->access[plan->access_count++] = access;
    return NULL;
}

/* Classifies accesses as ThreadSanitizer's pass and vgpu-exec's callbacks do. */
static const char *plan_access(struct cc_planner *p, LLVMValueRef i, int block)
{
    bool write = LLVMGetInstructionOpcode(i) == LLVM_OP_STORE;
    LLVMTypeRef type = LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i);
    unsigned long long bits = LLVMSizeOfTypeInBits(p->l->layout, type), bytes = bits / 8;
    unsigned align = LLVMGetAlignment(i);
    LLVMValueRef address = LLVMGetOperand(i, write ? 1 : 0);
    int object = cc_uncounted_object(p, address, block);

    if (write && object >= 0)
        return "it changes an argument or a constant";
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)
        return "it has an access of an unusual size";
    struct vgpu_lane_access access = {.bytes = (uint8_t)bytes,
                                      .write = write,
                                      .range = align < 8 && align % bytes != 0,
                                      .object = (uint8_t)(object + 1)};
    access.aligned = access.range ? 1 : align >= 16 || bytes < 8 ? (uint8_t)bytes : 8;
    return note_lane_access(p, address, block, access);
}

static const char *plan_atomic(struct cc_planner *p, LLVMValueRef call, int block)
{
    struct vgpu_lane_access access;
    LLVMValueRef address;
    const char *why = cc_plan_atomic(p, call, block, &access, &address);

    return why != NULL ? why : note_lane_access(p, address, block, access);
}

/* A warp is 32 threads that differ in threadIdx.x alone, as blockDim.x is a multiple of that. */
static const char *plan_warp(struct cc_planner *p, LLVMValueRef call, int block)
{
    struct vgpu_step_of_lanes width = {
        .kind = VGPU_STEP_INDEX, .bits = 32, .value = VGPU_LANE_BLOCK_DIM};
    struct vgpu_lane_demand demand = {.kind = VGPU_DEMAND_WARPS, .place = p->place[0]};
    LLVMValueRef mask = cc_mask_of(call);

    if (p->plan->warp_count++ == 0) {
        demand.step = cc_add_step(p->plan, width);
        cc_add_demand(p->plan, demand);
    }
    if (mask == NULL || LLVMIsAConstant(mask) != NULL)
        return NULL;
    demand = (struct vgpu_lane_demand){
        .kind = VGPU_DEMAND_LANES, .step = cc_step_of(p, mask, block), .place = p->place[block]};
    if (demand.step == VGPU_NO_STEP || cc_is_unknown(p->plan, demand.step))
        return cc_some_lanes;
    cc_add_demand(p->plan, demand);
    return NULL;
}

/* vgpu-exec gives out the memory in the order in which it is asked for. */
static const char *plan_call(struct cc_planner *p, LLVMValueRef call, int block)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    struct cc_lane_plan *plan = p->plan;

    if (cc_is_atomic(call))
        return plan_atomic(p, call, block);
    enum cc_meeting meeting = cc_meeting_at(call);
    plan->barrier_count += meeting == CC_MEET_BARRIER || meeting == CC_MEET_COUNT;
    if (meeting >= CC_MEET_WARP)
        return plan_warp(p, call, block);
    if (!is_shared_variable(cc_value_name(called)) || cc_shared_number(plan, call) >= 0)
        return NULL;
    if (block != 0)
        return "it has __shared__ memory inside of a condition";
    if (plan->shared_count == VGPU_LANE_SHARED_MAX)
        return "it has many __shared__ variables";
    plan->shared[plan->shared_count++] = shared_of(call);
    return NULL;
}

static void add_division(struct cc_divisions *to, LLVMValueRef i)
{
    to->at = cc_grow(to->at, to->count, &to->capacity, sizeof i);
    to->at[to->count++] = i;
}

/* Both numbers have 32 bits, and the dividend is not the same in all threads. */
static bool is_for_vectors(struct cc_planner *p, LLVMValueRef i, int block)
{
    uint16_t number = cc_step_of(p, LLVMGetOperand(i, 0), block);

    return cc_is_guarded_division(p->l, i) && LLVMIsAConstant(LLVMGetOperand(i, 1)) == NULL &&
           (number == VGPU_NO_STEP || !cc_is_same_for_all(p->plan, number));
}

/* A division on which this processor may trap in all threads excludes the fast form. */
static const char *plan_division(struct cc_planner *p, LLVMValueRef i, int block)
{
    int op = LLVMGetInstructionOpcode(i);
    uint16_t divisor = cc_step_of(p, LLVMGetOperand(i, 1), block);

    if (cc_is_guarded_division(p->l, i) &&
        (divisor == VGPU_NO_STEP || !cc_is_same_for_all(p->plan, divisor))) {
        add_division(&p->plan->guarded, i);
        return NULL;
    }
    if (is_for_vectors(p, i, block))
        add_division(&p->plan->divided, i);
    if (divisor == VGPU_NO_STEP || cc_is_unknown(p->plan, divisor))
        return "it divides by a number that was read from memory";
    cc_add_demand(p->plan,
                  (struct vgpu_lane_demand){.kind = VGPU_DEMAND_DIVISOR,
                                            .step = divisor,
                                            .place = p->place[block],
                                            .value = op == LLVM_OP_SDIV || op == LLVM_OP_SREM});
    return NULL;
}

const char *cc_plan_instruction(struct cc_planner *p, LLVMValueRef instruction, int block)
{
    const char *why = NULL;

    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVM_OP_LOAD:
        if (cc_index_read(p->l, instruction) < 0 && !cc_is_managed_place(instruction))
            why = plan_access(p, instruction, block);
        break;
    case LLVM_OP_STORE:
        why = plan_access(p, instruction, block);
        break;
    case LLVM_OP_UDIV:
    case LLVM_OP_SDIV:
    case LLVM_OP_UREM:
    case LLVM_OP_SREM:
        why = plan_division(p, instruction, block);
        break;
    case LLVM_OP_CALL:
        why = plan_call(p, instruction, block);
        break;
    default:
        break;
    }
    if (why == NULL && cc_step_bits(p->l, instruction) != 0)
        cc_step_of(p, instruction, block);
    return why;
}
