/* SPDX-License-Identifier: MIT
 * proc.h: child processes and temporary files. Whatever ends the program, a signal too, its
 * children are ended and its temporary folder is removed.
 */
#ifndef VGPU_CC_PROC_H
#define VGPU_CC_PROC_H

#include "mem.h"

/* How commands are shown: not, before they run, or instead of running. */
enum cc_show { CC_SHOW_NOT, CC_SHOW_RUN, CC_SHOW_ONLY };

/* To be called once, first. `keep`: a folder that is to hold the intermediate files and stays;
 * null: a temporary one. */
bool cc_proc_start(enum cc_show show, const char *keep);

/* Are commands shown (--dryrun, -v)? */
bool cc_shows_commands(void);

/* The path of a file in that folder. */
const char *cc_temp_path(const char *name);

struct cc_child {
    int pid;
    const char *errors; /* the file that holds what it wrote to stderr; null: it was not caught */
};

/* Starts argv. Its stderr goes to the file `errors` in the folder, or is left alone when null. */
struct cc_child cc_spawn(const struct cc_list *argv, const char *errors);

/* Its exit status; 128 + signal when one ended it. */
int cc_wait(struct cc_child child);

/* Ends it. */
void cc_stop(struct cc_child child);

/* Has it ended? It is still to be waited for. */
bool cc_has_ended(struct cc_child child);

/* What it wrote to stderr; "" when it was not caught. */
const char *cc_child_errors(struct cc_child child);

/* Both in one: nothing is caught. */
int cc_run(const struct cc_list *argv);

#endif
