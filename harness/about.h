/* SPDX-License-Identifier: MIT
 * about.h: what the build knows about the lab. Each verifier has a generated file with it; the
 * library's own (cases/about.c) is empty.
 */
#ifndef LAB_ABOUT_H
#define LAB_ABOUT_H

struct lab_function {
    int todo;
    const char *name;
};

struct lab_about {
    const char *number, *folder, *file;   /* "03", "03-p2p-copy", "p2p_copy.c" */
    const struct lab_function *functions; /* ends with name == NULL */
    const struct lab_function *needs; /* others' functions that a TODO's may call; ends likewise */
};
extern const struct lab_about lab_about;

#endif
