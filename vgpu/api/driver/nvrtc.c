/* SPDX-License-Identifier: MIT
 * nvrtc.c: NVRTC's calls. A program's source and headers become files in a folder of their own, and
 * vgpu-cc -fatbin makes a record of them.
 */
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver.h"
#include "fatbin.h"
#include "fatbin_text.h"
#include "nvrtc_program.h"

const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const text[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
    };
    return (size_t)result < sizeof text / sizeof *text ? text[result] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

static const int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)
{
    if (!numArchs)
        return NVRTC_ERROR_INVALID_INPUT;
    *numArchs = (int)(sizeof architectures / sizeof *architectures);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)
{
    if (!supportedArchs)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(supportedArchs, architectures, sizeof architectures);
    return NVRTC_SUCCESS;
}

/* ---- programs ---- */

static bool put_file(struct file *file, const char *name, const char *text)
{
    *file = (struct file){.name = strdup(name), .text = strdup(text)};
    return file->name && file->text;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
{
    if (!prog || !*prog)
        return NVRTC_ERROR_INVALID_PROGRAM;
    for (int i = 0; i < (*prog)->file_count && (*prog)->file; i++) {
        free((*prog)->file[i].name);
        free((*prog)->file[i].text);
    }
    for (int i = 0; i < (*prog)->expression_count; i++)
        free((*prog)->expression[i]);
    free((*prog)->file);
    free((*prog)->expression);
    free((*prog)->log);
    free((*prog)->record);
    free((*prog)->text);
    free((*prog)->folder);
    free(*prog);
    *prog = NULL;
    return NVRTC_SUCCESS;
}

/* Its folder is not the program's own: only the last part of the name is taken. */
static char *source_name(const char *name)
{
    const char *slash = name ? strrchr(name, '/') : NULL;
    const char *base = slash ? slash + 1 : name ? name : "";
    size_t room = strlen(base) + sizeof "default_program.cu";
    size_t length = strlen(base);
    bool has_suffix = length > 3 && strcmp(base + length - 3, ".cu") == 0;
    char *made = malloc(room);
    if (made)
        snprintf(made, room, "%s%s", *base ? base : "default_program", has_suffix ? "" : ".cu");
    return made;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
                               int numHeaders, const char *const *headers,
                               const char *const *includeNames)
{
    if (!prog || !src || numHeaders < 0 || (numHeaders > 0 && (!headers || !includeNames)))
        return NVRTC_ERROR_INVALID_INPUT;
    struct _nvrtcProgram *made = calloc(1, sizeof *made);
    char *own = source_name(name);
    const char *slash = name ? strrchr(name, '/') : NULL;
    bool done = made && own;
    if (done) {
        made->folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
        done = made->folder != NULL;
    }
    if (done)
        made->file = calloc((size_t)numHeaders + 1, sizeof *made->file);
    done = done && made->file && put_file(&made->file[0], own, src);
    if (made)
        made->file_count = numHeaders + 1;
    for (int i = 0; i < numHeaders && done; i++)
        done = put_file(&made->file[i + 1], includeNames[i], headers[i]);
    free(own);
    if (!done) {
        nvrtcDestroyProgram(&made);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    *prog = made;
    return NVRTC_SUCCESS;
}

/* ---- files ---- */

/* The folders of a header's name, below `folder`. */
static void make_folders(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* `before` and `after`: what stands around the text. */
static bool write_file(const char *folder, const struct file *file, const char *before,
                       const char *after)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, file->name);
    if (length < 0 || (size_t)length >= sizeof path || strstr(file->name, ".."))
        return false;
    make_folders(path, strlen(folder) + 1);
    FILE *out = fopen(path, "w");
    bool written = out && fprintf(out, "%s%s%s", before, file->text, after) >= 0;
    return out && fclose(out) == 0 && written;
}

/* ---- compiling ---- */

/* Options that are about real GPUs' code, and of which vgpu-cc knows nothing. */
static bool is_for_real_gpus(const char *option)
{
    static const char *const starts[] = {"-dlto",
                                         "--dlink-time-opt",
                                         "-opt-info",
                                         "--opt-info",
                                         "-version-ident",
                                         "--version-ident",
                                         "-split-compile",
                                         "-minimal",
                                         "--minimal",
                                         "-pch",
                                         "--pch",
                                         "-no-source-include",
                                         "--no-source-include",
                                         "-rdc",
                                         "--relocatable-device-code"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(option, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Functions without a word of their own are device code. */
static bool is_default_device(const char *option)
{
    return strcmp(option, "--device-as-default-execution-space") == 0 ||
           strcmp(option, "-default-device") == 0;
}

static bool has_default_device(int count, const char *const *options)
{
    for (int i = 0; i < count; i++)
        if (is_default_device(options[i]))
            return true;
    return false;
}

/* vgpu-cc's exit status; -1: it could not be run. */
static int run_compiler(const struct _nvrtcProgram *of, const char *folder, int count,
                        const char *const *options)
{
    char from[PATH_MAX], to[PATH_MAX], log[PATH_MAX], include[PATH_MAX];
    int used = 0;
    char **words = calloc((size_t)count + 16, sizeof *words);
    if (!words)
        return -1;
    snprintf(from, sizeof from, "%s/%s", folder, of->file[0].name);
    snprintf(to, sizeof to, "%s/record", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(include, sizeof include, "-I%s", folder);
    char *const fixed[] = {NULL,       "-fatbin", "-D__CUDACC_RTC__=1", include, "-include",
                           "assert.h", "-I",      of->folder,           "-o",    to,
                           from};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        words[used++] = fixed[i];
    for (int i = 0; i < count; i++)
        if (!is_for_real_gpus(options[i]) && !is_default_device(options[i]))
            words[used++] = (char *)options[i];
    int status = vgpu__run_compiler(words, log);
    free(words);
    return status;
}

static nvrtcResult compile_in(struct _nvrtcProgram *program, const char *folder, int count,
                              const char *const *options)
{
    size_t bytes;
    bool forced = has_default_device(count, options);
    char *uses = vgpu__nvrtc_uses(program, forced);
    const char *before = forced ? "#pragma clang force_cuda_host_device begin\n#line 1\n" : "";
    bool written = uses && write_file(folder, &program->file[0], before, uses);
    free(uses);
    for (int i = 1; i < program->file_count && written; i++)
        written = write_file(folder, &program->file[i], "", "");
    if (!written)
        return NVRTC_ERROR_INVALID_INPUT;
    int status = run_compiler(program, folder, count, options);
    program->log = vgpu__read_file(folder, "log", &bytes);
    if (status < 0)
        return NVRTC_ERROR_INTERNAL_ERROR;
    if (status != 0)
        return NVRTC_ERROR_COMPILATION;
    program->record = vgpu__read_file(folder, "record", &program->record_bytes);
    if (program->record)
        program->text = vgpu_fatbin_to_text(program->record, program->record_bytes);
    program->compiled = program->text != NULL;
    return program->compiled ? NVRTC_SUCCESS : NVRTC_ERROR_INTERNAL_ERROR;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
{
    char folder[PATH_MAX / 2];
    if (!prog)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (numOptions < 0 || (numOptions > 0 && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    if (!vgpu__make_folder(folder, sizeof folder, "nvrtc"))
        return NVRTC_ERROR_INTERNAL_ERROR;
    free(prog->log);
    free(prog->record);
    free(prog->text);
    prog->log = prog->record = prog->text = NULL;
    prog->compiled = false;
    nvrtcResult result = compile_in(prog, folder, numOptions, options);
    vgpu__remove_folder(folder);
    for (int i = 0; i < prog->expression_count && result == NVRTC_SUCCESS; i++) {
        const char *name;
        result = nvrtcGetLoweredName(prog, prog->expression[i], &name);
    }
    return result;
}

/* ---- what came of it ---- */

static nvrtcResult get_size(const struct _nvrtcProgram *program, bool text, size_t *bytes)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!bytes || !program->compiled)
        return NVRTC_ERROR_INVALID_INPUT;
    *bytes = text ? strlen(program->text) + 1 : program->record_bytes;
    return NVRTC_SUCCESS;
}

static nvrtcResult get_code(const struct _nvrtcProgram *program, bool text, char *to)
{
    size_t bytes;
    nvrtcResult result = to ? get_size(program, text, &bytes) : NVRTC_ERROR_INVALID_INPUT;
    if (result == NVRTC_SUCCESS)
        memcpy(to, text ? program->text : program->record, bytes);
    return result;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
{
    return get_size(prog, true, ptxSizeRet);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
{
    return get_code(prog, true, ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
{
    return get_size(prog, false, cubinSizeRet);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    return get_code(prog, false, cubin);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)
{
    if (!prog)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!logSizeRet)
        return NVRTC_ERROR_INVALID_INPUT;
    *logSizeRet = (prog->log ? strlen(prog->log) : 0) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
{
    size_t bytes;
    nvrtcResult result = log ? nvrtcGetProgramLogSize(prog, &bytes) : NVRTC_ERROR_INVALID_INPUT;
    if (result == NVRTC_SUCCESS)
        memcpy(log, prog->log ? prog->log : "", bytes);
    return result;
}
