// Making the server's objects what they were, or what a document says, by the same handlers and checks as
// single Manager requests.
#ifndef PBSPOLICY_HOST_REQUESTS_CONFIG_TARGETS_H
#define PBSPOLICY_HOST_REQUESTS_CONFIG_TARGETS_H

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/configuration.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

struct ConfigTarget {
    ConfigName object;
    std::optional<ConfigValues> values;  // nullopt: it shall not be there
    bool keeps_others = false;           // attributes that aren't named stay as they are
};

// What came of it: every object that is different now, and what couldn't be made quite as asked.
struct Retargeted {
    std::vector<ConfigChange> changes;
    std::vector<std::string> warnings;
};

// Reaches the targets, in an order in which each step is allowed if any order allows it: what ties objects
// together is loosened first, then what goes is deleted, then resources, queues, schedulers, nodes and the
// server are made or set, last the resources go that nothing uses any more. Call it in a Batch, which is to
// be thrown away on an error: the first refusal, naming the object.
Result<Retargeted> reach(Context& context, const std::vector<ConfigTarget>& targets);

}  // namespace pbs::host

#endif
