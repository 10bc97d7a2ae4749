// An object in a reply, with attributes whose values are computed for the reply.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::plugin {

// The attributes of one object. Keeps their values; names and resources are views of the caller's texts.
class ShownAttributes {
  public:
    void add(std::string_view name, std::string value, std::string_view resource = {}) {
        attributes_.push_back({name, texts_.emplace_back(std::move(value)), resource});
    }
    void add_if_any(std::string_view name, const std::string& value, std::string_view resource = {}) {
        if (!value.empty()) add(name, value, resource);
    }
    void add_instant(std::string_view name, sched::Instant at) {
        add(name, std::to_string(at.time_since_epoch().count()));
    }
    std::span<const ShownAttribute> attributes() const { return attributes_; }

  private:
    std::deque<std::string> texts_;
    std::vector<ShownAttribute> attributes_;
};

}  // namespace pbs::plugin
