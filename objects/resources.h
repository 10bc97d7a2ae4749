// Keeps the names of the server's resources and queues, which values of attributes may use.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "values/amount.h"

namespace pbs::objects {

struct KnownResource {
    std::string name;
    std::optional<values::ResourceKind> kind{};
    bool stays = false;  // after a delete the server has it again, as a built-in one
};

class ResourceNames {
  public:
    // Begins with the usual resources of a PBS server, and those of the Origin scheduler (ssinodes, hpm).
    ResourceNames();
    // Returns the usual resources without those that only some servers have: soft_walltime and others, which
    // only OpenPBS has, and ngpus, which sites define.
    static ResourceNames of_every_server();
    // Adds a name; or its type, or that it stays, if the name is there. nullopt: the type isn't known.
    void add(std::string_view name, std::optional<values::ResourceKind> kind = {}, bool stays = false);
    // Removes a name, unless it stays.
    void remove(std::string_view name);
    // Returns whether the server has the resource even after its definition was deleted. True for the usual
    // ones (see the constructor).
    bool stays(std::string_view name) const;
    bool contains(std::string_view name) const { return names_.contains(name); }
    std::optional<values::ResourceKind> kind(std::string_view name) const;

  private:
    struct Known {
        std::optional<values::ResourceKind> kind{};
        bool stays = false;
    };
    std::map<std::string, Known, std::less<>> names_;
};

// The names of the server's queues. nullopt: they aren't known, as in pbs_migrate with a stopped server, so
// names of queues aren't checked.
using QueueNames = std::optional<std::set<std::string, std::less<>>>;

}  // namespace pbs::objects
