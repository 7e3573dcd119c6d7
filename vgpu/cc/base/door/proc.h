/* SPDX-License-Identifier: MIT
 * proc.h: child processes and temporary files.
 */
#ifndef VGPU_CC_PROC_H
#define VGPU_CC_PROC_H

#include "mem.h"

/* Whether commands are shown: never, before they run, or instead of running. */
enum cc_show { CC_SHOW_NOT, CC_SHOW_RUN, CC_SHOW_ONLY };

/* Calls the function in a copy of this process, with a folder for intermediate files: `keep`, which
 * is kept, or a temporary one if that is null. However the copy ends, also by a signal, its
 * children are ended, and the temporary folder is removed. Returns the copy's exit status; if a
 * signal has ended it, this process ends by the same. */
int cc_guard(enum cc_show show, const char *keep, void (*work)(const void *of), const void *of);

/* Names a result that is not finished: it is removed if the copy ends. Null: no such result. */
void cc_remove_at_end(const char *path);

/* The path of a file in that folder. */
const char *cc_temp_path(const char *name);

/* Fatal if the file cannot be written, or read. */
void cc_write_file(const char *path, const char *data, size_t length);
const char *cc_need_file(const char *path, size_t *length);

struct cc_child {
    int pid;
    const char *errors; /* file with the child's stderr; null: not redirected */
};

/* Starts argv. Its stderr goes to the file `errors` in the folder, or is not redirected if null. */
struct cc_child cc_spawn(struct cc_list argv, const char *errors);

/* Returns the exit status; 128 + N after signal N. *errors, if that is not null: what the child
 * wrote to stderr; "" if not redirected. */
int cc_wait(struct cc_child child, const char **errors);

/* Calls the function in a copy of this process, which LLVM may end without harm: what it changes in
 * memory is lost. Returns 0: it returned true, and nothing was reported; CC_TRY_SAID: something
 * was; another status, or 128 + N after signal N: the copy ended. *errors: what it wrote to stderr.
 */
#define CC_TRY_SAID 120
int cc_try(bool (*does)(void *of), void *of, const char **errors);

/* Starts argv and waits for it, without redirection. cc_must_run: cc_end if it fails. */
int cc_run(struct cc_list argv);
void cc_must_run(struct cc_list argv);
/* What a shell's command prints. */
char *cc_output_of(const char *command);
/* Runs argv in place of this process. */
void cc_run_last(struct cc_list argv);

#endif
