/* SPDX-License-Identifier: MIT
 * nvtx.cpp: what a program sees of NVTX's objects for C++ where no tool listens.
 */
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtSync.h>
#include <nvtx3/nvtx3.hpp>

#include <cstdio>
#include <string>
#include <utility>

struct library {
    static constexpr const char *name = "library";
};

struct step {
    static constexpr const char *name = "step";
    static constexpr const char *message = "a step";
    static constexpr uint32_t id = 7;
};

static void show(const nvtx3::event_attributes &event)
{
    const nvtxEventAttributes_t *a = event.get();

    printf("%d %d %u %d %x %d %lld %d %s\n", a->version, a->size, a->category, a->colorType,
           a->color, a->payloadType, (long long)a->payload.llValue, a->messageType,
           a->messageType == NVTX_MESSAGE_TYPE_ASCII ? a->message.ascii : "");
}

static int in_ranges(bool some)
{
    NVTX3_FUNC_RANGE();
    NVTX3_FUNC_RANGE_IF_IN(library, some);
    nvtx3::scoped_range plain{"plain"}, colored{"red", nvtx3::rgb{255, 0, 0}};
    nvtx3::scoped_range_in<library> own{nvtx3::named_category_in<library>::get<step>(),
                                        nvtx3::registered_string_in<library>::get<step>()};
    nvtx3::unique_range first{nvtx3::payload{4}}, second{std::move(first)};
    std::string text = "text";
    nvtx3::mark(text, nvtx3::argb{1, 2, 3, 4});
    nvtx3::mark_in<library>("mark");
    first = std::move(second);
    return nvtxRangePop();
}

int main()
{
    nvtx3::range_handle none, range = nvtx3::start_range("range");
    nvtxResourceAttributes_t resource = {};

    show(nvtx3::event_attributes{});
    show(nvtx3::event_attributes{"first", nvtx3::message{"second"}, nvtx3::category{3}});
    show(nvtx3::event_attributes{nvtx3::rgb{1, 2, 3}, nvtx3::payload{int64_t{-5}}, "behind"});
    show(nvtx3::event_attributes{nvtx3::color{0x10203040}, nvtx3::payload{uint32_t{6}}});
    printf("%d %d\n", in_ranges(true), in_ranges(false));
    printf("%d %d %d\n", range == none, (bool)range, range != nullptr);
    nvtx3::end_range(range);
    printf("%d\n", nvtxDomainHandle_t(nvtx3::domain::get<>()) == nullptr);
    printf("%d\n", nvtxDomainHandle_t(nvtx3::domain::get<library>()) == nullptr);
    printf("%d\n", nvtxDomainResourceCreate(nullptr, &resource) == nullptr);
    printf("%d %d\n", (int)NVTX_RESOURCE_TYPE_GENERIC_HANDLE, NVTX_RESOURCE_ATTRIB_STRUCT_SIZE);
    printf("%d %d\n", (int)NVTX_RESOURCE_TYPE_CUDA_EVENT, (int)NVTX_RESOURCE_TYPE_SYNC_LINUX_RCU);
    printf("%d\n", nvtxDomainSyncUserCreate(nullptr, nullptr) == nullptr);
    nvtxNameCuStream(nullptr, "stream");
    return 0;
}
