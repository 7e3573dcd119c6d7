/* SPDX-License-Identifier: MIT
 * nvtx3/nvtx3.hpp: NVTX for C++. Marks and ranges go to the calls of nvToolsExt.h, which forget
 * them; what a program can observe of the objects is NVTX's.
 */
#ifndef NVTX3_CPP_DEFINITIONS_V1_0
#define NVTX3_CPP_DEFINITIONS_V1_0

#include <cstddef>
#include <string>

#include "nvToolsExt.h"

namespace nvtx3
{
inline namespace v1
{
/* A group of names, by a type with a member `name`. */
class domain
{
  public:
    struct global {
    };

    domain(const domain &) = delete;
    domain &operator=(const domain &) = delete;

    template <class D = global> static const domain &get() noexcept
    {
        static const domain made(nvtxDomainHandle_t(create(D::name)));
        return made;
    }

    operator nvtxDomainHandle_t() const noexcept
    {
        return handle;
    }

  private:
    explicit domain(nvtxDomainHandle_t made) noexcept : handle(made) {}

    static nvtxDomainHandle_t create(const char *name) noexcept
    {
        return nvtxDomainCreateA(name);
    }

    static nvtxDomainHandle_t create(const wchar_t *name) noexcept
    {
        return nvtxDomainCreateW(name);
    }

    nvtxDomainHandle_t handle;
};

template <> inline const domain &domain::get<domain::global>() noexcept
{
    static const domain made(nvtxDomainHandle_t(nullptr));
    return made;
}

/* ---- what an event is described with ---- */

struct rgb {
    using component_type = uint8_t;

    constexpr rgb(component_type r, component_type g, component_type b) noexcept
        : red(r), green(g), blue(b)
    {
    }

    component_type red, green, blue;
};

struct argb final : rgb {
    constexpr argb(component_type a, component_type r, component_type g, component_type b) noexcept
        : rgb(r, g, b), alpha(a)
    {
    }

    component_type alpha;
};

class color
{
  public:
    using value_type = uint32_t;

    constexpr explicit color(value_type hex) noexcept : value(hex) {}

    constexpr color(rgb c) noexcept : value(join(0xFF, c)) {}

    constexpr color(argb c) noexcept : value(join(c.alpha, c)) {}

    constexpr value_type get_value() const noexcept
    {
        return value;
    }

    constexpr nvtxColorType_t get_type() const noexcept
    {
        return NVTX_COLOR_ARGB;
    }

  private:
    static constexpr value_type join(value_type alpha, const rgb &c)
    {
        return alpha << 24 | value_type(c.red) << 16 | value_type(c.green) << 8 | c.blue;
    }

    value_type value;
};

class category
{
  public:
    using id_type = uint32_t;

    constexpr explicit category(id_type number) noexcept : id(number) {}

    constexpr id_type get_id() const noexcept
    {
        return id;
    }

  private:
    id_type id;
};

template <class D = domain::global> class named_category_in final : public category
{
  public:
    named_category_in(id_type number, const char *name) noexcept : category(number)
    {
        nvtxDomainNameCategoryA(domain::get<D>(), number, name);
    }

    named_category_in(id_type number, const wchar_t *name) noexcept : category(number)
    {
        nvtxDomainNameCategoryW(domain::get<D>(), number, name);
    }

    /* By a type with members `id` and `name`. */
    template <class C> static const named_category_in &get() noexcept
    {
        static const named_category_in made(C::id, C::name);
        return made;
    }
};
using named_category = named_category_in<>;

template <class D = domain::global> class registered_string_in
{
  public:
    explicit registered_string_in(const char *text) noexcept
        : handle(nvtxDomainRegisterStringA(domain::get<D>(), text))
    {
    }

    explicit registered_string_in(const wchar_t *text) noexcept
        : handle(nvtxDomainRegisterStringW(domain::get<D>(), text))
    {
    }

    explicit registered_string_in(const std::string &text) noexcept
        : registered_string_in(text.c_str())
    {
    }

    explicit registered_string_in(const std::wstring &text) noexcept
        : registered_string_in(text.c_str())
    {
    }

    /* By a type with a member `message`. */
    template <class M> static const registered_string_in &get() noexcept
    {
        static const registered_string_in made(M::message);
        return made;
    }

    nvtxStringHandle_t get_handle() const noexcept
    {
        return handle;
    }

  private:
    nvtxStringHandle_t handle;
};
using registered_string = registered_string_in<>;

/* A text that outlives the event's call: no string that is only made for it. */
class message
{
  public:
    using value_type = nvtxMessageValue_t;

    message(const char *text) noexcept : type(NVTX_MESSAGE_TYPE_ASCII)
    {
        value.ascii = text;
    }

    message(const wchar_t *text) noexcept : type(NVTX_MESSAGE_TYPE_UNICODE)
    {
        value.unicode = text;
    }

    message(const std::string &text) noexcept : message(text.c_str()) {}

    message(const std::wstring &text) noexcept : message(text.c_str()) {}

    message(std::string &&) = delete;
    message(std::wstring &&) = delete;

    message(nvtxStringHandle_t handle) noexcept : type(NVTX_MESSAGE_TYPE_REGISTERED)
    {
        value.registered = handle;
    }

    template <class D>
    message(const registered_string_in<D> &text) noexcept : message(text.get_handle())
    {
    }

    message(nvtxMessageType_t kind, const nvtxMessageValue_t &content) noexcept
        : type(kind), value(content)
    {
    }

    value_type get_value() const noexcept
    {
        return value;
    }

    nvtxMessageType_t get_type() const noexcept
    {
        return type;
    }

  private:
    nvtxMessageType_t type;
    value_type value;
};

/* A number that goes along with an event. */
class payload
{
  public:
    using value_type = nvtxEventAttributes_v2::payload_t;

#define VGPU_NVTX_PAYLOAD(number_type, member, name)                                               \
    explicit payload(number_type number) noexcept : type(NVTX_PAYLOAD_TYPE_##name), value()        \
    {                                                                                              \
        value.member = number;                                                                     \
    }
    VGPU_NVTX_PAYLOAD(int64_t, llValue, INT64)
    VGPU_NVTX_PAYLOAD(uint64_t, ullValue, UNSIGNED_INT64)
    VGPU_NVTX_PAYLOAD(int32_t, iValue, INT32)
    VGPU_NVTX_PAYLOAD(uint32_t, uiValue, UNSIGNED_INT32)
    VGPU_NVTX_PAYLOAD(float, fValue, FLOAT)
    VGPU_NVTX_PAYLOAD(double, dValue, DOUBLE)
#undef VGPU_NVTX_PAYLOAD

    payload(nvtxPayloadType_t kind, const value_type &content) noexcept : type(kind), value(content)
    {
    }

    value_type get_value() const noexcept
    {
        return value;
    }

    nvtxPayloadType_t get_type() const noexcept
    {
        return type;
    }

  private:
    nvtxPayloadType_t type;
    value_type value;
};

/* Any of message, color, category and payload, in any order; of two of one kind the first counts.
 */
class event_attributes
{
  public:
    using value_type = nvtxEventAttributes_t;

    event_attributes() noexcept : attributes()
    {
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }

    template <class... Rest>
    explicit event_attributes(const category &c, const Rest &...rest) noexcept
        : event_attributes(rest...)
    {
        attributes.category = c.get_id();
    }

    template <class... Rest>
    explicit event_attributes(const color &c, const Rest &...rest) noexcept
        : event_attributes(rest...)
    {
        attributes.colorType = c.get_type();
        attributes.color = c.get_value();
    }

    template <class... Rest>
    explicit event_attributes(const payload &p, const Rest &...rest) noexcept
        : event_attributes(rest...)
    {
        attributes.payloadType = p.get_type();
        attributes.payload = p.get_value();
    }

    template <class... Rest>
    explicit event_attributes(const message &m, const Rest &...rest) noexcept
        : event_attributes(rest...)
    {
        attributes.messageType = m.get_type();
        attributes.message = m.get_value();
    }

    const value_type *get() const noexcept
    {
        return &attributes;
    }

  private:
    value_type attributes;
};

/* ---- ranges and marks ---- */

/* From here to the end of the block. */
template <class D = domain::global> class __attribute__((unused)) scoped_range_in
{
  public:
    explicit scoped_range_in(const event_attributes &event) noexcept
    {
        nvtxDomainRangePushEx(domain::get<D>(), event.get());
    }

    template <class... Parts>
    explicit scoped_range_in(const Parts &...parts) noexcept
        : scoped_range_in(event_attributes(parts...))
    {
    }

    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    void *operator new(std::size_t) = delete;

    ~scoped_range_in() noexcept
    {
        nvtxDomainRangePop(domain::get<D>());
    }
};
using scoped_range = scoped_range_in<>;

struct range_handle {
    using value_type = nvtxRangeId_t;

    constexpr range_handle() noexcept : id(0) {}

    constexpr range_handle(std::nullptr_t) noexcept : id(0) {}

    constexpr explicit range_handle(value_type number) noexcept : id(number) {}

    constexpr explicit operator bool() const noexcept
    {
        return id != 0;
    }

    constexpr value_type get_value() const noexcept
    {
        return id;
    }

  private:
    value_type id;
};

constexpr bool operator==(range_handle a, range_handle b) noexcept
{
    return a.get_value() == b.get_value();
}

constexpr bool operator!=(range_handle a, range_handle b) noexcept
{
    return !(a == b);
}

template <class D = domain::global>
inline range_handle start_range_in(const event_attributes &event) noexcept
{
    return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), event.get()));
}

