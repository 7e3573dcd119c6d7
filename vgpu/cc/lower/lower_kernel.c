/* SPDX-License-Identifier: MIT
 * lower_kernel.c: kernels: their entries, which take arguments by address, and the tables of an
 * image.
 */
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "image.h"
#include "lower.h"

enum { PTX_KERNEL_CONVENTION = 71 };

/* ---- finding ---- */

static struct cc_kernel *marked_kernel(struct cc_device_code *code, LLVMValueRef function)
{
    for (size_t i = 0; i < code->kernel_count; i++)
        if (code->kernel[i].function == function)
            return &code->kernel[i];
    return NULL;
}

/* The type of a parameter that is passed by value; null: it is passed directly. */
static LLVMTypeRef by_value_type(LLVMValueRef function, unsigned index)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(function, index + 1, kind);

    return attribute != NULL ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

static uint32_t param_bytes(const struct cc_lowering *l, LLVMValueRef function, unsigned index)
{
    LLVMTypeRef type = by_value_type(function, index);

    if (type == NULL)
        type = LLVMTypeOf(LLVMGetParam(function, index));
    return (uint32_t)LLVMABISizeOfType(l->layout, type);
}

static void check_kernel_parameters(const struct cc_kernel *kernel)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < kernel->param_count; i++)
        bytes += kernel->param_bytes[i];
    if (bytes > VGPU_ARGS_MAX)
        cc_error((struct cc_place){kernel->file, (int)kernel->line, 1},
                 "kernel '%s' has %llu bytes of parameters; a kernel's parameters take at most %d "
                 "bytes: put them into device memory and pass a pointer",
                 kernel->name, (unsigned long long)bytes, VGPU_ARGS_MAX);
}

/* __launch_bounds__ as of Clang 21: the attribute "nvvm.maxntid"="16,8"; before, an annotation. */
static uint32_t most_threads(LLVMValueRef function)
{
    static const char word[] = "nvvm.maxntid";
    LLVMAttributeRef bounds = LLVMGetStringAttributeAtIndex(
        function, (unsigned)LLVM_ATTRIBUTE_FUNCTION, word, sizeof word - 1);
    unsigned length, x, y = 1, z = 1;
    const char *value = bounds != NULL ? LLVMGetStringAttributeValue(bounds, &length) : NULL;

    if (value == NULL || sscanf(cc_copy(value, length), "%u,%u,%u", &x, &y, &z) < 1)
        return VGPU_BLOCK_THREADS_MAX;
    return x * y * z;
}

static void add_kernel(struct cc_lowering *l, LLVMValueRef function)
{
    struct cc_device_code *code = l->code;
    struct cc_kernel kernel = {.function = function, .threads = most_threads(function)};
    struct cc_place place = cc_place_of(function);

    kernel.symbol = cc_value_name(function);
    cc_plain_name(kernel.symbol, &kernel.name);
    kernel.file = place.file;
    kernel.line = (uint32_t)place.line;
    kernel.param_count = LLVMCountParams(function);
    kernel.param_bytes = cc_alloc((kernel.param_count + 1) * sizeof(uint32_t));
    for (unsigned i = 0; i < kernel.param_count; i++)
        kernel.param_bytes[i] = param_bytes(l, function, i);
    check_kernel_parameters(&kernel);
    code->kernel = cc_grow(code->kernel, code->kernel_count, &code->kernel_capacity, sizeof kernel);
    code->kernel[code->kernel_count++] = kernel;
}

/* !{function, "kernel", 1}, !{function, "maxntidx", 256} ... */
static void read_annotation(struct cc_lowering *l, LLVMValueRef node)
{
    LLVMValueRef operand[16];
    unsigned count = LLVMGetMDNodeNumOperands(node), length;

    if (count < 3 || count > 16)
        return;
    LLVMGetMDNodeOperands(node, operand);
    LLVMValueRef function = operand[0] != NULL ? LLVMIsAFunction(operand[0]) : NULL;
    for (unsigned i = 1; function != NULL && i + 1 < count; i += 2) {
        const char *word = LLVMGetMDString(operand[i], &length);
        struct cc_kernel *kernel = marked_kernel(l->code, function);
        if (word != NULL && cc_is(word, length, "kernel") && kernel == NULL &&
            !LLVMIsDeclaration(function))
            add_kernel(l, function);
        kernel = marked_kernel(l->code, function);
        if (word != NULL && cc_is(word, length, "maxntidx") && kernel != NULL)
            kernel->threads = (uint32_t)LLVMConstIntGetZExtValue(operand[i + 1]);
        if (word != NULL && length == 13 && strncmp(word, "cluster_dim_", 12) == 0 &&
            kernel != NULL)
            kernel->cluster[(unsigned)(word[12] - 'x') % 3] =
                (uint32_t)LLVMConstIntGetZExtValue(operand[i + 1]);
    }
}

