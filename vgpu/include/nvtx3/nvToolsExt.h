/* SPDX-License-Identifier: MIT
 * nvtx3/nvToolsExt.h: NVTX, with which a program names its phases for a profiler. There is none
 * here, so marks and ranges are taken and forgotten, but for pushed ranges, which VGPU_TRACE shows.
 * Depths and ids are those of NVTX without a tool: nvtxRangePush and nvtxRangePop answer -2
 * (NVTX_NO_PUSH_POP_TRACKING), a range's id is 0.
 */
#ifndef NVTX_VERSION
#define NVTX_VERSION 3

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_API
#define NVTX_INLINE_STATIC static __inline__ __attribute__((unused))
#define NVTX_DECLSPEC NVTX_INLINE_STATIC

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_ERR_INIT_ACCESS_LIBRARY 3
#define NVTX_ERR_INIT_LOAD_LIBRARY 4
#define NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT 5
#define NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT 6
#define NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE 7

#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

/* ---- resources: what a domain gives a name to ---- */

#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_MAKE_TYPE(class_name, index)                                                 \
    ((uint32_t)NVTX_RESOURCE_CLASS_##class_name << 16 | (uint32_t)(index))

typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version, size;
    int32_t identifierType;
    union identifier_t {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef nvtxResourceAttributes_v0 nvtxResourceAttributes_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_v0))

/* ---- calls ---- */

/* In the runtime; null in a program without it. */
#ifdef __cplusplus
extern "C" {
#endif
extern void vgpu_range_push(const char *name) __attribute__((weak));
extern void vgpu_range_pop(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

NVTX_INLINE_STATIC int vgpu_nvtx_push(const char *name)
{
    if (vgpu_range_push)
        vgpu_range_push(name);
    return NVTX_NO_PUSH_POP_TRACKING;
}

NVTX_INLINE_STATIC int nvtxRangePushA(const char *message)
{
    return vgpu_nvtx_push(message);
}

NVTX_INLINE_STATIC int nvtxRangePushEx(const nvtxEventAttributes_t *event)
{
    int named = event && event->messageType == NVTX_MESSAGE_TYPE_ASCII;
    return vgpu_nvtx_push(named ? event->message.ascii : NULL);
}

NVTX_INLINE_STATIC int nvtxRangePop(void)
{
    if (vgpu_range_pop)
        vgpu_range_pop();
    return NVTX_NO_PUSH_POP_TRACKING;
}

/* Calls that do nothing. */
#define VGPU_NVTX_VOID(name, parameters)                                                           \
    NVTX_INLINE_STATIC void name parameters {}
#define VGPU_NVTX_ID(name, type, parameters)                                                       \
    NVTX_INLINE_STATIC type name parameters                                                        \
    {                                                                                              \
        return (type)0;                                                                            \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

NVTX_INLINE_STATIC int nvtxRangePushW(const wchar_t *message)
{
    return vgpu_nvtx_push(NULL);
}

NVTX_INLINE_STATIC int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                             const nvtxEventAttributes_t *event)
{
    return nvtxRangePushEx(event);
}

NVTX_INLINE_STATIC int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    return nvtxRangePop();
}

VGPU_NVTX_ID(nvtxRangeStartA, nvtxRangeId_t, (const char *message))
VGPU_NVTX_ID(nvtxRangeStartW, nvtxRangeId_t, (const wchar_t *message))
VGPU_NVTX_ID(nvtxRangeStartEx, nvtxRangeId_t, (const nvtxEventAttributes_t *event))
VGPU_NVTX_ID(nvtxDomainRangeStartEx, nvtxRangeId_t,
             (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event))
VGPU_NVTX_ID(nvtxDomainCreateA, nvtxDomainHandle_t, (const char *name))
VGPU_NVTX_ID(nvtxDomainCreateW, nvtxDomainHandle_t, (const wchar_t *name))
VGPU_NVTX_ID(nvtxDomainRegisterStringA, nvtxStringHandle_t,
             (nvtxDomainHandle_t domain, const char *text))
VGPU_NVTX_ID(nvtxDomainRegisterStringW, nvtxStringHandle_t,
             (nvtxDomainHandle_t domain, const wchar_t *text))
VGPU_NVTX_ID(nvtxDomainResourceCreate, nvtxResourceHandle_t,
             (nvtxDomainHandle_t domain, nvtxResourceAttributes_t *resource))
VGPU_NVTX_VOID(nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource))
VGPU_NVTX_VOID(nvtxRangeEnd, (nvtxRangeId_t id))
VGPU_NVTX_VOID(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t id))
VGPU_NVTX_VOID(nvtxDomainDestroy, (nvtxDomainHandle_t domain))
VGPU_NVTX_VOID(nvtxMarkA, (const char *message))
VGPU_NVTX_VOID(nvtxMarkW, (const wchar_t *message))
VGPU_NVTX_VOID(nvtxMarkEx, (const nvtxEventAttributes_t *event))
VGPU_NVTX_VOID(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event))
VGPU_NVTX_VOID(nvtxNameCategoryA, (uint32_t category, const char *name))
VGPU_NVTX_VOID(nvtxNameCategoryW, (uint32_t category, const wchar_t *name))
VGPU_NVTX_VOID(nvtxDomainNameCategoryA,
               (nvtxDomainHandle_t domain, uint32_t category, const char *name))
VGPU_NVTX_VOID(nvtxDomainNameCategoryW,
               (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name))
VGPU_NVTX_VOID(nvtxNameOsThreadA, (uint32_t thread, const char *name))
VGPU_NVTX_VOID(nvtxNameOsThreadW, (uint32_t thread, const wchar_t *name))
VGPU_NVTX_VOID(nvtxInitialize, (const void *reserved))

#pragma GCC diagnostic pop

#undef VGPU_NVTX_VOID
#undef VGPU_NVTX_ID

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangePush nvtxRangePushW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#endif

#endif