template <class D = domain::global, class... Parts>
inline range_handle start_range_in(const Parts &...parts) noexcept
{
    return start_range_in<D>(event_attributes(parts...));
}

template <class... Parts> inline range_handle start_range(const Parts &...parts) noexcept
{
    return start_range_in<domain::global>(parts...);
}

template <class D = domain::global> inline void end_range_in(range_handle range) noexcept
{
    nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}

inline void end_range(range_handle range) noexcept
{
    end_range_in<domain::global>(range);
}

/* A range that ends with the object, in any thread; it can be moved. */
template <class D = domain::global> class __attribute__((unused)) unique_range_in
{
  public:
    template <class... Parts>
    explicit unique_range_in(const Parts &...parts) noexcept
        : handle(start_range_in<D>(parts...)), owns(true)
    {
    }

    unique_range_in(unique_range_in &&other) noexcept : handle(other.handle), owns(other.owns)
    {
        other.owns = false;
    }

    unique_range_in &operator=(unique_range_in &&other) noexcept
    {
        if (this != &other) {
            end();
            handle = other.handle;
            owns = other.owns;
            other.owns = false;
        }
        return *this;
    }

    ~unique_range_in() noexcept
    {
        end();
    }

  private:
    void end() noexcept
    {
        if (owns)
            end_range_in<D>(handle);
        owns = false;
    }

    range_handle handle;
    bool owns;
};
using unique_range = unique_range_in<>;

