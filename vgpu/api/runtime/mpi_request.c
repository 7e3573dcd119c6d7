/* SPDX-License-Identifier: MIT
 * mpi_request.c: messages that go on after the call, with buffers in device memory. The copy for
 * the library stays until a call says that the request is done; what was received is copied to
 * device memory then. See mpi.h.
 */
#include "mpi.h"

#include <pthread.h>
#include <stdlib.h>

LIBRARY extern char ompi_mpi_comm_world; /* of Open MPI, whose requests are pointers, not ints */

struct pending {
    handle request;
    struct buffer buffer;
    struct pending *next;
};

static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *_Atomic pending_requests; /* changed with the lock held */

static handle request_at(const void *requests, int i)
{
    return &ompi_mpi_comm_world ? ((const handle *)requests)[i]
                                : (handle)((const unsigned int *)requests)[i];
}

static bool none_pending(void)
{
    return !atomic_load(&pending_requests);
}

/* NULL: the request has no buffer in device memory. Taken before the call that may complete it:
 * another thread's next request may have the same number as soon as that is done. */
static struct pending *take_pending(handle request)
{
    pthread_mutex_lock(&pending_lock);
    struct pending *p = pending_requests, *before = NULL;
    while (p && p->request != request) {
        before = p;
        p = p->next;
    }
    if (p && before)
        before->next = p->next;
    else if (p)
        pending_requests = p->next;
    pthread_mutex_unlock(&pending_lock);
    return p;
}

static void put_pending(struct pending *p)
{
    pthread_mutex_lock(&pending_lock);
    p->next = pending_requests;
    pending_requests = p;
    pthread_mutex_unlock(&pending_lock);
}

/* Returns the call's result. */
static int end_pending(struct pending *p, int result)
{
    if (!p)
        return result;
    result = vgpu__mpi_close(&p->buffer, result);
    free(p);
    return result;
}

/* The library uses a number again if the program has given up the request without waiting
 * (MPI_Request_free), also for a buffer in host memory. */
int vgpu__mpi_begin(struct buffer *buffer, const void *request, int result)
{
    if (result != 0)
        return vgpu__mpi_close(buffer, result);
    struct pending *old = none_pending() ? NULL : take_pending(request_at(request, 0));
    if (old)
        free(old->buffer.host);
    free(old);
    if (!buffer->host)
        return vgpu__mpi_close(buffer, 0);
    struct pending *p = malloc(sizeof *p);
    if (!p) { /* the library goes on with the copy, which nobody frees */
        buffer->host = NULL;
        buffer->failed = true;
        return vgpu__mpi_close(buffer, 0);
    }
    *p = (struct pending){.request = request_at(request, 0), .buffer = *buffer};
    put_pending(p);
    return 0;
}

#define ISEND(name)                                                                                \
    LIBRARY int P##name(const void *, int, handle, int, int, handle, void *);                      \
    int name(const void *data, int count, handle type, int to, int tag, handle comm,               \
             void *request);                                                                       \
    int name(const void *data, int count, handle type, int to, int tag, handle comm,               \
             void *request)                                                                        \
    {                                                                                              \
        BUFFER(out, data, count, type, IN);                                                        \
        return out.failed ? vgpu__mpi_close(&out, 0)                                               \
                          : vgpu__mpi_begin(&out, request,                                         \
                                            P##name(at_out, count, type, to, tag, comm, request)); \
    }
ISEND(MPI_Isend)
ISEND(MPI_Issend)
ISEND(MPI_Irsend)
ISEND(MPI_Ibsend)

LIBRARY int PMPI_Irecv(void *, int, handle, int, int, handle, void *);
int MPI_Irecv(void *data, int count, handle type, int from, int tag, handle comm, void *request);
int MPI_Irecv(void *data, int count, handle type, int from, int tag, handle comm, void *request)
{
    BUFFER(in, data, count, type, IN | OUT);
    return in.failed ? vgpu__mpi_close(&in, 0)
                     : vgpu__mpi_begin(&in, request,
                                       PMPI_Irecv(at_in, count, type, from, tag, comm, request));
}

LIBRARY int PMPI_Imrecv(void *, int, handle, void *, void *);
int MPI_Imrecv(void *data, int count, handle type, void *message, void *request);
int MPI_Imrecv(void *data, int count, handle type, void *message, void *request)
{
    BUFFER(in, data, count, type, IN | OUT);
    return in.failed
               ? vgpu__mpi_close(&in, 0)
               : vgpu__mpi_begin(&in, request, PMPI_Imrecv(at_in, count, type, message, request));
}

/* ---- requests that may be done: a call that completes one clears it at its place ---- */

/* Those at `requests`, taken from the list; NULL: none has a buffer in device memory. */
static struct pending **take_all(const void *requests, int count)
{
    struct pending **taken = none_pending() || count <= 0 || !requests
                                 ? NULL
                                 : malloc((size_t)count * sizeof(struct pending *));
    for (int i = 0; taken && i < count; i++)
        taken[i] = take_pending(request_at(requests, i));
    return taken;
}

/* After the call, also if it failed for some of them. Returns its result, or what went wrong with a
 * buffer. */
static int end_done(struct pending **taken, const void *requests, int count, int result)
{
    int wrong = 0;
    for (int i = 0; taken && i < count; i++) {
        if (!taken[i])
            continue;
        if (taken[i]->request == request_at(requests, i)) {
            put_pending(taken[i]);
            continue;
        }
        int here = end_pending(taken[i], 0);
        wrong = wrong ? wrong : here;
    }
    free(taken);
    return result ? result : wrong;
}

#define COMPLETES(name, parameters, arguments, requests, count)                                    \
    LIBRARY int P##name parameters;                                                                \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        struct pending **taken = take_all(requests, count);                                        \
        return end_done(taken, requests, count, P##name arguments);                                \
    }
COMPLETES(MPI_Wait, (void *request, void *status), (request, status), request, 1)
COMPLETES(MPI_Test, (void *request, int *done, void *status), (request, done, status), request, 1)
COMPLETES(MPI_Waitall, (int count, void *requests, void *statuses), (count, requests, statuses),
          requests, count)
COMPLETES(MPI_Testall, (int count, void *requests, int *done, void *statuses),
          (count, requests, done, statuses), requests, count)
COMPLETES(MPI_Waitany, (int count, void *requests, int *which, void *status),
          (count, requests, which, status), requests, count)
COMPLETES(MPI_Testany, (int count, void *requests, int *which, int *done, void *status),
          (count, requests, which, done, status), requests, count)
COMPLETES(MPI_Waitsome, (int count, void *requests, int *done, int *which, void *statuses),
          (count, requests, done, which, statuses), requests, count)
COMPLETES(MPI_Testsome, (int count, void *requests, int *done, int *which, void *statuses),
          (count, requests, done, which, statuses), requests, count)

/* The request stays, but its buffer may be used. */
LIBRARY int PMPI_Request_get_status(handle request, int *done, void *status);
int MPI_Request_get_status(handle request, int *done, void *status);
int MPI_Request_get_status(handle request, int *done, void *status)
{
    int result = PMPI_Request_get_status(request, done, status);
    bool ended = result == 0 && *done && !none_pending();
    return ended ? end_pending(take_pending(request), 0) : result;
}
