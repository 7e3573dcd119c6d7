/* SPDX-License-Identifier: MIT
 * about.h: facts that the build records about a lab. Each verifier is linked with a generated file
 * that defines them; the library's own definition (cases/about.c) is empty.
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
    const struct lab_function *needs; /* of other TODOs, which this one's may call; ends likewise */
};
extern const struct lab_about lab_about;

#endif
