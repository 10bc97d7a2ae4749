// The dedicated times that commands (DEDICATED_TIME_COMMAND) reported, by command and name.
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

// Merges the dedicated times of a host and of the system that it belongs to into one list, in order of their
// starts. Where two overlap, the time is the system's, and the host keeps the rest of its own (sched-config
// guide, "SYSTEM_NAME").
std::vector<Outage> merge_outages(std::span<const Outage> host, std::span<const Outage> system);

// Returns the dedicated time that holds t, else the first one after it. Dedicated times that touch count as
// one.
std::optional<rrule::Interval> outage_at_or_after(std::span<const Outage> outages, Instant t);

// Returns the first instant after t at which a dedicated time begins or ends.
std::optional<Instant> next_outage_change(std::span<const Outage> outages, Instant t);

class Outages {
  public:
    struct Known {
        bool awaited = false;
        std::optional<std::vector<Outage>> outages;  // empty: the command has never answered
    };
    using Key = std::pair<std::string, std::string>;  // the command, and the name that it was asked for

    // Takes the answer of a command that was asked for a name. Returns false if it was known already.
    bool set(std::string_view command, std::string_view name, std::vector<Outage> outages);
    // Notes that a command was asked and hasn't answered yet, while its last answer stays (await), or that it
    // won't answer (settle). Both return false if that makes no difference.
    bool await(std::string_view command, std::string_view name);
    bool settle(std::string_view command, std::string_view name);

    // Returns the dedicated times of a name; empty if none are known.
    std::span<const Outage> of(std::string_view command, std::string_view name) const;
    // Was the command asked for the name, and has it never answered?
    bool awaited(std::string_view command, std::string_view name) const;

    // Returns all that is known (all), or takes up a part of it from another Outages (restore).
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
