// Changes the server's objects to the values that they had at a revision, or that they have in a document, by
// the handlers and checks of single Manager requests.
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
    bool keeps_others = false;           // attributes that have no value here stay as they are
};

// Changes the objects to their targets, in an order in which each step is permitted, if there is one: removes
// references between objects; deletes objects; makes or sets resources, queues, schedulers, nodes and the
// server; deletes resources that nothing uses any more.
class Reach {
  public:
    Reach(Context& context, std::vector<ConfigTarget> targets);
    ~Reach();
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

    // Handles one object, within Batch::run(). Returns false when all are done: call it until then. Error:
    // the first refusal, with the object's name. The caller then has to drop the batch.
    Result<bool> go_on();
    // Returns the remaining differences from the targets. REQUIRES: all objects are done.
    const std::vector<std::string>& warnings() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
