// The server's part of the configuration: the attributes that managers set on the server, queues, nodes,
// resources and schedulers, as texts, for the history and for documents (pbs_config). The plugin's part isn't
// in here.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// An object of the server. The type is one of enum pbs_object_type; the server's own name is empty.
struct ConfigName {
    int type = 0;
    std::string name;
    auto operator<=>(const ConfigName&) const = default;
};

// A number of enum mgr_obj or enum pbs_object_type as a word: "queue", "host"; "object" for any other number.
std::string_view type_name(int type);
// The object as messages name it: "queue q1", "server".
std::string title(const ConfigName& object);

// The attributes that can be set and are, in the order of the table: "Priority", "resources_max.ncpus", each
// with its canonical text. A node's state is in it only as offline; a scheduler's folders only if they aren't
// the default ones.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

// The value of an attribute; null: it isn't set.
const std::string* find_value(const std::optional<ConfigValues>& values, std::string_view key);

ConfigValues config_values(const Attributes& server);
ConfigValues config_values(const Queue& queue);
ConfigValues config_values(const Node& node);
ConfigValues config_values(const Resource& resource);
ConfigValues config_values(const Sched& sched, std::string_view home);

// Puts values into the order of their type's table, as some attributes are checked against others that come
// before them. Resources of one attribute are in the order of their names.
void sort_values(int type, ConfigValues& values);

// Splits "resources_max.ncpus" into attribute and resource, the latter empty if there is none.
std::pair<std::string_view, std::string_view> split_key(std::string_view key);

// All objects of the configuration; of the resources only custom ones.
using HostConfiguration = std::map<ConfigName, ConfigValues>;
HostConfiguration host_configuration(const State& state, std::string_view home);
// The names of all objects of the configuration.
std::vector<ConfigName> config_names(const State& state);
// The values of one object; nullopt: there is no such object.
std::optional<ConfigValues> config_values(const State& state, std::string_view home,
                                          const ConfigName& object);

// A change of one object; nullopt: it wasn't there before, or isn't there after.
struct ConfigChange {
    ConfigName object;
    std::optional<ConfigValues> before;
    std::optional<ConfigValues> after;
};

// Writes a line for each difference, as pbs_config shows it: "queue q1: Priority = 5", "node n1 is created".
std::vector<std::string> config_lines(const ConfigChange& change);

// {"Priority":"5"}, or null. A text that isn't UTF-8, which JSON can't hold, is {"hex":"e9"}.
std::string to_json(const std::optional<ConfigValues>& values);
// Reads the JSON back, in the order of the keys. Errors: PBSE_INTERNAL, with the part that makes no sense.
Result<std::optional<ConfigValues>> from_json(std::string_view json);

// The folder of a scheduler for which none is set: `attribute` is sched_priv or sched_log.
std::string default_sched_folder(std::string_view home, std::string_view sched, std::string_view attribute);

}  // namespace pbs::host
