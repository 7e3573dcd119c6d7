/* SPDX-License-Identifier: MIT
 * plan.c: see plan.h.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* Walks the schedule on one rank's ledger and remembers what was held when most was held. */
static int find_peak(const struct zero_schedule *s, struct stage *stage)
{
    struct zero_ledger ledger = {.ranks = 1, .granule_bytes = PLAN_GRANULE};
    int rc = LAB_OK;
    for (int i = 0; i < s->count && !rc; i++) {
        const struct zero_op *op = &s->op[i];
        if (op->host)
            stage->host += op->bytes;
        else if (op->what == ZERO_FREE)
            rc = ledger_drop(&ledger, 0, op->kind, op->bytes);
        else if (op->what == ZERO_ALLOC)
            rc = ledger_add(&ledger, 0, op->kind, op->bytes);
        if (ledger.most[0] > stage->peak) {
            stage->peak = ledger.most[0];
            memcpy(stage->at_peak, ledger.now[0], sizeof stage->at_peak);
        }
        if (op->what == ZERO_TO_HOST || op->what == ZERO_TO_GPU)
            stage->bus += op->bytes;
        if (op->kind == ZERO_GATHERED && op->bytes > stage->ahead)
            stage->ahead = op->bytes;
    }
    return rc;
}

/* Says which tensor would be the first without room. */
static int find_miss(const struct question *q, const struct zero_model *model,
                     const struct zero_work *work, struct stage *stage)
{
    struct zero_ledger ledger = {
        .ranks = 1, .granule_bytes = PLAN_GRANULE, .limit_bytes = q->machine.memory_bytes};
    int failed, rc = zero_predict(&work->schedule, &ledger, 0, &failed);
    stage->fits = rc == LAB_OK;
    if (rc == LAB_ENOMEM)
        zero_op_name(model, &work->layout, &work->schedule.op[failed], stage->misses,
                     (int)sizeof stage->misses);
    return rc == LAB_ENOMEM ? LAB_OK : rc;
}

static int plan_stage(const struct question *q, const struct zero_model *model,
                      struct zero_work *work, struct stage *stage)
{
    struct zero_how how = {.stage = stage->stage,
                           .offload = stage->offload,
                           .ranks = q->gpus,
                           .align = q->align,
                           .bucket = q->bucket_bytes / 2};
    int rc = zero_layout(model, &how, &work->layout);
    if (!rc)
        rc = zero_schedule(model, &work->layout, &work->schedule);
    if (!rc)
        rc = find_peak(&work->schedule, stage);
    if (!rc)
        rc = find_miss(q, model, work, stage);
    if (rc)
        return rc;
    stage->states = zero_states(&work->layout);
    stage->sent = zero_traffic(&work->schedule, q->gpus);
    return plan_time(q, model, work, stage);
}

int plan_make(const struct question *q, struct plan *plan)
{
    struct zero_work work = {.layout = {.cap = 0}};
    *plan = (struct plan){.asked = *q, .best = -1};
    struct zero_tensor *tensor = gpt_tensors(&q->model, &plan->tensors, &plan->layers);
    uint64_t *activations = gpt_activations(&q->model, q->recompute);
    struct zero_model model = {tensor, plan->tensors, plan->layers, activations};
    int rc = tensor && activations ? zero_work_open(&model, &work) : LAB_ENOMEM;
    for (int i = 0; tensor && i < plan->tensors; i++)
        plan->params += tensor[i].count;
    for (int i = 0; i < PLAN_STAGES && !rc; i++) {
        plan->stage[i] = (struct stage){.stage = i % 4, .offload = i / 4};
        rc = plan_stage(q, &model, &work, &plan->stage[i]);
        if (!rc && plan->stage[i].fits && plan->best < 0)
            plan->best = i;
    }
    if (work.schedule.op)
        zero_work_close(&work);
    free(tensor);
    free(activations);
    return rc;
}
