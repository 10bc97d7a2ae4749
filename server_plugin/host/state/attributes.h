// The attributes of an object, and their values. The tables of ifl/attributes/ define each attribute's
// parsing, permissions, defaults and display.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/attributes/attribute_table.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/resource_table.h"
#include "server_plugin/host/state/shared_text.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {

using ifl::AttributeDef;
using ifl::AttributeTable;
using enum ifl::AttributeFlag;
using ifl::attribute_table;
using ifl::job_table;
using ifl::kAllWrites;
using ifl::kReadOnly;
using ifl::node_table;
using ifl::queue_table;
using ifl::reservation_table;
using ifl::sched_table;
using ifl::server_table;

// An attribute in a request or a reply.
using AttributeChange = ifl::Attribute;

// A value of an attribute. Copies share the memory, so a list of values takes 8 bytes for each.
class AttributeValue {
  public:
    AttributeValue(const AttributeDef& def, std::string_view resource, std::string_view value)
        : all_(&def, resource, value) {}
    // Makes a value that shares the memory of an equal one that `texts` remembers.
    AttributeValue(const AttributeDef& def, std::string_view resource, std::string_view value,
                   SharedTexts& texts)
        : all_(texts.of(&def, resource, value)) {}

    const AttributeDef* def() const { return static_cast<const AttributeDef*>(all_.kind()); }
    std::string_view resource() const { return all_.name(); }
    std::string_view value() const { return all_.text(); }  // in canonical form
    // Makes the value share the memory of an equal one.
    void share(SharedTexts& texts) { texts.share(all_); }
    bool operator==(const AttributeValue& other) const = default;

  private:
    SharedText all_;
};

// The attribute values of one object, in the order of the attribute table. The values of one attribute are in
// the order of their resources.
class Attributes {
  public:
    const AttributeValue* find(std::string_view name, std::string_view resource = {}) const;
    bool has(std::string_view name, std::string_view resource = {}) const;
    // Returns the value's text; empty: not set.
    std::string_view text(std::string_view name, std::string_view resource = {}) const;
    bool boolean(std::string_view name, bool otherwise) const;
    int64_t integer(std::string_view name, int64_t otherwise) const;
    // Returns the entries of an attribute that is a list or an acl.
    std::vector<std::string> list(std::string_view name) const;
    // Returns all values of one attribute, which is a resource list.
    std::span<const AttributeValue> all_of(std::string_view name) const;
    std::span<const AttributeValue> all_of(const AttributeDef& def) const;

    // Sets a canonical value.
    void set(const AttributeDef& def, std::string_view resource, std::string_view value);
    // Sets a value, or replaces the one of the same attribute and resource.
    void put(AttributeValue value);
    // Removes one value or, with an empty resource, all values of the attribute. Returns false if there was
    // none.
    bool unset(const AttributeDef& def, std::string_view resource);

    std::span<const AttributeValue> values() const { return values_; }

    // Reserves memory for this number of values in all.
    void reserve(size_t count) { values_.reserve(count); }

    // Frees unused memory, except for `spare` further values, and makes equal texts of several objects share
    // memory. Meant for jobs, of which there are very many.
    void shrink(SharedTexts& texts, size_t spare = 0);
    // Frees unused memory, except for `spare` further values.
    void fit(size_t spare);

    bool operator==(const Attributes& other) const;

  private:
    std::vector<AttributeValue> values_;
};

// Applies one change of an attribute: checks the value's type, then does =, += or -=. The operation = with an
// empty value unsets the attribute. Errors: PBSE_UNKRESC, PBSE_BADATVAL, PBSE_DUPLIST; PBSE_NOATTR if a
// resource is given for an attribute that isn't a resource list, or none for one that is.
Result<void> apply_change(Attributes& attributes, const AttributeDef& def, const AttributeChange& change,
                          const ResourceTable& resources);

// Returns the type of a value: the type of its attribute or, in a resource list, of its resource.
Type type_of(const AttributeValue& value, const ResourceTable& resources);

}  // namespace pbs::host
