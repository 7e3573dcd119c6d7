/* SPDX-License-Identifier: MIT
 * lane_meeting.c: where threads meet: barriers, and the operations of a warp. In the fast form a
 * thread stores what it tells the others, the kernel is divided there (lane_regions.c), and behind
 * it each thread loads its answer, which is computed between the two.
 *
 * A warp's operation is one of all its 32 lanes here: blockDim.x is a multiple of 32, and the mask
 * has all bits (lane_rules.c demands it).
 */
#include "lane_regions.h"

#include <string.h>

#include "image.h"

enum { OF_KIND, OF_MASK, OF_VALUE, OF_LANE, OF_WIDTH };

const char cc_some_lanes[] = "only some lanes of a warp work together in it";

enum cc_meeting cc_meeting_at(LLVMValueRef i)
{
    static const struct {
        const char *name;
        enum cc_meeting is;
    } known[] = {{"vgpu_syncthreads", CC_MEET_BARRIER},
                 {"vgpu_syncthreads_reduce", CC_MEET_COUNT},
                 {CC_SPLIT_MARK, CC_MEET_SPLIT},
                 {"vgpu_syncwarp", CC_MEET_WARP},
                 {"vgpu_activemask", CC_MEET_WARP},
                 {"vgpu_shfl", CC_MEET_SHUFFLE},
                 {"vgpu_vote", CC_MEET_VOTE}};
    LLVMValueRef called = LLVMIsACallInst(i) != NULL ? LLVMGetCalledValue(i) : NULL;

    if (called == NULL || LLVMIsAFunction(called) == NULL)
        return CC_MEET_NOT;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(cc_value_name(called), known[k].name) == 0)
            return known[k].is;
    return CC_MEET_NOT;
}

/* ---- which there may be ---- */

static bool is_number(LLVMValueRef call, unsigned operand)
{
    return LLVMIsAConstantInt(LLVMGetOperand(call, operand)) != NULL;
}

static uint32_t word_of(LLVMValueRef call, unsigned operand)
{
    return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, operand));
}

LLVMValueRef cc_mask_of(LLVMValueRef call)
{
    enum cc_meeting meeting = cc_meeting_at(call);

    if (meeting < CC_MEET_WARP || LLVMGetNumOperands(call) == 1) /* that of __activemask alone */
        return NULL;
    return LLVMGetOperand(call, meeting == CC_MEET_WARP ? 0 : OF_MASK);
}

static bool is_of_some_lanes(LLVMValueRef call)
{
    LLVMValueRef mask = cc_mask_of(call);

    return mask != NULL && LLVMIsAConstant(mask) != NULL &&
           (LLVMIsAConstantInt(mask) == NULL ||
            (uint32_t)LLVMConstIntGetZExtValue(mask) != UINT32_MAX);
}

static bool has_usual_width(LLVMValueRef call)
{
    uint32_t width = is_number(call, OF_WIDTH) ? word_of(call, OF_WIDTH) : 0;

    return width != 0 && width <= CC_WARP_LANES && (width & (width - 1)) == 0;
}

const char *cc_refused_meeting(LLVMValueRef call)
{
    enum cc_meeting meeting = cc_meeting_at(call);

    if ((meeting == CC_MEET_COUNT || meeting >= CC_MEET_SHUFFLE) && !is_number(call, OF_KIND))
        return "it does not always use the same operation of a warp";
    if (meeting == CC_MEET_SHUFFLE && !has_usual_width(call))
        return "it has a shuffle of an unusual width";
    return is_of_some_lanes(call) ? cc_some_lanes : NULL;
}

/* ---- what is told ---- */

static LLVMValueRef add_variable(struct cc_regions *r, LLVMTypeRef type)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->function)));
    return LLVMBuildAlloca(b, type, "");
}

static LLVMValueRef add_array(struct cc_regions *r, unsigned bits)
{
    return add_variable(r, LLVMArrayType(cc_int_type(r->l, bits), CC_WARP_LANES));
}

/* The element of the running lane, or the first. */
static LLVMValueRef element_of(struct cc_regions *r, LLVMBuilderRef b, unsigned bits,
                               LLVMValueRef array, bool first)
{
    LLVMTypeRef number = cc_int_type(r->l, 64);
    LLVMValueRef index[] = {LLVMConstInt(number, 0, 0),
                            first ? LLVMConstInt(number, 0, 0)
                                  : LLVMBuildLoad2(b, number, r->of->in_warp, "")};

    return LLVMBuildGEP2(b, LLVMArrayType(cc_int_type(r->l, bits), CC_WARP_LANES), array, index, 2,
                         "");
}

static LLVMValueRef is_not_zero(struct cc_regions *r, LLVMBuilderRef b, LLVMValueRef value)
{
    LLVMTypeRef word = cc_int_type(r->l, 32);

    return LLVMBuildCast(
        b, LLVM_OP_ZEXT,
        LLVMBuildICmp(b, VGPU_NE + CC_COMPARE_BASE, value, LLVMConstInt(word, 0, 0), ""), word, "");
}

/* How many threads of the block have voted yes so far. */
static void tell_count(struct cc_regions *r, LLVMBuilderRef b, LLVMValueRef call,
                       struct cc_barrier *m)
{
    LLVMTypeRef word = cc_int_type(r->l, 32);
    LLVMBuilderRef entry = LLVMCreateBuilderInContext(r->l->context);

