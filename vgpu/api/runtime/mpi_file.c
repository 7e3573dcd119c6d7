/* SPDX-License-Identifier: MIT
 * mpi_file.c: files that are read into device memory and written from it. See mpi.h.
 */
#include "mpi.h"

/* `place`, `at`: the parameters in front of the buffer, and their names. */
#define RETURNS_WHEN_DONE(name, constant, way, place, at)                                          \
    LIBRARY int P##name(LIST place, constant void *, int, handle, void *);                         \
    int name(LIST place, constant void *data, int count, handle type, void *status);               \
    int name(LIST place, constant void *data, int count, handle type, void *status)                \
    {                                                                                              \
        BUFFER(part, data, count, type, way);                                                      \
        return vgpu__mpi_close(&part,                                                              \
                               part.failed ? 0 : P##name(LIST at, at_part, count, type, status));  \
    }
#define GOES_ON(name, constant, way, place, at)                                                    \
    LIBRARY int P##name(LIST place, constant void *, int, handle, void *);                         \
    int name(LIST place, constant void *data, int count, handle type, void *request);              \
    int name(LIST place, constant void *data, int count, handle type, void *request)               \
    {                                                                                              \
        BUFFER(part, data, count, type, way);                                                      \
        return part.failed ? vgpu__mpi_close(&part, 0)                                             \
                           : vgpu__mpi_begin(&part, request,                                       \
                                             P##name(LIST at, at_part, count, type, request));     \
    }
#define READ_AND_WRITE(kind, i, after, place, at)                                                  \
    kind(MPI_File_##i##read##after, , IN | OUT, place, at)                                         \
        kind(MPI_File_##i##write##after, const, IN, place, at)

READ_AND_WRITE(RETURNS_WHEN_DONE, , , (handle file), (file))
READ_AND_WRITE(RETURNS_WHEN_DONE, , _all, (handle file), (file))
READ_AND_WRITE(RETURNS_WHEN_DONE, , _shared, (handle file), (file))
READ_AND_WRITE(RETURNS_WHEN_DONE, , _ordered, (handle file), (file))
READ_AND_WRITE(RETURNS_WHEN_DONE, , _at, (handle file, long long at), (file, at))
READ_AND_WRITE(RETURNS_WHEN_DONE, , _at_all, (handle file, long long at), (file, at))
READ_AND_WRITE(GOES_ON, i, , (handle file), (file))
READ_AND_WRITE(GOES_ON, i, _all, (handle file), (file))
READ_AND_WRITE(GOES_ON, i, _shared, (handle file), (file))
READ_AND_WRITE(GOES_ON, i, _at, (handle file, long long at), (file, at))
READ_AND_WRITE(GOES_ON, i, _at_all, (handle file, long long at), (file, at))
