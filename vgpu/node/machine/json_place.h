/* SPDX-License-Identifier: MIT
 * json_place.h: where in its text a value of a parsed JSON document is.
 */
#ifndef VGPU_JSON_PLACE_H
#define VGPU_JSON_PLACE_H

struct cJSON;

struct json_place {
    int line, column; /* from 1 on */
};

/* Of the character that `at` points to. */
struct json_place json_place_of(const char *text, const char *at);

/* Of `item`, a value of the document `root` that was parsed from `text`: its key, if it has one.
 * The document's start for an item that is not in it. */
struct json_place json_place(const char *text, const struct cJSON *root, const struct cJSON *item);

#endif
