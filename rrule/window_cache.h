// A cache of compiled windows that lasts beyond one reading of the configuration.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rrule/window_set.h"

namespace pbs::rrule {

// Keeps windows and sets, with everything compiled from them, from one reading of the configuration to the
// next, so that a reading costs no more than what changed: a window whose attributes are the same isn't
// parsed again, and a set of the same windows and non-work days isn't compiled again. Sets are looked up by
// their contents, never by a name: any change of a rule, its times, its zone or the non-work days makes a new
// set. Zones stay as they were first looked up: when zones_are_current() is false, clear() and read again.
//
// One thread at a time.
class WindowCache {
  public:
    // The non-work days of entries in the form of NonWorkDays::parse(). Errors: those of parse().
    Result<NonWorkDays> non_work_days(std::span<const std::string> entries, const Zone& zone);

    // The union of windows, with the non-work days of the last call of non_work_days(). Errors: those of
    // Window::make(); then `failed` (unless null) gets the index of the window.
    Result<WindowSet> set(std::span<const WindowSpec> specs, const Zone& zone, std::size_t* failed = nullptr);

    // Drops everything that wasn't used since the last call.
    void drop_unused();

    // Returns whether the files of all zones used since the last clear() are unchanged. Costs a stat() for
    // each.
    bool zones_are_current() const;
    void clear();

  private:
    void remember(std::span<const Zone> zones);

    template <class T>
    struct Kept {
        T value;
        bool used = true;
    };
    std::map<std::string, Kept<Window>, std::less<>> windows_;
    std::map<std::string, Kept<WindowSet>, std::less<>> sets_;
    std::map<std::string, Zone, std::less<>> zones_;
    std::string days_key_;
    NonWorkDays days_;
};

}  // namespace pbs::rrule
