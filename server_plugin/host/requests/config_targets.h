// Changes the server's objects to their state at a revision, or in a document, by the handlers and checks of
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
    std::optional<ConfigValues> values;  // nullopt: the object is to be deleted
    bool keeps_others = false;           // attributes without a value here stay as they are
};

// Changes the objects to their targets, in an order in which each step is permitted if there is such an
// order: first, references between objects are removed; then objects are deleted; then resources, queues,
// schedulers, nodes and the server are made or set; last, resources that nothing uses any more are deleted.
class Reach {
  public:
    Reach(Context& context, std::vector<ConfigTarget> targets);
    ~Reach();
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

    // Handles one object. Call it in Batch::run() until it returns false: all are done. The error is the
    // first refusal, with the object's name; then drop the batch.
    Result<bool> go_on();
    // The remaining differences from the targets, once all objects are done.
    const std::vector<std::string>& warnings() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
