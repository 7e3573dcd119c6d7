/* SPDX-License-Identifier: MIT
 * given.c: what comes with lab 06: questions about GPUs, a vector without its growth, and the way
 * of a descriptor through a socket.
 */
#include "lab06.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int vmm_gpu(int device)
{
    int n = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&n) != CUDA_SUCCESS)
        return LAB_ENOGPU;
    return device >= 0 && device < n ? LAB_OK : LAB_ENOGPU;
}

int vmm_reach(int from, int to)
{
    int can = from == to, rc;
    if (!can && (rc = vmm_result(cuDeviceCanAccessPeer(&can, from, to))))
        return rc;
    return can ? LAB_OK : LAB_ENOPEER;
}

/* ---- the vector ---- */

int vec_open(struct vvec *v, int dev, size_t reserve)
{
    struct vvec made = {.device = dev};
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev}};
    size_t granule;
    int rc;
    if (!v || reserve == 0)
        return LAB_EINVAL;
    if ((rc = vmm_gpu(dev)) || (rc = vmm_result(cuMemGetAllocationGranularity(
                                    &granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM))))
        return rc;
    made.reserved = (reserve + granule - 1) / granule * granule;
    if ((rc = vmm_result(cuMemAddressReserve(&made.base, made.reserved, 0, 0, 0))))
        return rc;
    *v = made;
    return LAB_OK;
}

int vec_share(struct vvec *v, int peer, CUmemAccess_flags flags)
{
    CUmemAccessDesc who = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = peer},
                           .flags = flags};
    int rc;
    if (!v || !v->base || peer == v->device)
        return LAB_EINVAL;
    if ((rc = vmm_gpu(peer)) || (rc = vmm_reach(peer, v->device)))
        return rc;
    if (v->sharers == VVEC_SHARERS)
        return LAB_ERANGE;
    if (v->bytes && (rc = vmm_result(cuMemSetAccess(v->base, v->bytes, &who, 1))))
        return rc;
    v->sharer[v->sharers++] = (struct vmm_sharer){.device = peer, .flags = flags};
    return LAB_OK;
}

int vec_close(struct vvec *v)
{
    if (!v)
        return LAB_EINVAL;
    if (v->bytes)
        (void)cuMemUnmap(v->base, v->bytes);
    for (int i = 0; i < v->parts; i++)
        (void)cuMemRelease(v->part[i]);
    if (v->base)
        (void)cuMemAddressFree(v->base, v->reserved);
    memset(v, 0, sizeof *v);
    return LAB_OK;
}

void vec_undo(CUdeviceptr at, size_t bytes, CUmemGenericAllocationHandle part)
{
    (void)cuMemUnmap(at, bytes); /* succeeds where nothing is mapped */
    (void)cuMemRelease(part);
}

/* ---- parcels ---- */

/* A message of one size_t, and room for one descriptor beside it. */
struct letter {
    size_t rights[CMSG_SPACE(sizeof(int)) / sizeof(size_t)]; /* aligned as a struct cmsghdr is */
    struct iovec text;
    struct msghdr head;
};

static void write_letter(struct letter *l, size_t *text)
{
    memset(l, 0, sizeof *l);
    l->text = (struct iovec){.iov_base = text, .iov_len = sizeof *text};
    l->head.msg_iov = &l->text;
    l->head.msg_iovlen = 1;
    l->head.msg_control = l->rights;
    l->head.msg_controllen = sizeof l->rights;
}

int parcel_send(int to, const struct vmm_parcel *parcel)
{
    struct letter l;
    ssize_t sent;
    if (!parcel || parcel->fd <= 0)
        return LAB_EINVAL;
    size_t bytes = parcel->bytes;
    write_letter(&l, &bytes);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&l.head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &parcel->fd, sizeof(int));
    do
        sent = sendmsg(to, &l.head, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof bytes ? LAB_OK : LAB_EPEER;
}

int parcel_recv(int from, struct vmm_parcel *parcel)
{
    struct letter l;
    size_t bytes = 0;
    ssize_t got;
    int fd = -1;
    if (!parcel)
        return LAB_EINVAL;
    write_letter(&l, &bytes);
    do
        got = recvmsg(from, &l.head, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *rights = got > 0 ? CMSG_FIRSTHDR(&l.head) : NULL;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(rights), sizeof(int));
    fd = parcel_number(fd);
    if (got != (ssize_t)sizeof bytes || fd < 0) {
        if (fd >= 0)
            close(fd);
        return LAB_EPEER;
    }
    *parcel = (struct vmm_parcel){.fd = fd, .bytes = bytes};
    return LAB_OK;
}

void parcel_drop(struct vmm_parcel *parcel)
{
    if (parcel->fd > 0)
        close(parcel->fd);
    parcel->fd = -1;
}

int parcel_make(struct vmm_parcel *parcel, int fd, size_t bytes)
{
    fd = parcel_number(fd); /* where stdin is closed, 0 is the first number that is free */
    if (fd < 0)
        return LAB_ENOMEM;
    *parcel = (struct vmm_parcel){.fd = fd, .bytes = bytes};
    return LAB_OK;
}

int parcel_number(int fd)
{
    int other;
    if (fd != 0)
        return fd;
    other = fcntl(fd, F_DUPFD_CLOEXEC, 1);
    close(fd);
    return other;
}
