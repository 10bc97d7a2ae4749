// Making the server's objects what they were, or what a document says, by the same handlers and checks as
// single Manager requests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/configuration.h"

namespace pbs::host {

struct ConfigTarget {
    ConfigName object;
    std::optional<ConfigValues> values;  // nullopt: it shall not be there
    bool keeps_others = false;           // attributes that aren't named stay as they are
};

// Reaches the targets, in an order in which each step is allowed if any order allows it: what ties objects
// together is loosened first, then what goes is deleted, then resources, queues, schedulers, nodes and the
// server are made or set, last the resources go that nothing uses any more.
class Reach {
  public:
    Reach(Context& context, std::vector<ConfigTarget> targets);
    ~Reach();
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

    // Goes on with one object, to be called in Batch::run() until nothing is left: false. The batch is to be
    // thrown away on an error: the first refusal, naming the object.
    Result<bool> go_on();
    // In the end: what couldn't be made quite as asked.
    const std::vector<std::string>& warnings() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
