/* SPDX-License-Identifier: MIT
 * unchecked_errors.c: finds errors that the program does not check, and calls that seem to fail
 * because of an earlier error.
 *
 * A failed call sets the thread's last error. The call itself cannot tell whether the program uses
 * its result, but the source line can, if there is debug information and the file is readable: a
 * call that is a whole statement discards its result, and a launch by <<<>>> has none. If the line
 * does not show it, nothing is reported.
 */
#include "checks.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { LINE_BYTES = 1024 };

/* ---- the source line of a call ---- */

/* Reads the line at `caller` and the last line before it that is not blank. False: it cannot be
 * read. */
static bool read_source_line(uint64_t caller, char *line, char *before)
{
    char path[1024];
    uint64_t wanted = vgpu__symbolize_path(caller, path, sizeof path);
    before[0] = line[0] = '\0';
    FILE *file = wanted ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    uint64_t number = 0;
    while (number < wanted) {
        if (line[strspn(line, " \t\r\n")])
            memcpy(before, line, LINE_BYTES);
        if (!fgets(line, LINE_BYTES, file))
            break;
        number++;
    }
    fclose(file);
    return number == wanted;
}

/* Finds `call` in `line` as a whole word followed by arguments; NULL: it is not there. */
static const char *find_call(const char *line, const char *call)
{
    size_t length = strlen(call);
    for (const char *at = line; length > 0 && (at = strstr(at, call)); at += length) {
        bool begins = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && at[length + strspn(at + length, " \t")] == '(')
            return at;
    }
    return NULL;
}

static bool ends_statement(const char *text, const char *end)
{
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    return end > text && strchr(";{}", end[-1]);
}

/* True if the call at `caller` is a statement of its own, so that its result is discarded. */
static bool is_result_discarded(const char *call, uint64_t caller)
{
    char line[LINE_BYTES], before[LINE_BYTES];
    if (!caller || !read_source_line(caller, line, before))
        return false;
    const char *at = find_call(line, call);
    if (!at)
        return false;
    if (line + strspn(line, " \t") == at)
        return ends_statement(before, before + strlen(before));
    return ends_statement(line, at);
}

/* ---- reporting ---- */

void vgpu__finding(uint32_t diagnosis, const char *call, uint64_t key, const char *text)
{
    struct vgpu_request *request;
    if (!vgpu__self.wire || atomic_load(&vgpu__process.lost))
        return;
    request = (struct vgpu_request *)vgpu__self.wire->request;
    *request = (struct vgpu_request){.op = VGPU_OP_FINDING,
                                     .peer = -1,
                                     .clock_ps = vgpu__self.clock_ps,
                                     .caller = key,
                                     .value = diagnosis};
    snprintf(request->call, sizeof request->call, "%s", call);
    request->data_bytes = (uint32_t)strlen(text);
    memcpy(request->data, text, request->data_bytes);
    vgpu__ask(-1, true, NULL);
}

static void format_caller(uint64_t caller, char *out, size_t room)
{
    char where[160];
    vgpu__symbolize(caller, where, sizeof where);
    snprintf(out, room, "%s%s", where[0] ? " at " : "", where);
}

/* True if `call` is the name of a launching call, not that of a kernel. */
static bool is_launch(const char *call)
{
    return strncmp(call, "cudaLaunch", 10) == 0;
}

/* Reports the recorded failure, which is about to be forgotten unchecked. */
static void report_unchecked(const struct vgpu__unchecked *b)
{
    char text[600], at[180];
    if (!b->launch && !is_result_discarded(b->call, b->caller))
        return;
    format_caller(b->caller, at, sizeof at);
    snprintf(text, sizeof text,
             "%s%.48s%s failed with %d (%s), and the program did not check it: %s, and read what "
             "the node says about it",
             !b->launch           ? ""
             : is_launch(b->call) ? "the launch of a kernel by "
                                  : "the launch of kernel ",
             b->call, at, (int)b->error, cudaGetErrorName(b->error),
             b->launch ? "call cudaGetLastError after each launch"
                       : "check what every call returns");
    vgpu__finding(VGPU_DIAGNOSIS_api_unchecked, b->call, b->caller, text);
}

/* The recorded name may be that of the call before; only the return address is certain. So the name
 * is used only if the source line contains it. */
static const char *error_name(const struct vgpu__unchecked *b)
{
    char line[LINE_BYTES], before[LINE_BYTES];
    bool other = read_source_line(b->caller, line, before) && !find_call(line, b->call);
    return other ? "the call" : b->call;
}

static void report_late_error(const struct vgpu__unchecked *b, const char *call, uint64_t caller)
{
    char text[600], at[180], here[180];
    if (is_result_discarded(call, caller))
        return; /* a discarded result: the call only clears the error */
    format_caller(b->caller, at, sizeof at);
    format_caller(caller, here, sizeof here);
    snprintf(
        text, sizeof text,
        "%s%s returned %d (%s), which is the error of %.48s%s, not of the kernel launched since: "
        "check what every call returns, and clear an error that you expect with cudaGetLastError",
        call, here, (int)b->error, cudaGetErrorName(b->error), error_name(b), at);
    vgpu__finding(VGPU_DIAGNOSIS_api_late_error, call, caller, text);
}

/* ---- recording failures ---- */

static bool check_wanted(void)
{
    return vgpu__process.checks & VGPU_CHECK_API && !vgpu__self.in_driver &&
           !vgpu__self.unchecked.telling;
}

static void forget_error(void)
{
    struct vgpu__unchecked *b = &vgpu__self.unchecked;
    if (!check_wanted() || b->error == cudaSuccess)
        return;
    struct vgpu__unchecked gone = *b;
    b->error = cudaSuccess;
    b->telling = true;
    report_unchecked(&gone);
    b->telling = false;
}

static void note_failure(cudaError_t error)
{
    struct vgpu__unchecked *b = &vgpu__self.unchecked;
    if (!check_wanted() || error == cudaErrorNotReady)
        return;
    uint64_t caller = vgpu__caller();
    if (b->error == error && b->caller == caller)
        return; /* the same call has failed again */
    forget_error();
    b->error = error;
    b->caller = caller;
    b->launch = vgpu__self.launched_at != 0;
    b->launched = b->launches;
    bool named = b->launch && b->kernel && is_launch(b->current);
    snprintf(b->call, sizeof b->call, "%s", named ? b->kernel : b->current);
}

static void error_asked(const char *call)
{
    struct vgpu__unchecked *b = &vgpu__self.unchecked;
    if (!check_wanted() || b->error == cudaSuccess)
        return;
    struct vgpu__unchecked known = *b;
    b->error = cudaSuccess;
    b->telling = true;
    if (!known.launch && known.launches > known.launched)
        report_late_error(&known, call, vgpu__caller());
    b->telling = false;
}

const struct vgpu__observer vgpu__unchecked_errors = {
    .call_failed = note_failure,
    .error_asked = error_asked,
    .thread_ends = forget_error,
    .process_ends = forget_error,
};
