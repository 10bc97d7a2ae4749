// The definitions of resources: built-in ones, and custom ones of managers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {

// The flags of a resource as in qmgr, in this order: h (host-level), q (consumable at server and queue), n
// (consumable at vnodes, too) or f (at the first vnode), i (invisible to users) or r (read-only for users), m
// (known to the execution side).
enum ResourceFlag : uint32_t {
    resource_host = 1,
    resource_queue_sum = 2,
    resource_node_sum = 4,
    resource_first_node_sum = 8,
    resource_invisible = 16,
    resource_read_only = 32,
    resource_execution = 64
};

struct Resource {
    uint32_t id = 0;  // numbered from 0 without gaps; a server process uses each id once
    std::string name;
    Type type = Type::text;
    uint32_t flags = 0;
    bool built_in = false;
    bool for_policies = false;  // also of a definition that has taken the place of a built-in one

    bool consumable() const { return (flags & (resource_node_sum | resource_first_node_sum)) != 0; }
    std::string flag_text() const;
    std::string definition_text() const;  // for messages: "type long, flag r"
    std::string_view type_text() const;   // "long", "float", "size", "boolean", "string", "string_array"
};

// Returns whether type and flags are the same: then a value means the same with both definitions.
bool same_definition(const Resource& a, const Resource& b);

// Returns the built-in resource for policies with this name, whose place a manager's definition may take.
// nullopt: there is none.
std::optional<Resource> resource_for_policies(std::string_view name);

// Returns a warning if a manager has defined a resource for policies in another way than the built-in one, so
// that policies may not read its values. Empty: the definition is the same, apart perhaps from an added flag
// r, or the resource isn't one for policies.
std::string note_for_policies(const Resource& resource);

// Checks a value that a job requests. PBSE_BADATVAL: an amount is below 0 (which `nice` permits; `per_host`
// is at least 1), or a `deadline` is no time, which no comment of the job would tell. REQUIRES: `value` is
// canonical.
Result<void> check_request(const Resource& resource, std::string_view value);

// Checks a value that jobs get by default. Beyond check_request(), refuses values of resources for policies
// that can't be read, and so would keep jobs from running. REQUIRES: `value` is canonical.
Result<void> check_default(const Resource& resource, std::string_view value);

class ResourceTable {
  public:
    // Makes a table of the built-in resources.
    ResourceTable();
    ResourceTable(const ResourceTable& other);
    ResourceTable(ResourceTable&&) = default;
    ResourceTable& operator=(const ResourceTable&) = delete;
    ResourceTable& operator=(ResourceTable&&) = default;
    ~ResourceTable() = default;

    // Finds a resource by name, without regard to case. Returns nullptr if there is none.
    const Resource* find(std::string_view name) const;
    const Resource* by_id(uint32_t id) const;

    // Adds a custom resource; an empty type_text means string. It takes the place, and the id, of a built-in
    // resource for policies. Errors: PBSE_BADATVAL (name, type, flags), PBSE_DUPLIST (the resource exists).
    Result<const Resource*> add(std::string_view name, std::string_view type_text,
                                std::string_view flag_text);
    // Checks what add() checks, without adding anything.
    Result<Resource> check(std::string_view name, std::string_view type_text,
                           std::string_view flag_text) const;
    // Replaces type and flags of a custom resource, or takes the place of a built-in one for policies.
    // Errors: PBSE_UNKRESC; PBSE_ATTRRO for another built-in one.
    Result<const Resource*> change(const Resource& changed);
    // Removes a custom resource. Where it has taken the place of a built-in one, that comes back.
    Result<void> remove(std::string_view name);

    // Returns all definitions, in the order of their ids.
    std::vector<const Resource*> all() const;

  private:
    const Resource* insert(Resource resource);
    const Resource* replace(Resource& there, Resource by);

    std::map<std::string, std::unique_ptr<Resource>, std::less<>> by_name_;  // lower-case names
    std::vector<Resource*> by_id_;                                           // nullptr: removed
};

}  // namespace pbs::host
