// The names of the server's resources and queues, which the values of attributes may use.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pbs::objects {

class ResourceNames {
  public:
    // Has the resources that every PBS server has, and those of the Origin scheduler (ssinodes, hpm).
    ResourceNames();
    void add(std::string_view name) { names_.emplace(name); }
    // Removes a name; names of the constructor stay.
    void remove(std::string_view name);
    bool contains(std::string_view name) const { return names_.contains(name); }
    const std::set<std::string, std::less<>>& all() const { return names_; }

  private:
    std::set<std::string, std::less<>> names_;
};

// The server's queues. nullopt: they aren't known, as in pbs_migrate beside a stopped server, and names of
// queues aren't checked.
using QueueNames = std::optional<std::set<std::string, std::less<>>>;

}  // namespace pbs::objects
