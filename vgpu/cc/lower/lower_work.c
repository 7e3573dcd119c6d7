/* SPDX-License-Identifier: MIT
 * lower_work.c: counts in the careful form what a GPU's instructions take (vgpu_work in image.h),
 * a sum for each basic block, from which the node computes a kernel's time.
 *
 * A thread's instructions start in order, so a block takes as long as its longest chain of results
 * that wait for each other. Of a loop in one block whose variable is counted up by a constant nvcc
 * makes four rounds one: there the chain is a quarter, unless one round waits for the last. A loop
 * that ends when other threads want it to is not counted: how often it goes round is the host's.
 */
#include "block_graph.h"
#include "lower.h"
#include "work_costs.h"

#include "image.h"

enum { UNROLLED = VGPU_WORK_ROUNDS, UNSEEN_SPACE = 1, BRANCH_CYCLES = 4, BITS = 32 };

/* Of the instructions of one block, in their order: the chain that ends with each. */
struct chains {
    LLVMValueRef *instruction;
    struct cc_cost *until; /* chain and loads only */
    size_t count;
};

struct work {
    struct cc_cost all;
    uint32_t addresses; /* instructions that only make addresses */
    uint32_t loads;     /* in parts of UNROLLED */
};

/* ---- loops that wait for others ---- */

static bool is_within_loop(const struct cc_graph *graph, int block, int header)
{
    while (block != header && block != CC_NO_BLOCK)
        block = graph->block[block].header;
    return block == header;
}

static bool has_foreign(LLVMValueRef function);

static bool is_foreign_call(LLVMValueRef called)
{
    static const char *const foreign[] = {"vgpu_atomic",      "vgpu_clock64",  "vgpu_globaltimer",
                                          "vgpu_load_vector", "vgpu_mbarrier", "vgpu_activemask"};

    if (LLVMIsAFunction(called) == NULL)
        return true;
    if (!LLVMIsDeclaration(called))
        return has_foreign(called);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (cc_starts(cc_value_name(called), foreign[i]))
            return true;
    return false;
}

/* A value that another thread, or time, decides. */
static bool is_foreign(LLVMValueRef value)
{
    int op = LLVMGetInstructionOpcode(value);

    if (op == LLVM_OP_LOAD)
        return LLVMGetVolatile(value) || LLVMGetOrdering(value) != LLVM_ORDER_NONE;
    if (op == LLVM_OP_CALL)
        return is_foreign_call(LLVMGetCalledValue(value));
    return op == LLVM_OP_COMPARE_EXCHANGE || op == LLVM_OP_READ_MODIFY_WRITE;
}

enum { SEEN_MAX = 256 };

struct search {
    const struct cc_graph *graph;
    int header;
    LLVMValueRef seen[SEEN_MAX];
    size_t count;
};

/* Whether the value depends on a foreign one of the same loop; where it is too much to look at, it
 * does. */
static bool depends_on_others(struct search *s, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL ||
        !is_within_loop(s->graph, cc_block_number(s->graph, LLVMGetInstructionParent(value)),
                        s->header))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->seen[i] == value)
            return false;
    if (s->count == SEEN_MAX || is_foreign(value))
        return true;
    s->seen[s->count++] = value;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (depends_on_others(s, LLVMGetOperand(value, (unsigned)i)))
            return true;
    return false;
}

static bool ends_by_others(const struct cc_graph *graph, int header)
{
    for (int i = 0; i < graph->count; i++) {
        struct search s = {.graph = graph, .header = header};
        LLVMValueRef end = graph->block[i].terminator;
        if (is_within_loop(graph, i, header) && LLVMGetNumSuccessors(end) > 1 &&
            depends_on_others(&s, LLVMGetOperand(end, 0)))
            return true;
    }
    return false;
}

static bool waits_for_others(const struct cc_graph *graph, int block)
{
    int header = graph->block[block].latch != CC_NO_BLOCK ? block : graph->block[block].header;

    for (; header != CC_NO_BLOCK; header = graph->block[header].header)
        if (ends_by_others(graph, header))
            return true;
    return false;
}

/* ---- chains ---- */

static size_t chain_index(const struct chains *c, LLVMValueRef value)
{
    size_t i = 0;

    while (i < c->count && c->instruction[i] != value)
        i++;
    return i;
}

static void extend_chain(struct cc_cost *chain, const struct cc_cost *other)
{
    chain->chain = chain->chain > other->chain ? chain->chain : other->chain;
    chain->loads = chain->loads > other->loads ? chain->loads : other->loads;
}

