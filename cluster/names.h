// Maps the names of objects to a host's handles, which records and decisions have in place of names, and
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pbs::cluster {

struct ResourceRef {
    std::uint32_t id = 0;
    int kind = 0;  // enum pbs_resource_kind
    std::string_view name;
    bool on_vnodes = false;  // running jobs take amounts of the resource from their vnodes
};

class Names {
  public:
    virtual ~Names() = default;
    // A resource by its name or id; nullopt: there is no such resource.
    virtual std::optional<ResourceRef> resource(std::string_view name) const = 0;
    virtual std::optional<ResourceRef> resource(std::uint32_t id) const = 0;
    // The handle of an object; 0: no object has the name.
    virtual std::uint64_t queue(std::string_view name) const = 0;
    virtual std::uint64_t vnode(std::string_view name) const = 0;
    // A vnode's name; empty: no vnode has the handle.
    virtual std::string_view vnode_name(std::uint64_t vnode) const = 0;
};

}  // namespace pbs::cluster
