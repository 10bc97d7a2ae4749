// Attributes in requests and replies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/dis.h"

namespace pbs::ifl {

/// An operation on an attribute, or a comparison; with the numbers of enum batch_op of pbs_ifl.h.
enum class Op : std::uint8_t {
    set = 0,
    unset = 1,
    incr = 2,
    decr = 3,
    eq = 4,
    ne = 5,
    ge = 6,
    gt = 7,
    le = 8,
    lt = 9,
    dflt = 10,
    internal = 11,
};

/// An attribute in a request or reply. `resource` is empty unless the attribute is a list of resources.
struct Attribute {
    std::string name = {};
    std::string resource = {};
    std::string value = {};
    Op op = Op::set;

    bool operator==(const Attribute&) const = default;
};

using Attributes = std::vector<Attribute>;

/// An attribute whose text belongs to another object, such as a packet's buffer.
struct AttributeView {
    std::string_view name = {};
    std::string_view resource = {};
    std::string_view value = {};
    Op op = Op::set;
};

/// The largest allowed attribute list; lengths are in bytes.
struct AttributeLimits {
    std::size_t count;
    std::size_t name_length;
    std::size_t value_length;
};

/// Writes a list: the count; then for each attribute the length of its strings (with a NUL byte each), the
/// name, 1 and the resource or 0, the value, and the operation.
void put_attributes(DisWriter& out, const Attributes& attributes);
/// Copies the attributes that the views show.
Attributes copy_of(std::span<const AttributeView> views);

void put_attributes(DisWriter& out, std::span<const AttributeView> attributes);
Attributes get_attributes(DisReader& in, const AttributeLimits& limits);
/// Reads a list into `list`, replacing its contents; the views are into the reader's bytes.
void get_attributes(DisReader& in, const AttributeLimits& limits, std::vector<AttributeView>& list);

}  // namespace pbs::ifl