/* An address, or a number that is a part of addresses only. */
static bool makes_address(LLVMValueRef value, int depth)
{
    int op = LLVMGetInstructionOpcode(value);

    if (op == LLVM_OP_GEP)
        return true;
    if (depth == 0 || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVM_TYPE_INTEGER ||
        LLVMGetFirstUse(value) == NULL || op == LLVM_OP_LOAD)
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use)) == NULL ||
            LLVMIsAPHINode(LLVMGetUser(use)) != NULL || !makes_address(LLVMGetUser(use), depth - 1))
            return false;
    return true;
}

enum { ADDRESS_DEPTH = 3 };

/* The constant by which the loop's variable is counted up in each round; 0: it is not counted up by
 * a constant. */
static uint32_t step_of(LLVMValueRef phi, LLVMBasicBlockRef block)
{
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef next = LLVMGetIncomingValue(phi, k);
        if (LLVMGetIncomingBlock(phi, k) == block && LLVMIsAInstruction(next) != NULL &&
            LLVMGetInstructionOpcode(next) == LLVM_OP_ADD && LLVMGetOperand(next, 0) == phi &&
            LLVMIsAConstantInt(LLVMGetOperand(next, 1)) != NULL)
            return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(next, 1));
    }
    return 0;
}

/* The chains from the block's beginning, or, `carried`, from the last round's results only. */
static struct cc_cost follow_chains(struct cc_lowering *l, LLVMBasicBlockRef block, bool carried,
                                    struct work *work)
{
    struct chains c = {0};
    struct cc_cost floor = {0}, longest = {0};

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        c.count++;
    c.instruction = cc_alloc(c.count * sizeof *c.instruction);
    c.until = cc_alloc(c.count * sizeof *c.until);
    c.count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        struct cc_cost own = cc_cost_of(l, i), until = floor;
        bool starts = LLVMIsAPHINode(i) != NULL,
             follows = !carried || (starts && step_of(i, block) == 0);
        for (int k = 0; k < LLVMGetNumOperands(i) && !starts; k++) {
            size_t at = chain_index(&c, LLVMGetOperand(i, (unsigned)k));
            if (at == c.count)
                continue;
            follows |= c.until[at].orders;
            extend_chain(&until, &c.until[at]);
        }
        until.chain = follows ? until.chain + own.chain : 0;
        until.loads = follows ? until.loads + own.loads : 0;
        until.orders = follows;
        extend_chain(&longest, &until);
        if (own.orders)
            floor = longest;
        floor.orders = false;
        c.instruction[c.count] = i;
        c.until[c.count++] = until;
        work->addresses += makes_address(i, ADDRESS_DEPTH) ? own.slots : 0;
        work->all.orders |= own.orders;
        work->all.slots += own.slots;
        work->all.integers += own.integers;
        work->all.doubles += own.doubles;
        work->all.special += own.special;
    }
    if (!carried)
        return longest;
    longest = (struct cc_cost){0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); LLVMIsAPHINode(i) != NULL;
         i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            size_t at = chain_index(&c, LLVMGetIncomingValue(i, k));
            if (LLVMGetIncomingBlock(i, k) == block && at < c.count)
                extend_chain(&longest, &c.until[at]);
        }
    return longest;
}

/* Of the instructions of a loop itself (addition, comparison, jump) and of those that make
 * addresses a quarter is left. */
static void unroll_loop(struct work *work, const struct cc_cost *longest,
                        const struct cc_cost *carried, uint32_t rounds)
{
    enum { OWN_SLOTS = 2 };
    uint32_t fewer = OWN_SLOTS + work->addresses - work->addresses / UNROLLED;

    work->all.slots -= work->all.slots > fewer ? fewer : 0;
    work->all.integers -= work->all.integers < fewer ? work->all.integers : fewer;
    work->all.chain = carried->chain + (longest->chain - carried->chain) * rounds / UNROLLED + 1;
    work->loads = carried->loads * UNROLLED + (longest->loads - carried->loads) * rounds;
}

/* How many rounds LLVM has made one of already; 0: nvcc would not. */
static uint32_t rounds_of(LLVMBasicBlockRef block)
{
    enum { MOST = 8 };
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    uint32_t step = 0;

    if (LLVMGetNumSuccessors(end) != 2 ||
        (LLVMGetSuccessor(end, 0) != block && LLVMGetSuccessor(end, 1) != block))
        return 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); LLVMIsAPHINode(i) != NULL;
         i = LLVMGetNextInstruction(i))
        step = step_of(i, block) > 0 ? step_of(i, block) : step;
    return step > MOST || (step & (step - 1)) != 0 ? 1 : step;
}

