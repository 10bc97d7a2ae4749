// Attribute tables and attribute values. One table per object type drives parsing, permission, defaults,
// status.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/attribute.h"
#include "server_plugin/host/error.h"
#include "server_plugin/host/resource_table.h"
#include "server_plugin/host/values.h"

namespace pbs::host {

// Who may read and write an attribute, and when.
enum AttributeFlag : uint32_t {
    read_user = 1,
    read_operator = 2,
    read_manager = 4,
    write_user = 8,
    write_operator = 16,
    write_manager = 32,
    alter_running = 64,  // users may change it while the job runs
    at_creation = 128,   // may be given when the job is queued, though not changed later
    computed = 256,      // the server works its value out when asked; of most nothing is stored
};

constexpr uint32_t read_all = read_user | read_operator | read_manager;
constexpr uint32_t read_only = read_all;
constexpr uint32_t read_write = read_all | write_user | write_operator | write_manager;
constexpr uint32_t no_user_set = read_all | write_operator | write_manager;
constexpr uint32_t manager_only_set = read_all | write_manager;
constexpr uint32_t managers_read = read_manager;
constexpr uint32_t all_writes = write_user | write_operator | write_manager;

struct AttributeDef {
    std::string_view name;
    Type type = Type::text;
    uint32_t flags = read_only;
};

class AttributeTable {
  public:
    explicit constexpr AttributeTable(std::span<const AttributeDef> rows) : rows_(rows) {}

    // By name, without regard to case; nullptr: no such attribute.
    const AttributeDef* find(std::string_view name) const;
    std::span<const AttributeDef> rows() const { return rows_; }

  private:
    std::span<const AttributeDef> rows_;
};

// The tables, one file each: server_table.cc, queue_table.cc, ...
const AttributeTable& server_table();
const AttributeTable& queue_table();
const AttributeTable& node_table();
const AttributeTable& sched_table();
const AttributeTable& job_table();

// One attribute as a request or a reply has it.
using AttributeChange = ifl::Attribute;

struct AttributeValue {
    const AttributeDef* def = nullptr;
    std::string resource;
    std::string value;  // canonical
};

// The values of one object, in the order of its table, resources by name.
class Attributes {
  public:
    const AttributeValue* find(std::string_view name, std::string_view resource = {}) const;
    bool has(std::string_view name, std::string_view resource = {}) const;
    // The value's text; empty when unset.
    std::string_view text(std::string_view name, std::string_view resource = {}) const;
    bool boolean(std::string_view name, bool otherwise) const;
    int64_t integer(std::string_view name, int64_t otherwise) const;
    // The entries of a list or acl.
    std::vector<std::string> list(std::string_view name) const;
    // All values of one attribute: the resources of a resource list.
    std::span<const AttributeValue> all_of(std::string_view name) const;

    // Sets a canonical value.
    void set(const AttributeDef& def, std::string_view resource, std::string value);
    // Removes one value, or with an empty resource all values of the attribute. True if there was one.
    bool unset(const AttributeDef& def, std::string_view resource);

    std::span<const AttributeValue> values() const { return values_; }

    // Gives back spare room; for objects that are kept in great numbers.
    void shrink() { values_.shrink_to_fit(); }

    bool operator==(const Attributes& other) const;

  private:
    std::vector<AttributeValue> values_;
};

// Applies one change: type check, then =, += or -=. An empty value given with = unsets. Errors: PBSE_UNKRESC,
// PBSE_BADATVAL, PBSE_DUPLIST, PBSE_NOATTR (a resource given for what isn't a resource list or the reverse).
Result<void> apply_change(Attributes& attributes, const AttributeDef& def, const AttributeChange& change,
                          const ResourceTable& resources);

// The type of one value: the attribute's, or the resource's if it is a resource list.
Type type_of(const AttributeValue& value, const ResourceTable& resources);

}  // namespace pbs::host
