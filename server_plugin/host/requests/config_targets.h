// Makes the server's objects what they were at a revision, or what a document says, by the same handlers and
// checks as single Manager requests.
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
    std::optional<ConfigValues> values;  // nullopt: the object is to be deleted
    bool keeps_others = false;           // attributes that aren't named stay as they are
};

// Reaches the targets, in an order in which each step is allowed if any order allows it: ties between objects
// are loosened first; then objects are deleted; then resources, queues, schedulers, nodes and the server are
// made or set; last, resources that nothing uses any more are deleted.
class Reach {
  public:
    Reach(Context& context, std::vector<ConfigTarget> targets);
    ~Reach();
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

    // Handles one object. Call it in Batch::run() until it returns false: nothing is left. On an error, the
    // first refusal with the object's name, throw the batch away.
    Result<bool> go_on();
    // At the end: the differences from the targets that remain.
    const std::vector<std::string>& warnings() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
