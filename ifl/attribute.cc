#include "ifl/attribute.h"

namespace pbs::ifl {

namespace {

// The shortest attribute on the wire: five fields of two bytes each.
constexpr std::size_t kMinAttribute = 10;

template <class List>
void put_list(DisWriter& out, const List& attributes) {
    out.put_unsigned(attributes.size());
    for (const auto& attribute : attributes) {
        const bool has_resource = !attribute.resource.empty();
        out.put_unsigned(attribute.name.size() + 1 + attribute.value.size() + 1 +
                         (has_resource ? attribute.resource.size() + 1 : 0));
        out.put_text(attribute.name);
        out.put_unsigned(has_resource ? 1 : 0);
        if (has_resource) out.put_text(attribute.resource);
        out.put_text(attribute.value);
        out.put_unsigned(static_cast<std::uint64_t>(attribute.op));
    }
}

}  // namespace

void put_attributes(DisWriter& out, const Attributes& attributes) {
    put_list(out, attributes);
}
void put_attributes(DisWriter& out, std::span<const AttributeView> attributes) {
    put_list(out, attributes);
}

void get_attributes(DisReader& in, const AttributeLimits& limits, std::vector<AttributeView>& list) {
    list.clear();
    const std::size_t count = in.get_count("number of attributes", limits.count, kMinAttribute);
    list.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        AttributeView attribute;
        // skip the length of the strings, which only receivers need that allocate before they read
        in.get_unsigned("length of an attribute", UINT32_MAX);
        attribute.name = in.get_text("attribute name", limits.name_length);
        if (in.get_unsigned("attribute has a resource", 1) == 1) {
            attribute.resource = in.get_text("resource name", limits.name_length);
        }
        attribute.value = in.get_text("attribute value", limits.value_length);
        attribute.op =
            static_cast<Op>(in.get_unsigned("attribute operation", static_cast<unsigned>(Op::internal)));
        list.push_back(attribute);
    }
}

Attributes copy_of(std::span<const AttributeView> views) {
    Attributes attributes;
    attributes.reserve(views.size());
    for (const AttributeView& view : views) {
        attributes.push_back(
            {std::string(view.name), std::string(view.resource), std::string(view.value), view.op});
    }
    return attributes;
}

Attributes get_attributes(DisReader& in, const AttributeLimits& limits) {
    std::vector<AttributeView> list;
    get_attributes(in, limits, list);
    return copy_of(list);
}

}  // namespace pbs::ifl
