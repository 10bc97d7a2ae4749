// Maps Grid Engine's complexes to resources of PBS. Internal to migrate/grid_engine/.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "migrate/grid_engine/folder.h"

namespace pbs::migrate::grid_engine {

enum class ComplexType { number, size, time, text };

struct ComplexName {
    std::string resource;  // empty: no resource has this value; it is a load, a queue's name or the like
    ComplexType type = ComplexType::number;
    bool own = false;             // defined by the site, not by Grid Engine
    std::string relation = ">=";  // relop of the complex, by which it is compared with requests
};

// Finds the resources of PBS that stand for complexes. A complex that Grid Engine doesn't define is the
// site's own: it keeps its name, and has the type that the file sc gives it.
class ComplexNames {
  public:
    // `sc`: the file of complexes; null: there is none.
    explicit ComplexNames(const File* sc);
    ComplexName find(std::string_view name) const;
    // Returns the name of a load in PBS: load_avg, np_load_avg, or a number of the site's own, which somebody
    // has to set in resources_available of vnodes. If `name` is no such load, the result has no resource.
    ComplexName load(std::string_view name) const;

  private:
    std::map<std::string, ComplexName, std::less<>> by_name_;  // by name and by shortcut of the complex
};

// Reads a value with Grid Engine's multipliers: k, m, g, t are powers of 1000, and K, M, G, T powers of 1024.
// nullopt: another text, such as INFINITY.
std::optional<double> amount_of(std::string_view text);

}  // namespace pbs::migrate::grid_engine