template <class D = domain::global> inline void mark_in(const event_attributes &event) noexcept
{
    nvtxDomainMarkEx(domain::get<D>(), event.get());
}

template <class D = domain::global, class... Parts>
inline void mark_in(const Parts &...parts) noexcept
{
    mark_in<D>(event_attributes(parts...));
}

template <class... Parts> inline void mark(const Parts &...parts) noexcept
{
    mark_in<domain::global>(parts...);
}

namespace detail
{
/* NVTX3_FUNC_RANGE_IF: a range that begins if a condition holds. */
template <class D = domain::global> class __attribute__((unused)) optional_scoped_range_in
{
  public:
    optional_scoped_range_in() = default;
    optional_scoped_range_in(const optional_scoped_range_in &) = delete;
    optional_scoped_range_in &operator=(const optional_scoped_range_in &) = delete;

    void begin(const event_attributes &event) noexcept
    {
        begun = true;
        nvtxDomainRangePushEx(domain::get<D>(), event.get());
    }

    ~optional_scoped_range_in() noexcept
    {
        if (begun)
            nvtxDomainRangePop(domain::get<D>());
    }

  private:
    bool begun = false;
};
} // namespace detail
} // namespace v1
} // namespace nvtx3

/* A range for the rest of the function, with its name. */
#define NVTX3_V1_FUNC_RANGE_IN(D)                                                                  \
    const ::nvtx3::v1::scoped_range_in<D> nvtx3_range__                                            \
    {                                                                                              \
        __func__                                                                                   \
    }
#define NVTX3_V1_FUNC_RANGE_IF_IN(D, condition)                                                    \
    ::nvtx3::v1::detail::optional_scoped_range_in<D> nvtx3_optional_range__;                       \
    if (condition)                                                                                 \
    nvtx3_optional_range__.begin(::nvtx3::v1::event_attributes{__func__})
#define NVTX3_V1_FUNC_RANGE() NVTX3_V1_FUNC_RANGE_IN(::nvtx3::v1::domain::global)
#define NVTX3_V1_FUNC_RANGE_IF(condition)                                                          \
    NVTX3_V1_FUNC_RANGE_IF_IN(::nvtx3::v1::domain::global, condition)
#define NVTX3_FUNC_RANGE NVTX3_V1_FUNC_RANGE
#define NVTX3_FUNC_RANGE_IF NVTX3_V1_FUNC_RANGE_IF
#define NVTX3_FUNC_RANGE_IN NVTX3_V1_FUNC_RANGE_IN
#define NVTX3_FUNC_RANGE_IF_IN NVTX3_V1_FUNC_RANGE_IF_IN

#endif
