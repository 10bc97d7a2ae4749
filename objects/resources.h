// The names of resources that formulas and sort keys may use.
#ifndef PBSPOLICY_OBJECTS_RESOURCES_H
#define PBSPOLICY_OBJECTS_RESOURCES_H

#include <set>
#include <string>
#include <string_view>

namespace pbs::objects {

class ResourceNames {
  public:
    // Those that every PBS server has, and those of the Origin scheduler (ssinodes, hpm).
    ResourceNames();
    void add(std::string_view name) { names_.emplace(name); }
    bool contains(std::string_view name) const { return names_.contains(name); }
    const std::set<std::string, std::less<>>& all() const { return names_; }

  private:
    std::set<std::string, std::less<>> names_;
};

}  // namespace pbs::objects

#endif