/* What a pointer points to, through a change of its type. */
static LLVMValueRef pointee(LLVMValueRef pointer)
{
    while (LLVMIsAConstantExpr(pointer) != NULL)
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

/* {kernel, "vgpu_cluster", file, line, {2, 1, 1}}: __cluster_dims__(2, 1, 1) of vgpu/attributes.h,
 * the only annotation of a kernel that has numbers. */
static void read_cluster(struct cc_lowering *l, LLVMValueRef entry)
{
    struct cc_kernel *kernel = marked_kernel(l->code, pointee(LLVMGetOperand(entry, 0)));
    LLVMValueRef sizes = LLVMGetNumOperands(entry) > 4
                             ? LLVMIsAGlobalVariable(pointee(LLVMGetOperand(entry, 4)))
                             : NULL;

    if (kernel == NULL || sizes == NULL)
        return;
    sizes = LLVMGetInitializer(sizes);
    for (unsigned i = 0; i < 3; i++) {
        LLVMValueRef size = (int)i < LLVMGetNumOperands(sizes) ? LLVMGetOperand(sizes, i) : NULL;
        kernel->cluster[i] = size == NULL ? 1
                             : LLVMIsAConstantInt(size) != NULL
                                 ? (uint32_t)LLVMConstIntGetZExtValue(size)
                                 : 0;
    }
}

static void read_clusters(struct cc_lowering *l)
{
    LLVMValueRef list = LLVMGetNamedGlobal(l->module, "llvm.global.annotations");

    for (unsigned i = 0; list != NULL && (int)i < LLVMGetNumOperands(LLVMGetInitializer(list)); i++)
        read_cluster(l, LLVMGetOperand(LLVMGetInitializer(list), i));
}

bool cc_find_kernels(struct cc_lowering *l)
{
    const char *list = "nvvm.annotations";
    unsigned count = LLVMGetNamedMetadataNumOperands(l->module, list);
    LLVMValueRef *node = cc_alloc((count + 1) * sizeof *node);

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFunctionCallConv(f) == PTX_KERNEL_CONVENTION && !LLVMIsDeclaration(f))
            add_kernel(l, f);
        LLVMSetFunctionCallConv(f, 0);
    }
    LLVMGetNamedMetadataOperands(l->module, list, node);
    for (int round = 0; round < 2; round++) /* "kernel" may come after its other marks */
        for (unsigned i = 0; i < count; i++)
            read_annotation(l, node[i]);
    read_clusters(l);
    return true;
}

/* ---- entries ---- */

static void copy_attributes(LLVMValueRef call, LLVMValueRef function, unsigned index)
{
    unsigned count = LLVMGetAttributeCountAtIndex(function, index);
    LLVMAttributeRef *attribute = cc_alloc((count + 1) * sizeof *attribute);

    LLVMGetAttributesAtIndex(function, index, attribute);
    for (unsigned i = 0; i < count; i++)
        LLVMAddCallSiteAttribute(call, index, attribute[i]);
}

/* Loads the argument at `address`. */
static LLVMValueRef take_argument(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef kernel,
                                  unsigned index, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(kernel, index)), stored = type;
    bool is_bool = LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER && LLVMGetIntTypeWidth(type) == 1;

    if (by_value_type(kernel, index) != NULL)
        return LLVMBuildPointerCast(b, address, type, "");
    if (is_bool)
        stored = cc_int_type(l, 8);
    address = LLVMBuildPointerCast(b, address, LLVMPointerType(stored, 0), "");
    LLVMValueRef value = LLVMBuildLoad2(b, stored, address, "");
    return is_bool ? LLVMBuildTrunc(b, value, type, "") : value;
}

static void add_mark(struct cc_lowering *l, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                            LLVMCreateEnumAttribute(l->context, kind, 0));
}

