// The dedicated times that commands (DEDICATED_TIME_COMMAND) have reported, by command and name.
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

// Merges the dedicated times of a host and of its system into one list, in order of their starts. If two
// overlap, the common time is the system's, and the host's time has the rest (sched-config guide,
// "SYSTEM_NAME").
std::vector<Outage> merge_outages(std::span<const Outage> host, std::span<const Outage> system);

// Returns the dedicated time that contains t, else the first one after it. Adjacent dedicated times count as
// one.
std::optional<rrule::Interval> outage_at_or_after(std::span<const Outage> outages, Instant t);

// Returns the first instant after t at which a dedicated time begins or ends.
std::optional<Instant> next_outage_change(std::span<const Outage> outages, Instant t);

class Outages {
  public:
    struct Report {
        bool awaited = false;
        std::optional<std::vector<Outage>> outages;  // nullopt: the command has never answered
    };
    using Key = std::pair<std::string, std::string>;  // the command, and the name that it was asked for

    // Stores a command's answer for a name. Returns false if the answer was the same before.
    bool set(std::string_view command, std::string_view name, std::vector<Outage> outages);
    // await() notes that a command was run and hasn't answered yet; its last answer remains valid. settle()
    // notes that there will be no answer. await() and settle() return false if nothing changes.
    bool await(std::string_view command, std::string_view name);
    bool settle(std::string_view command, std::string_view name);

    // Returns the dedicated times of a name; empty: none, or not known.
    std::span<const Outage> of(std::string_view command, std::string_view name) const;
    // Returns whether the command was run for the name, and has never answered.
    bool awaited(std::string_view command, std::string_view name) const;

    // all() returns all stored data; restore() adds one element of another object's all().
    const std::map<Key, Report>& all() const { return known_; }
    void restore(std::string_view command, std::string_view name, Report known) {
        known_[key(command, name)] = std::move(known);
    }

  private:
    static Key key(std::string_view command, std::string_view name) {
        return {std::string(command), std::string(name)};
    }
    std::map<Key, Report> known_;
};

}  // namespace pbs::sched