static struct work block_work(struct cc_lowering *l, const struct cc_graph *graph, int number,
                              LLVMBasicBlockRef block)
{
    struct work work = {0}, ignored = {0};
    struct cc_cost longest = follow_chains(l, block, false, &work);
    uint32_t rounds = rounds_of(block);

    work.all.chain = longest.chain;
    work.loads = longest.loads * UNROLLED;
    if (rounds > 0 && !work.all.orders) {
        struct cc_cost carried = follow_chains(l, block, true, &ignored);
        unroll_loop(&work, &longest, &carried, rounds);
    } else if (graph != NULL && graph->block[number].latch != CC_NO_BLOCK) {
        work.all.chain += BRANCH_CYCLES;
    }
    return work;
}

/* ---- counting ---- */

static void add_to_counter(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef counters,
                           unsigned index, uint32_t low, uint32_t high)
{
    LLVMTypeRef word = cc_int_type(l, 64);
    LLVMValueRef at = cc_number(l, index, 64);

    if (low == 0 && high == 0)
        return;
    LLVMValueRef address = LLVMConstInBoundsGEP2(word, counters, &at, 1);
    LLVMValueRef more = cc_number(l, (uint64_t)high << BITS | low, 64);
    LLVMBuildStore(
        b, LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, word, address, ""), more, ""), address);
}

static void count_block(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef counters,
                        LLVMBasicBlockRef block, const struct work *work)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

    LLVMPositionBuilderBefore(b, end);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(end));
    add_to_counter(l, b, counters, VGPU_WORK_SLOTS / 2, work->all.slots, work->all.integers);
    add_to_counter(l, b, counters, VGPU_WORK_DOUBLES / 2, work->all.doubles, work->all.special);
    add_to_counter(l, b, counters, VGPU_WORK_CHAIN / 2, work->all.chain, work->loads);
}

/* Not in what it calls: device functions may call themselves. */
static bool has_foreign(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) != LLVM_OP_CALL && is_foreign(i))
                return true;
    return false;
}

bool cc_is_careful(LLVMValueRef function)
{
    static const char name[] = "sanitize_thread";

    return !LLVMIsDeclaration(function) &&
           LLVMGetEnumAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                       LLVMGetEnumAttributeKindForName(name, sizeof name - 1)) !=
               NULL;
}

/* Called by nothing but its entry (lower_kernel.c). */
static bool is_kernel(LLVMValueRef function)
{
    static const char name[] = "disable_sanitizer_instrumentation";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMUseRef use = LLVMGetFirstUse(function);

    for (; use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) == NULL ||
            LLVMGetEnumAttributeAtIndex(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)),
                                        (unsigned)LLVM_ATTRIBUTE_FUNCTION, kind) == NULL)
            return false;
    }
    return true;
}

static void count_function(struct cc_lowering *l, LLVMValueRef function, LLVMValueRef counters)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    struct cc_graph graph;
    bool known = cc_make_graph(function, &graph) == NULL;

    if ((!known || !is_kernel(function)) && has_foreign(function))
        return; /* it may be what a loop waits for */
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k)) {
        int number = known ? cc_block_number(&graph, k) : CC_NO_BLOCK;
        if (number != CC_NO_BLOCK && waits_for_others(&graph, number))
            continue;
        struct work work = block_work(l, number == CC_NO_BLOCK ? NULL : &graph, number, k);
        count_block(l, b, counters, k, &work);
    }
}

static bool rounds_twice(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (cc_is_rounded_twice(i))
                return true;
    return false;
}

/* For the report (vgpu/common/feature_list.def), which looks for the name. */
static void mark_sums_of_products(struct cc_lowering *l)
{
    LLVMTypeRef byte = cc_int_type(l, 8);

    LLVMSetInitializer(LLVMAddGlobal(l->module, byte, "vgpu_sum_of_products"), LLVMConstNull(byte));
}

void cc_count_work(struct cc_lowering *l)
{
    LLVMValueRef counters =
        LLVMAddGlobalInAddressSpace(l->module, cc_int_type(l, 64), "vgpu_work", UNSEEN_SPACE);
    bool twice = false;

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (!cc_is_careful(f))
            continue;
        twice |= rounds_twice(f);
        count_function(l, f, counters);
    }
    if (twice)
        mark_sums_of_products(l);
}