    m->told = add_variable(r, word);
    m->answer = add_variable(r, word);
    LLVMPositionBuilderBefore(entry,
                              LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(r->function)));
    LLVMBuildStore(entry, LLVMConstInt(word, 0, 0), m->told);
    LLVMBuildStore(b,
                   LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, word, m->told, ""),
                                  is_not_zero(r, b, LLVMGetOperand(call, 1)), ""),
                   m->told);
}

void cc_tell(struct cc_regions *r, LLVMValueRef call, struct cc_barrier *m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMValueRef by = NULL;

    m->kind = cc_meeting_at(call);
    LLVMPositionBuilderBefore(b, call);
    if (m->kind >= CC_MEET_SHUFFLE || m->kind == CC_MEET_COUNT)
        m->op = word_of(call, OF_KIND);
    if (m->kind == CC_MEET_COUNT) {
        tell_count(r, b, call, m);
    } else if (m->kind == CC_MEET_VOTE) {
        m->told = add_array(r, 32);
        m->answer = add_variable(r, cc_int_type(r->l, 32));
        LLVMBuildStore(b, is_not_zero(r, b, LLVMGetOperand(call, OF_VALUE)),
                       element_of(r, b, 32, m->told, false));
    } else if (m->kind == CC_MEET_SHUFFLE) {
        m->width = word_of(call, OF_WIDTH);
        m->told = add_array(r, 64);
        m->asked = add_array(r, 32);
        m->answer = add_array(r, 64);
        LLVMBuildStore(b, LLVMGetOperand(call, OF_VALUE), element_of(r, b, 64, m->told, false));
        LLVMBuildStore(b, LLVMGetOperand(call, OF_LANE), element_of(r, b, 32, m->asked, false));
    }
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(call));
    if (m->kind == CC_MEET_SHUFFLE)
        by = LLVMBuildLoad2(b, cc_int_type(r->l, 64), element_of(r, b, 64, m->answer, false), "");
    else if (m->answer != NULL)
        by = LLVMBuildLoad2(b, cc_int_type(r->l, 32), m->answer, "");
    else if (LLVMGetFirstUse(call) != NULL) /* __activemask */
        by = LLVMConstInt(LLVMTypeOf(call), UINT32_MAX, 0);
    if (by != NULL)
        LLVMReplaceAllUsesWith(call, by);
}

/* ---- what is answered ---- */

static LLVMValueRef call_exec(struct cc_regions *r, LLVMBuilderRef b, const char *name,
                              LLVMTypeRef result, LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef type[8];

    for (unsigned i = 0; i < count; i++)
        type[i] = LLVMTypeOf(argument[i]);
    LLVMTypeRef made = LLVMFunctionType(result, type, count, 0);
    return LLVMBuildCall2(b, made, cc_declare(r->l, name, made), argument, count, "");
}

static void answer_count(struct cc_regions *r, LLVMBuilderRef b, const struct cc_barrier *m)
{
    LLVMTypeRef word = cc_int_type(r->l, 32);
    LLVMValueRef yes = LLVMBuildLoad2(b, word, m->told, ""), all = r->of->block_dim[0], same;

    for (int i = 1; i < 3; i++)
        all = LLVMBuildBinOp(b, LLVM_OP_MULTIPLY, all, r->of->block_dim[i], "");
    same = LLVMBuildCast(b, LLVM_OP_ZEXT, LLVMBuildICmp(b, VGPU_EQ + CC_COMPARE_BASE, yes, all, ""),
                         word, "");
    LLVMBuildStore(b, m->op == 1 ? same : m->op == 2 ? is_not_zero(r, b, yes) : yes, m->answer);
    LLVMBuildStore(b, LLVMConstInt(word, 0, 0), m->told);
}

void cc_answer_all(struct cc_regions *r, LLVMBuilderRef b, const struct cc_barrier *m)
{
    LLVMTypeRef word = cc_int_type(r->l, 32), number = cc_int_type(r->l, 64);
    LLVMValueRef argument[5] = {cc_number(r->l, m->op, 32)};

    if (m->kind == CC_MEET_COUNT)
        answer_count(r, b, m);
    if (m->kind == CC_MEET_VOTE) {
        argument[1] = element_of(r, b, 32, m->told, true);
        LLVMBuildStore(b, call_exec(r, b, "vgpu_lanes_vote", word, argument, 2), m->answer);
    }
    if (m->kind != CC_MEET_SHUFFLE)
        return;
    argument[1] = cc_number(r->l, m->width, 32);
    argument[2] = element_of(r, b, 64, m->told, true);
    argument[3] = element_of(r, b, 32, m->asked, true);
    argument[4] = element_of(r, b, 64, m->answer, true);
    call_exec(r, b, "vgpu_lanes_shuffle", LLVMVoidTypeInContext(r->l->context), argument, 5);
    LLVMBuildStore(b,
                   LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, r->shuffled, ""),
                                  cc_number(r->l, CC_WARP_LANES, 64), ""),
                   r->shuffled);
}

enum cc_same_in cc_answer_is_same_in(const struct cc_regions *r, LLVMValueRef variable)
{
    for (size_t i = 0; i < r->barrier_count; i++)
        if (r->barrier[i].answer == variable && r->barrier[i].kind != CC_MEET_SHUFFLE)
            return r->barrier[i].kind == CC_MEET_COUNT ? CC_SAME_IN_BLOCK : CC_SAME_IN_WARP;
    return CC_SAME_NOWHERE;
}
