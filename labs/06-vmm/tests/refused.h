/* SPDX-License-Identifier: MIT
 * refused.h: the adapter in which each CUDA call that a function makes fails once (part of
 * runner.cu).
 */
#ifndef LAB06_REFUSED_H
#define LAB06_REFUSED_H

struct refused_state {
    struct vmm given; /* of GPU 0: what is shared, exported, imported */
    struct vvec vec;
    /* outputs */
    size_t rounded;
    struct vmm v;
    struct vmm_parcel parcel;
};

static int refused_begin(enum refused what, struct refused_state *s)
{
    memset(s, 0, sizeof *s);
    memset(&s->rounded, IO_FILL, sizeof s->rounded);
    memset(&s->v, IO_FILL, sizeof s->v);
    memset(&s->parcel, IO_FILL, sizeof s->parcel);
    int rc = LAB_OK;
    if (what == REFUSE_SHARE || what == REFUSE_EXPORT || what == REFUSE_IMPORT)
        rc = vmm_alloc(0, (size_t)3 << 20, &s->given);
    if (!rc && what == REFUSE_GROW)
        rc = vec_open(&s->vec, 0, (size_t)64 << 20);
    if (!rc && what == REFUSE_GROW)
        rc = vec_share(&s->vec, 1, CU_MEM_ACCESS_FLAGS_PROT_READ);
    if (!rc && what == REFUSE_IMPORT)
        rc = vmm_export(&s->given, &s->parcel);
    return rc;
}

static int refused_call(enum refused what, struct refused_state *s)
{
    const int devs[] = {0, 1};
    switch (what) {
    case REFUSE_ROUND:
        return vmm_round((size_t)5 << 20, devs, 2, &s->rounded);
    case REFUSE_ALLOC:
        return vmm_alloc(1, (size_t)3 << 20, &s->v);
    case REFUSE_SHARE:
        return vmm_share(&s->given, 1, CU_MEM_ACCESS_FLAGS_PROT_READ);
    case REFUSE_GROW:
        return vec_grow(&s->vec, (size_t)5 << 20);
    case REFUSE_EXPORT:
        return vmm_export(&s->given, &s->parcel);
    default:
        return vmm_import(&s->parcel, 0, &s->v);
    }
}

/* Without vmm_free, which the functions that are asked need not know. */
static void give_back(const struct vmm *v)
{
    (void)cuMemUnmap(v->base, v->bytes);
    (void)cuMemAddressFree(v->base, v->bytes);
    (void)cuMemRelease(v->handle);
}

static void refused_end(enum refused what, int rc, struct refused_state *s)
{
    if (rc == LAB_OK && (what == REFUSE_ALLOC || what == REFUSE_IMPORT))
        (void)vmm_free(&s->v);
    if ((what == REFUSE_IMPORT && rc) || (what == REFUSE_EXPORT && !rc))
        parcel_drop(&s->parcel);
    if (what == REFUSE_GROW)
        (void)vec_close(&s->vec);
    if (s->given.base)
        give_back(&s->given);
}

LAB_RUN(refused)
{
    const struct refused_in *in = (const struct refused_in *)lab_input(io, sizeof *in);
    struct lab_refusals *told = (struct lab_refusals *)lab_result(io, sizeof *told);
    const enum refused what = (enum refused)in->what;
    static struct refused_state s, was;
    struct lab_refusal *entry;
    told->calls = 0;
    start(2, 0);
    do {
        if (refused_begin(what, &s))
            return;
        was = s;
        lab_fail_call(told->calls + 1);
        int rc = refused_call(what, &s);
        const char *failed = lab_call_failed();
        if ((entry = lab_note_refusal(told, failed, rc))) {
            entry->wrote = memcmp(&was, &s, sizeof s) != 0 ||
                           (what == REFUSE_SHARE && access_of(s.given.base, 1) != 0);
            entry->current = entry->error = 0;
            entry->right = what == REFUSE_ROUND && s.rounded == (size_t)6 << 20;
        }
        refused_end(what, rc, &s);
    } while (entry);
}

#endif
