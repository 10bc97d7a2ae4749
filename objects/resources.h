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
};

class ResourceNames {
  public:
    // Begins with the resources that every PBS server has, and those of the Origin scheduler (ssinodes, hpm).
    ResourceNames();
    // Adds a name, or the type of a name that is there. nullopt: the type isn't known.
    void add(std::string_view name, std::optional<values::ResourceKind> kind = {});
    // Removes a name, unless every server has it (see the constructor).
    void remove(std::string_view name);
    bool contains(std::string_view name) const { return names_.contains(name); }
    std::optional<values::ResourceKind> kind(std::string_view name) const;

  private:
    std::map<std::string, std::optional<values::ResourceKind>, std::less<>> names_;
};

// The names of the server's queues. nullopt: they aren't known, as in pbs_migrate with a stopped server, so
// names of queues aren't checked.
using QueueNames = std::optional<std::set<std::string, std::less<>>>;

}  // namespace pbs::objects
