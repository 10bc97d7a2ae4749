// The names of Grid Engine's complexes as resources. Internal to migrate/grid_engine/.
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
    std::string resource;  // empty: nothing here has this value; it is a load, a queue's name or the like
    ComplexType type = ComplexType::number;
    bool own = false;             // the site's own, not Grid Engine's
    std::string relation = ">=";  // by which it is compared
};

// Finds the resources that stand for complexes here. A complex that Grid Engine doesn't define is the site's
// own: it keeps its name, and has the type that the file sc gives it.
class ComplexNames {
  public:
    // null: there is no file sc.
    explicit ComplexNames(const File* sc);
    ComplexName find(std::string_view name) const;
    // Returns the name of a load here: load_avg, np_load_avg, or a number of the site's own, which somebody
    // has to set in resources_available of vnodes. If `name` is no load here, the result has no resource.
    ComplexName load(std::string_view name) const;

  private:
    std::map<std::string, ComplexName, std::less<>> by_name_;  // by name and by shortcut
};

// A value with Grid Engine's multipliers (k, K, m, M, g, G: powers of 1000 and 1024), INFINITY not included.
// nullopt: the text is no such value.
std::optional<double> amount_of(std::string_view text);

}  // namespace pbs::migrate::grid_engine
