// What is known of dedicated times that DEDICATED_TIME_COMMAND tells, by command and name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rrule/window.h"
#include "server_plugin/scheduler/model/outage_list.h"

namespace pbs::sched {

// The dedicated times of a host and of the system that it belongs to, as one list in order of their start.
// Where two overlap, the time is the system's, and of the host's what lies outside it is left (sched-config
// guide, "SYSTEM_NAME").
std::vector<Outage> merge_outages(std::span<const Outage> host, std::span<const Outage> system);

// The dedicated time that holds t, else the first one after it; what touches counts as one.
std::optional<rrule::Interval> outage_at_or_after(std::span<const Outage> outages, Instant t);

// The first instant after t at which a dedicated time begins or ends.
std::optional<Instant> next_outage_change(std::span<const Outage> outages, Instant t);

class Outages {
  public:
    struct Known {
        bool awaited = false;
        std::optional<std::vector<Outage>> outages;  // nothing: never answered
    };
    using Key = std::pair<std::string, std::string>;  // command, name

    // The answer of a command that was asked for a name. False if it is what was known.
    bool set(std::string_view command, std::string_view name, std::vector<Outage> outages);
    // It was asked, and the answer isn't there yet; what was known stays. settle(): there will be none.
    // False if that makes no difference.
    bool await(std::string_view command, std::string_view name);
    bool settle(std::string_view command, std::string_view name);

    // Empty: nothing is known.
    std::span<const Outage> of(std::string_view command, std::string_view name) const;
    // The first answer is still to come.
    bool awaited(std::string_view command, std::string_view name) const;

    // All that is known, and a part of it as it was known elsewhere.
    const std::map<Key, Known>& all() const { return known_; }
    void restore(std::string_view command, std::string_view name, Known known) {
        known_[key(command, name)] = std::move(known);
    }

  private:
    static Key key(std::string_view command, std::string_view name) {
        return {std::string(command), std::string(name)};
    }
    std::map<Key, Known> known_;
};

}  // namespace pbs::sched
