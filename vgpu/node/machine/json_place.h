/* SPDX-License-Identifier: MIT
 * json_place.h: finds the position of a value of a parsed JSON document in its text.
 */
#ifndef VGPU_JSON_PLACE_H
#define VGPU_JSON_PLACE_H

struct cJSON;

struct json_place {
    int line, column; /* starting at 1 */
};

/* The position of the character at `at`. */
struct json_place json_place_of(const char *text, const char *at);

/* The position of `item`, a value of the document `root` that was parsed from `text`, or of its key
 * if it has one. If the item is not in the document, the start of the document. */
struct json_place json_place(const char *text, const struct cJSON *root, const struct cJSON *item);

#endif