/* void entry(void **args) { kernel(*(T *)args[0], ...); }: without the attributes of the user's
 * functions, so that its reads of the arguments are not reported. */
static LLVMValueRef add_entry(struct cc_lowering *l, const struct cc_kernel *kernel, size_t number)
{
    LLVMTypeRef byte = cc_byte_pointer(l, 0), args = LLVMPointerType(byte, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), &args, 1, 0);
    LLVMValueRef entry = LLVMAddFunction(l->module, cc_format("vgpu_entry_%zu", number), type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    LLVMValueRef *argument = cc_alloc((kernel->param_count + 1) * sizeof *argument);

    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(l->context, entry, ""));
    for (unsigned i = 0; i < kernel->param_count; i++) {
        LLVMValueRef index = LLVMConstInt(cc_int_type(l, 32), i, 0);
        LLVMValueRef at = LLVMBuildGEP2(b, byte, LLVMGetParam(entry, 0), &index, 1, "");
        argument[i] = take_argument(l, b, kernel->function, i, LLVMBuildLoad2(b, byte, at, ""));
    }
    LLVMValueRef call = LLVMBuildCall2(b, LLVMGlobalGetValueType(kernel->function),
                                       kernel->function, argument, kernel->param_count, "");
    for (unsigned i = 0; i < kernel->param_count; i++)
        copy_attributes(call, kernel->function, i + 1);
    LLVMBuildRetVoid(b);
    LLVMSetLinkage(entry, LLVM_LINKAGE_INTERNAL);
    add_mark(l, entry, "disable_sanitizer_instrumentation");
    LLVMAddAttributeAtIndex(entry, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                            LLVMCreateStringAttribute(l->context, "frame-pointer", 13, "all", 3));
    /* The kernel keeps its own frame, which debuggers and reports name. */
    add_mark(l, kernel->function, "noinline");
    return entry;
}

/* ---- tables ---- */

enum {
    ROW_ANY_ORDER = 5,
    ROW_LANES = 9,
    ROW_CAREFUL,
    ROW_SUMMED,
    ROW_OTHERS,
    ROW_FIELDS
}; /* of struct vgpu_kernel */

static LLVMValueRef as_pointer(const struct cc_lowering *l, LLVMValueRef value)
{
    return LLVMConstPointerCast(value, cc_byte_pointer(l, 0));
}

static LLVMValueRef add_constant(struct cc_lowering *l, const char *name, LLVMValueRef value)
{
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(value), name);

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    return global;
}

static LLVMValueRef add_private(struct cc_lowering *l, LLVMValueRef value)
{
    LLVMValueRef global = add_constant(l, "", value);

    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return as_pointer(l, global);
}

static LLVMValueRef add_string(struct cc_lowering *l, const char *text)
{
    return add_private(l, LLVMConstStringInContext(l->context, text, (unsigned)strlen(text), 0));
}

static LLVMValueRef add_sizes(struct cc_lowering *l, const struct cc_kernel *kernel)
{
    LLVMValueRef *size = cc_alloc((kernel->param_count + 1) * sizeof *size);

    for (unsigned i = 0; i <= kernel->param_count; i++)
        size[i] = cc_number(l, i < kernel->param_count ? kernel->param_bytes[i] : 0, 32);
    return add_private(l, LLVMConstArray(cc_int_type(l, 32), size, kernel->param_count + 1));
}

/* A row with the layout of struct vgpu_kernel. */
static LLVMValueRef kernel_row(struct cc_lowering *l, const struct cc_kernel *kernel, size_t i)
{
    LLVMValueRef field[] = {
        add_string(l, cc_format("%s#%zu:%s", l->source, i, kernel->name)),
        cc_number(l, i, 32),
        add_string(l, kernel->name),
        as_pointer(l, add_entry(l, kernel, i)),
        cc_number(l, kernel->param_count, 32),
        cc_number(l, 0, 32),
        add_sizes(l, kernel),
        cc_number(l, kernel->shared_bytes, 32),
        cc_number(l, kernel->threads, 32),
        LLVMConstNull(cc_byte_pointer(l, 0)),
        LLVMConstNull(cc_byte_pointer(l, 0)),
        cc_number(l, 0, 64),
        cc_number(l, 0, 64),
    };
    _Static_assert(sizeof(struct vgpu_kernel) == 88, "kernel_row writes this layout");
    _Static_assert(sizeof field / sizeof *field == ROW_FIELDS, "set_in_row knows its fields");

    return LLVMConstStructInContext(l->context, field, sizeof field / sizeof *field, 0);
}

