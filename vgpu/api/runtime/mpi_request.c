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

/* NULL: the request has no buffer in device memory. */
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

/* The request is done. Returns the call's result. */
static int end_request(handle request, int result)
{
    struct pending *p = take_pending(request);
    if (!p)
        return result;
    result = vgpu__mpi_close(&p->buffer, result);
    free(p);
    return result;
}

/* The call has begun the request at `request`. The library may use a number again that the program
 * has given up without waiting (MPI_Request_free). */
static int begin_request(struct buffer *buffer, const void *request, int result)
{
    if (result != 0 || !buffer->host)
        return vgpu__mpi_close(buffer, result);
    struct pending *p = malloc(sizeof *p);
    if (!p) { /* the library goes on with the copy, which nobody frees */
        buffer->host = NULL;
        buffer->failed = true;
        return vgpu__mpi_close(buffer, 0);
    }
    handle number = request_at(request, 0);
    struct pending *old = take_pending(number);
    if (old)
        free(old->buffer.host);
    free(old);
    pthread_mutex_lock(&pending_lock);
    *p = (struct pending){number, *buffer, pending_requests};
    pending_requests = p;
    pthread_mutex_unlock(&pending_lock);
    return result;
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
                          : begin_request(&out, request,                                           \
                                          P##name(at_out, count, type, to, tag, comm, request));   \
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
                     : begin_request(&in, request,
                                     PMPI_Irecv(at_in, count, type, from, tag, comm, request));
}

/* ---- one request: a call that completes it clears it, so it is read before ---- */

LIBRARY int PMPI_Wait(void *, void *);
int MPI_Wait(void *request, void *status);
int MPI_Wait(void *request, void *status)
{
    handle number = request_at(request, 0);
    return end_request(number, PMPI_Wait(request, status));
}

LIBRARY int PMPI_Test(void *, int *, void *);
int MPI_Test(void *request, int *done, void *status);
int MPI_Test(void *request, int *done, void *status)
{
    handle number = request_at(request, 0);
    int result = PMPI_Test(request, done, status);
    return result != 0 || *done ? end_request(number, result) : result;
}

/* ---- several ---- */

/* The numbers of the requests; NULL: none has a buffer in device memory. */
static handle *numbers_of(const void *requests, int count)
{
    handle *numbers = none_pending() || count <= 0 ? NULL : malloc((size_t)count * sizeof *numbers);
    for (int i = 0; numbers && i < count; i++)
        numbers[i] = request_at(requests, i);
    return numbers;
}

static int end_requests(const handle *numbers, int count, int result)
{
    for (int i = 0; i < count; i++) {
        int here = end_request(numbers[i], result);
        result = result ? result : here;
    }
    return result;
}

/* Those at `which`. */
static int end_some(const handle *numbers, const int *which, int count, int result)
{
    for (int i = 0; i < count; i++) {
        int here = end_request(numbers[which[i]], result);
        result = result ? result : here;
    }
    return result;
}

LIBRARY int PMPI_Waitall(int, void *, void *);
int MPI_Waitall(int count, void *requests, void *statuses);
int MPI_Waitall(int count, void *requests, void *statuses)
{
    handle *numbers = numbers_of(requests, count);
    int result = PMPI_Waitall(count, requests, statuses);
    result = numbers ? end_requests(numbers, count, result) : result;
    free(numbers);
    return result;
}

LIBRARY int PMPI_Testall(int, void *, int *, void *);
int MPI_Testall(int count, void *requests, int *done, void *statuses);
int MPI_Testall(int count, void *requests, int *done, void *statuses)
{
    handle *numbers = numbers_of(requests, count);
    int result = PMPI_Testall(count, requests, done, statuses);
    result = numbers && result == 0 && *done ? end_requests(numbers, count, result) : result;
    free(numbers);
    return result;
}

LIBRARY int PMPI_Waitany(int, void *, int *, void *);
int MPI_Waitany(int count, void *requests, int *which, void *status);
int MPI_Waitany(int count, void *requests, int *which, void *status)
{
    handle *numbers = numbers_of(requests, count);
    int result = PMPI_Waitany(count, requests, which, status);
    result = numbers && result == 0 && *which >= 0 ? end_request(numbers[*which], result) : result;
    free(numbers);
    return result;
}

LIBRARY int PMPI_Testany(int, void *, int *, int *, void *);
int MPI_Testany(int count, void *requests, int *which, int *done, void *status);
int MPI_Testany(int count, void *requests, int *which, int *done, void *status)
{
    handle *numbers = numbers_of(requests, count);
    int result = PMPI_Testany(count, requests, which, done, status);
    result = numbers && result == 0 && *done && *which >= 0 ? end_request(numbers[*which], result)
                                                            : result;
    free(numbers);
    return result;
}

#define SOME(name)                                                                                 \
    LIBRARY int P##name(int, void *, int *, int *, void *);                                        \
    int name(int count, void *requests, int *done, int *which, void *statuses);                    \
    int name(int count, void *requests, int *done, int *which, void *statuses)                     \
    {                                                                                              \
        handle *numbers = numbers_of(requests, count);                                             \
        int result = P##name(count, requests, done, which, statuses);                              \
        result = numbers && result == 0 ? end_some(numbers, which, *done, result) : result;        \
        free(numbers);                                                                             \
        return result;                                                                             \
    }
SOME(MPI_Waitsome)
SOME(MPI_Testsome)
