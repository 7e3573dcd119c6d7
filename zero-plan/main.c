/* SPDX-License-Identifier: MIT
 * main.c: zero-plan: where the memory goes when a model is trained with ZeRO, and what it costs.
 *
 *     zero-plan 7.5B --gpus 64
 *     zero-plan 70B --gpus 64 --node dgx-h100 --splits
 *
 * Linked with lab 08's solution: what the planner says about bytes is what the lab's tests check.
 */
#include "show.h"

#include <stdio.h>

enum { STATUS_FITS, STATUS_NOTHING_FITS, STATUS_WRONG_USE, STATUS_TROUBLE = 4 };

static int refuse(const char *error)
{
    fprintf(stderr, "zero-plan: %s\n", error);
    return STATUS_WRONG_USE;
}

/* The lab's functions know errors by number; here they can only mean these. */
static int trouble(int rc)
{
    fprintf(stderr, "zero-plan: %s\n",
            rc == LAB_ERANGE   ? "the model is too large: its bytes are more than 2^64"
            : rc == LAB_ENOMEM ? "this computer has too little memory for the plan"
                               : "the plan could not be made; that is a mistake in zero-plan");
    return STATUS_TROUBLE;
}

int main(int argc, char **argv)
{
    static struct found f;
    static struct options options;
    char error[1024];
    if (options_read(&options, argc, argv, error, (int)sizeof error) != 0)
        return refuse(error);
    if (options.help) {
        fputs(options_help, stdout);
        return STATUS_FITS;
    }
    if (options.list) {
        show_presets();
        return STATUS_FITS;
    }
    f.options = &options;
    int rc = plan_make(&options.q, &f.plan);
    if (rc)
        return trouble(rc);
    like_make(&options, &f.plan, &f.like);
    spread_ddp(&options.q, f.ddp);
    f.splits = spread_splits(&options.q, f.plan.params, f.split);
    if (options.json)
        rc = show_json(&f);
    else
        show_text(&f);
    return rc ? trouble(rc) : f.plan.best < 0 ? STATUS_NOTHING_FITS : STATUS_FITS;
}
