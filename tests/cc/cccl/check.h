/* SPDX-License-Identifier: MIT
 * check.h: what the programs of this folder are written with.
 */
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>
#include <vector>

/* Ends the program where something is not as the host has worked it out. */
#define CHECK(is)                                                                                  \
    do {                                                                                           \
        if (!(is)) {                                                                               \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #is);                                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
#define DO(call) CHECK((call) == cudaSuccess)

/* Numbers that look like any, below `limit`. */
inline std::vector<int> numbers(int count, int limit)
{
    std::vector<int> made;
    unsigned state = 12345;

    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        made.push_back((int)((state >> 8) % (unsigned)limit));
    }
    return made;
}

#endif