/* A row with the layout of struct vgpu_var. */
static LLVMValueRef variable_row(struct cc_lowering *l, const struct cc_variable *variable)
{
    LLVMValueRef field[] = {add_string(l, variable->symbol),
                            as_pointer(l, LLVMGetNamedGlobal(l->module, variable->symbol)),
                            cc_number(l, variable->bytes, 64)};
    _Static_assert(sizeof(struct vgpu_var) == 24, "variable_row writes this layout");

    return LLVMConstStructInContext(l->context, field, sizeof field / sizeof *field, 0);
}

/* An empty table has one unused row. */
static void add_table(struct cc_lowering *l, const char *name, LLVMValueRef *row, size_t count)
{
    LLVMValueRef none = cc_number(l, 0, 64);

    if (count == 0)
        row = &none;
    add_constant(l, name,
                 LLVMConstArray(LLVMTypeOf(row[0]), row, count == 0 ? 1 : (unsigned)count));
    add_constant(l, cc_format("%.*s_count", (int)strlen(name) - 1, name), cc_number(l, count, 32));
}

void cc_add_tables(struct cc_lowering *l)
{
    struct cc_device_code *code = l->code;
    LLVMValueRef *kernel = cc_alloc((code->kernel_count + 1) * sizeof *kernel);
    LLVMValueRef *variable = cc_alloc((code->variable_count + 1) * sizeof *variable);

    for (size_t i = 0; i < code->kernel_count; i++)
        kernel[i] = kernel_row(l, &code->kernel[i], i);
    for (size_t i = 0; i < code->variable_count; i++)
        variable[i] = variable_row(l, &code->variable[i]);
    add_table(l, "vgpu_image_kernels", kernel, code->kernel_count);
    add_table(l, "vgpu_image_vars", variable, code->variable_count);
    add_constant(l, "vgpu_image_abi", cc_number(l, VGPU_IMAGE_ABI, 32));
    if (cc_has_two_stacks(l))
        add_constant(l, "vgpu_image_second_stack", cc_number(l, 1, 32));
}

static void set_in_row(struct cc_lowering *l, size_t kernel, int which, LLVMValueRef value)
{
    LLVMValueRef table = LLVMGetNamedGlobal(l->module, "vgpu_image_kernels");
    LLVMValueRef rows = LLVMGetInitializer(table);
    unsigned count = (unsigned)l->code->kernel_count;
    LLVMValueRef *row = cc_alloc(count * sizeof *row), field[ROW_FIELDS];

    for (unsigned i = 0; i < count; i++)
        row[i] = LLVMGetOperand(rows, i);
    for (unsigned i = 0; i < ROW_FIELDS; i++)
        field[i] = LLVMGetOperand(row[kernel], i);
    field[which] = value;
    row[kernel] = LLVMConstStructInContext(l->context, field, ROW_FIELDS, 0);
    LLVMSetInitializer(table, LLVMConstArray(LLVMTypeOf(row[0]), row, count));
}

void cc_set_kernel_lanes(struct cc_lowering *l, size_t kernel, LLVMValueRef lanes,
                         const char *careful)
{
    if (lanes != NULL)
        set_in_row(l, kernel, ROW_LANES, lanes);
    if (careful != NULL)
        set_in_row(l, kernel, ROW_CAREFUL, add_string(l, careful));
}

void cc_set_any_order(struct cc_lowering *l, size_t kernel)
{
    set_in_row(l, kernel, ROW_ANY_ORDER, cc_number(l, 1, 32));
}

void cc_set_sums(struct cc_lowering *l, size_t kernel, uint64_t summed, uint64_t others)
{
    set_in_row(l, kernel, ROW_SUMMED, cc_number(l, summed, 64));
    set_in_row(l, kernel, ROW_OTHERS, cc_number(l, others, 64));
}

void cc_add_headers(struct cc_lowering *l, const char *file)
{
    LLVMValueRef text = LLVMConstStringInContext(l->context, file, (unsigned)strlen(file), 0);
    LLVMValueRef kept = add_constant(l, "vgpu_headers", text);

    LLVMSetSection(kept, ".vgpu.headers");
}
