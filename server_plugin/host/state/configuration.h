// The server's part of the configuration: what managers set on the server, queues, nodes, resources and
// schedulers, as texts, for the history and for documents (pbs_config). What the plugin keeps of these
// objects isn't in here.
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

// An object of the server's; the type is one of enum pbs_object_type, the server's name is empty.
struct ConfigName {
    int type = 0;
    std::string name;
    auto operator<=>(const ConfigName&) const = default;
};

// A number of enum mgr_obj or enum pbs_object_type as a word: "queue", "host"; "object" for what is none.
std::string_view type_name(int type);
// "queue q1", "server".
std::string title(const ConfigName& object);

// The attributes that can be set and are, in the order of the table: "Priority", "resources_max.ncpus", each
// with its canonical text. Of a node's state only that it is offline; of a scheduler not the folders that it
// has by itself.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

// The value of an attribute; null: it isn't set.
const std::string* find_value(const std::optional<ConfigValues>& values, std::string_view key);

ConfigValues config_values(const Attributes& server);
ConfigValues config_values(const Queue& queue);
ConfigValues config_values(const Node& node);
ConfigValues config_values(const Resource& resource);
ConfigValues config_values(const Sched& sched, std::string_view home);

// Puts values into the order of the table of their type: some attributes are checked against others that come
// before them. Resources of one attribute are in the order of their names.
void sort_values(int type, ConfigValues& values);

// Splits "resources_max.ncpus" into attribute and resource, the latter empty if there is none.
std::pair<std::string_view, std::string_view> split_key(std::string_view key);

// All objects; of resources those that aren't built in.
using HostConfiguration = std::map<ConfigName, ConfigValues>;
HostConfiguration host_configuration(const State& state, std::string_view home);
// The names of these objects.
std::vector<ConfigName> config_names(const State& state);
// One of them; nullopt if there is no such object.
std::optional<ConfigValues> config_values(const State& state, std::string_view home,
                                          const ConfigName& object);

// What a change does to one object; nullopt: it wasn't, or isn't, there.
struct ConfigChange {
    ConfigName object;
    std::optional<ConfigValues> before;
    std::optional<ConfigValues> after;
};

// A line for each difference, as pbs_config shows it: "queue q1: Priority = 5", "node n1 is created".
std::vector<std::string> config_lines(const ConfigChange& change);

// {"Priority":"5"}, or null. A text that isn't UTF-8, which JSON can't hold, is {"hex":"e9"}.
std::string to_json(const std::optional<ConfigValues>& values);
// Reads it back, in the order of the keys. Errors: PBSE_INTERNAL, saying what makes no sense.
Result<std::optional<ConfigValues>> from_json(std::string_view json);

// The folder that a scheduler has if none is set: `attribute` is sched_priv or sched_log.
std::string default_sched_folder(std::string_view home, std::string_view sched, std::string_view attribute);

}  // namespace pbs::host
