/* SPDX-License-Identifier: MIT
 * show.h: what zero-plan prints: tables for people (print.c), JSON for programs (json.c).
 */
#ifndef ZERO_PLAN_SHOW_H
#define ZERO_PLAN_SHOW_H

#include "like.h"
#include "options.h"
#include "spread.h"

struct found {
    const struct options *options;
    struct plan plan;
    struct like_table like;
    struct ddp_row ddp[DDP_ROWS];
    struct split split[SPLITS_MOST];
    int splits;
};

void show_text(const struct found *f);
int show_json(const struct found *f); /* LAB_OK, or what plan_make says for the sweep */
void show_presets(void);

/* GB with one digit, half up, without a zero at the end: "31.4", "120". */
void show_gb(uint64_t bytes, char text[24]);

#endif
