/* SPDX-License-Identifier: MIT
 * user_object.c: objects of the program that live as long as somebody holds a reference to them: it
 * itself, graphs, and executable graphs until their launches have ended. The destructor runs in the
 * thread that gives the last reference back, or in that of host functions after a launch, and may
 * make no call of CUDA.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "graph.h"

struct CUuserObject_st {
    cudaHostFn_t destroy;
    void *data;
    unsigned long long references;
    struct CUuserObject_st *next;
};

struct graph_object {
    struct CUuserObject_st *object;
    unsigned long long count;
    struct graph_object *next;
};

static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUuserObject_st *objects; /* guarded by objects_lock, as are graphs' references */

/* The place in the list; with the lock held. */
static struct CUuserObject_st **find_user_object(const struct CUuserObject_st *object)
{
    struct CUuserObject_st **at = &objects;
    while (*at && *at != object)
        at = &(*at)->next;
    return at;
}

/* Takes an object without references out of the list. NULL: it has some. With the lock held. */
static struct CUuserObject_st *take_unreferenced(struct CUuserObject_st *object,
                                                 unsigned long long fewer)
{
    object->references -= fewer;
    if (object->references > 0)
        return NULL;
    *find_user_object(object) = object->next;
    return object;
}

static void destroy_user_object(struct CUuserObject_st *object)
{
    if (!object)
        return;
    bool before = vgpu__self.in_host_function;
    vgpu__self.in_host_function = true;
    object->destroy(object->data);
    vgpu__self.in_host_function = before;
    free(object);
}

/* ---- the references of a graph ---- */

/* NULL: host memory ran out. With the lock held. */
static struct graph_object *reference_of(struct CUgraph_st *graph, struct CUuserObject_st *object)
{
    struct graph_object *r = graph->objects;
    while (r && r->object != object)
        r = r->next;
    if (r || !(r = calloc(1, sizeof *r)))
        return r;
    *r = (struct graph_object){object, 0, graph->objects};
    graph->objects = r;
    return r;
}

bool vgpu__objects_copy(struct CUgraph_st *to, const struct CUgraph_st *from)
{
    bool good = true;
    pthread_mutex_lock(&objects_lock);
    for (const struct graph_object *r = from->objects; good && r; r = r->next) {
        struct graph_object *own = reference_of(to, r->object);
        good = own;
        if (own)
            own->count += r->count;
        if (own)
            own->object->references += r->count;
    }
    pthread_mutex_unlock(&objects_lock);
    return good;
}

void vgpu__objects_give_back(void *list)
{
    for (struct graph_object *r = list, *next; r; r = next) {
        pthread_mutex_lock(&objects_lock);
        struct CUuserObject_st *last = take_unreferenced(r->object, r->count);
        next = r->next;
        pthread_mutex_unlock(&objects_lock);
        destroy_user_object(last);
        free(r);
    }
}

void vgpu__objects_release(struct CUgraph_st *graph)
{
    struct graph_object *list = graph->objects;
    graph->objects = NULL;
    vgpu__objects_give_back(list);
}

/* ---- calls ---- */

#define NO_OBJECT "the object does not exist, or the number of references is not 1 to INT_MAX"

static bool is_count(unsigned int count)
{
    return count > 0 && count <= INT_MAX;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags)
{
    static const char call[] = "cudaUserObjectCreate";
    if (!object_out || !destroy || !is_count(initialRefcount) ||
        flags != cudaUserObjectNoDestructorSync)
        return vgpu__refuse_value(call, "a null pointer, no references, or flags that are not "
                                        "cudaUserObjectNoDestructorSync");
    struct CUuserObject_st *object = calloc(1, sizeof *object);
    if (!object)
        return vgpu__no_memory(call);
    pthread_mutex_lock(&objects_lock);
    *object = (struct CUuserObject_st){destroy, ptr, initialRefcount, objects};
    objects = *object_out = object;
    pthread_mutex_unlock(&objects_lock);
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    pthread_mutex_lock(&objects_lock);
    bool good = is_count(count) && *find_user_object(object);
    if (good)
        object->references += count;
    pthread_mutex_unlock(&objects_lock);
    return good ? cudaSuccess : vgpu__refuse_value("cudaUserObjectRetain", NO_OBJECT);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    struct CUuserObject_st *last = NULL;
    pthread_mutex_lock(&objects_lock);
    bool good = is_count(count) && *find_user_object(object) && object->references >= count;
    if (good)
        last = take_unreferenced(object, count);
    pthread_mutex_unlock(&objects_lock);
    destroy_user_object(last);
    return good ? cudaSuccess : vgpu__refuse_value("cudaUserObjectRelease", NO_OBJECT);
}

cudaError_t vgpu__objects_retain(struct CUgraph_st *graph, struct CUuserObject_st *object,
                                 unsigned int count, unsigned int flags)
{
    static const char call[] = "cudaGraphRetainUserObject";
    struct graph_object *r = NULL;
    if (flags & ~(unsigned int)cudaGraphUserObjectMove)
        return vgpu__refuse_value(call, "unknown flags");
    pthread_mutex_lock(&objects_lock);
    bool good = is_count(count) && *find_user_object(object) &&
                (!(flags & cudaGraphUserObjectMove) || object->references >= count);
    if (good && (r = reference_of(graph, object))) {
        r->count += count;
        object->references += flags & cudaGraphUserObjectMove ? 0 : count;
    }
    pthread_mutex_unlock(&objects_lock);
    if (!good)
        return vgpu__refuse_value(call, NO_OBJECT);
    return r ? cudaSuccess : vgpu__no_memory(call);
}

cudaError_t vgpu__objects_let_go(struct CUgraph_st *graph, struct CUuserObject_st *object,
                                 unsigned int count)
{
    static const char call[] = "cudaGraphReleaseUserObject";
    struct CUuserObject_st *last = NULL;
    pthread_mutex_lock(&objects_lock);
    struct graph_object **at = &graph->objects, *r;
    while (*at && (*at)->object != object)
        at = &(*at)->next;
    r = *at;
    bool good = r && is_count(count) && r->count >= count;
    if (good) {
        r->count -= count;
        last = take_unreferenced(object, count);
    }
    if (good && r->count == 0) {
        *at = r->next;
        free(r);
    }
    pthread_mutex_unlock(&objects_lock);
    destroy_user_object(last);
    return good ? cudaSuccess
                : vgpu__refuse_value(call, "the graph has fewer references to the object");
}
