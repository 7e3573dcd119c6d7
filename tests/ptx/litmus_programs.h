// SPDX-License-Identifier: MIT
// litmus_programs.h: what the threads of litmus.cu's programs do, after its instructions and turns.

// ---- the tests: what thread `t` does, with up to two values into r ----

#define TEST(name) template <Scope S> __device__ void name(Turns &w, int t, int *x, int *y, int *r)

TEST(mp_release_acquire)
{
    if (t == 0) {
        STEP(st_weak(x, 1));
        STEP(st_release<S>(y, 1));
    } else {
        STEP(r[0] = ld_acquire<S>(y));
        STEP(r[1] = r[0] == 1 ? ld_weak(x) : 2); // else a race: not read
    }
}
TEST(mp_fence)
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
        fence_acq_rel<S>();
        STEP(st_relaxed<S>(y, 1));
    } else {
        STEP(r[0] = ld_relaxed<S>(y));
        fence_acq_rel<S>();
        STEP(r[1] = ld_relaxed<S>(x));
    }
}
TEST(mp_relaxed)
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
        STEP(st_relaxed<S>(y, 1));
    } else {
        STEP(r[0] = ld_relaxed<S>(y));
        STEP(r[1] = ld_relaxed<S>(x));
    }
}
TEST(mp_volatile) // with __threadfence of its scope
{
    if (t == 0) {
        STEP(st_volatile(x, 1));
        fence_sc<S>();
        STEP(st_volatile(y, 1));
    } else {
        STEP(r[0] = ld_volatile(y));
        fence_sc<S>();
        STEP(r[1] = ld_volatile(x));
    }
}
TEST(mp_narrow_writer)
{
    if (t == 0) {
        STEP(st_volatile(x, 1));
        fence_narrow<S>();
        STEP(st_volatile(y, 1));
    } else {
        STEP(r[0] = ld_volatile(y));
        fence_sc<S>();
        STEP(r[1] = ld_volatile(x));
    }
}
TEST(mp_narrow_reader)
{
    if (t == 0) {
        STEP(st_volatile(x, 1));
        fence_sc<S>();
        STEP(st_volatile(y, 1));
    } else {
        STEP(r[0] = ld_volatile(y));
        fence_narrow<S>();
        STEP(r[1] = ld_volatile(x));
    }
}
TEST(mp_atomic) // another thread's atomic in between
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
        STEP(st_release<S>(y, 1));
    } else if (t == 1) {
        STEP(r[0] = add<S>(y));
    } else if (t == 2) {
        STEP(r[0] = ld_acquire<S>(y));
        STEP(r[1] = ld_relaxed<S>(x));
    }
}
TEST(wrc_release_acquire)
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
    } else if (t == 1) {
        STEP(r[0] = ld_acquire<S>(x));
        STEP(st_release<S>(y, 1));
    } else if (t == 2) {
        STEP(r[0] = ld_acquire<S>(y));
        STEP(r[1] = ld_relaxed<S>(x));
    }
}
TEST(wrc_relaxed)
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
    } else if (t == 1) {
        STEP(r[0] = ld_relaxed<S>(x));
        STEP(st_relaxed<S>(y, 1));
    } else if (t == 2) {
        STEP(r[0] = ld_relaxed<S>(y));
        STEP(r[1] = ld_relaxed<S>(x));
    }
}
TEST(mp_swapped) // wrong on purpose: what it forbids is seen
{
    if (t == 0)
        mp_relaxed<S>(w, t, y, x, r);
    else
        mp_relaxed<S>(w, t, x, y, r);
}
TEST(sb_fence_sc)
{
    STEP(st_relaxed<S>(t == 0 ? x : y, 1));
    fence_sc<S>();
    STEP(r[0] = ld_relaxed<S>(t == 0 ? y : x));
}
TEST(sb_release_acquire)
{
    STEP(st_release<S>(t == 0 ? x : y, 1));
    STEP(r[0] = ld_acquire<S>(t == 0 ? y : x));
}
TEST(sb_relaxed)
{
    STEP(st_relaxed<S>(t == 0 ? x : y, 1));
    STEP(r[0] = ld_relaxed<S>(t == 0 ? y : x));
}
TEST(lb_release_acquire)
{
    STEP(r[0] = ld_acquire<S>(t == 0 ? x : y));
    STEP(st_release<S>(t == 0 ? y : x, 1));
}
// Threads begin one after the other, and then go on without waiting: between the two accesses there
// is nothing that would keep them in order, or something is.
#define LOAD_BUFFERING(name, between, value)                                                       \
    TEST(name)                                                                                     \
    {                                                                                              \
        STEP(0);                                                                                   \
        int v = ld_relaxed<S>(t == 0 ? x : y);                                                     \
        between;                                                                                   \
        st_relaxed<S>(t == 0 ? y : x, value);                                                      \
        r[0] = v;                                                                                  \
    }
