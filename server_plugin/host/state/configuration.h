// Reads the server's part of the configuration, for the history and for documents (pbs_config): the
// attributes that managers set on the server, queues, nodes, resources and schedulers, as texts. The plugin
// reads its own part.
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

// The name of an object of the server. `type`: one of enum pbs_object_type. The server's own name is empty.
struct ConfigName {
    int type = 0;
    std::string name;
    auto operator<=>(const ConfigName&) const = default;
};

// Returns the word for a number of enum mgr_obj or enum pbs_object_type, such as "queue" or "host"; "object"
// for an unknown number.
std::string_view type_name(int type);
// Returns the object's name for messages: "queue q1", "server".
std::string title(const ConfigName& object);

// The attributes of an object that are set and that managers can set, as (key, canonical text), in the order
// of the attribute table. A key is "Priority" or "resources_max.ncpus". A node's state is included only if it
// is offline; a scheduler's folders only if they aren't the default ones.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

// Finds the value of an attribute; null: not set.
const std::string* find_value(const std::optional<ConfigValues>& values, std::string_view key);

ConfigValues config_values(const Attributes& server);
ConfigValues config_values(const Queue& queue);
ConfigValues config_values(const Node& node);
ConfigValues config_values(const Resource& resource);
ConfigValues config_values(const Sched& sched, std::string_view home);

// Sorts values in the order of the attribute table of this object type, because some attributes are checked
// against earlier ones. Values of one attribute are sorted by the names of their resources.
void sort_values(int type, ConfigValues& values);

// Splits "resources_max.ncpus" into attribute and resource; the resource is empty if there is none.
std::pair<std::string_view, std::string_view> split_key(std::string_view key);

// All objects of the configuration. Built-in resources aren't part of it.
using HostConfiguration = std::map<ConfigName, ConfigValues>;
HostConfiguration host_configuration(const State& state, std::string_view home);
// The names of all objects of the configuration.
std::vector<ConfigName> config_names(const State& state);
// The values of one object; nullopt: the object doesn't exist.
std::optional<ConfigValues> config_values(const State& state, std::string_view home,
                                          const ConfigName& object);

// A change of one object. `before` is nullopt if the object is new, `after` if it was removed.
struct ConfigChange {
    ConfigName object;
    std::optional<ConfigValues> before;
    std::optional<ConfigValues> after;
};

// Writes a line for each difference, as in pbs_config: "queue q1: Priority = 5", "node n1 is created".
std::vector<std::string> config_lines(const ConfigChange& change);

// Writes values as JSON: {"Priority":"5"}, or null for nullopt. A text that isn't UTF-8, which JSON can't
// have, becomes {"hex":"e9"}.
std::string to_json(const std::optional<ConfigValues>& values);
// Reads the JSON of to_json(); the values are in the order of its keys. PBSE_INTERNAL: a part is malformed;
// the message has that part.
Result<std::optional<ConfigValues>> from_json(std::string_view json);

// Returns the default folder of a scheduler. `attribute` is sched_priv or sched_log.
std::string default_sched_folder(std::string_view home, std::string_view sched, std::string_view attribute);

}  // namespace pbs::host