LOAD_BUFFERING(lb_relaxed, , 1)
LOAD_BUFFERING(lb_fence, fence_acq_rel<S>(), 1)
LOAD_BUFFERING(lb_data, , (v & 4) | 1)
LOAD_BUFFERING(lb_control, if (v > 5) return, 1)
TEST(lb_address)
{
    STEP(0);
    int v = ld_relaxed<S>(t == 0 ? x : y);
    st_relaxed<S>((t == 0 ? y : x) + (v & 4), 1);
    r[0] = v;
}
TEST(iriw_fence_sc)
{
    if (t < 2) {
        STEP(st_relaxed<S>(t == 0 ? x : y, 1));
        return;
    }
    STEP(r[0] = ld_relaxed<S>(t == 2 ? x : y));
    fence_sc<S>();
    STEP(r[1] = ld_relaxed<S>(t == 2 ? y : x));
}
TEST(iriw_acquire)
{
    if (t < 2) {
        STEP(st_relaxed<S>(t == 0 ? x : y, 1));
        return;
    }
    STEP(r[0] = ld_acquire<S>(t == 2 ? x : y));
    STEP(r[1] = ld_acquire<S>(t == 2 ? y : x));
}
TEST(iriw_relaxed)
{
    if (t < 2) {
        STEP(st_relaxed<S>(t == 0 ? x : y, 1));
        return;
    }
    STEP(r[0] = ld_relaxed<S>(t == 2 ? x : y));
    STEP(r[1] = ld_relaxed<S>(t == 2 ? y : x));
}
TEST(corr)
{
    if (t == 0) {
        STEP(st_relaxed<S>(x, 1));
        return;
    }
    STEP(r[0] = ld_relaxed<S>(x));
    STEP(r[1] = ld_relaxed<S>(x));
}
TEST(cowr) // a thread's own store, and what was stored before
{
    STEP(st_relaxed<S>(x, t + 1));
    STEP(r[0] = ld_relaxed<S>(x));
    STEP(r[1] = ld_relaxed<S>(x));
}
TEST(atom_add)
{
    STEP(r[0] = add<S>(x));
}
TEST(atom_store) // nothing comes between what an atomic has read and what it stores
{
    if (t == 0) {
        STEP(r[0] = add<S>(x));
        return;
    }
    STEP(st_relaxed<S>(x, 4));
    STEP(r[0] = ld_relaxed<S>(x));
}
TEST(coww) // stores to one location have one order
{
    if (t < 2) {
        STEP(st_relaxed<S>(x, t + 1));
        return;
    }
    STEP(r[0] = ld_relaxed<S>(x));
    STEP(r[1] = ld_relaxed<S>(x));
}
template <Scope S> __device__ void no_fence() {}
// Two stores of each thread, in other orders: does each find the other's first one behind its own
// second one?
#define TWO_STORES(name, second, fence)                                                            \
    TEST(name)                                                                                     \
    {                                                                                              \
        STEP(st_relaxed<S>(t == 0 ? x : y, 1));                                                    \
        fence<S>();                                                                                \
        STEP(second<S>(t == 0 ? y : x, 2));                                                        \
        STEP(r[0] = ld_relaxed<S>(t == 0 ? y : x));                                                \
    }
TWO_STORES(w22_fence_sc, st_relaxed, fence_sc)
TWO_STORES(w22_release, st_release, no_fence)
TWO_STORES(w22_relaxed, st_relaxed, no_fence)
// A store after the reader has seen the flag: is it older than the one before the flag was set?
#define STORE_AFTER(name, store, load)                                                             \
    TEST(name)                                                                                     \
    {                                                                                              \
        if (t == 0) {                                                                              \
            STEP(st_relaxed<S>(x, 2));                                                             \
            STEP(store<S>(y, 1));                                                                  \
            return;                                                                                \
        }                                                                                          \
        STEP(r[0] = load<S>(y));                                                                   \
        STEP(st_relaxed<S>(x, 1));                                                                 \
        STEP(r[1] = ld_relaxed<S>(x));                                                             \
    }
STORE_AFTER(s_release_acquire, st_release, ld_acquire)
STORE_AFTER(s_relaxed, st_relaxed, ld_relaxed)
