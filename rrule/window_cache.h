// Keeps compiled windows from one reading of the configuration to the next.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rrule/window_set.h"

namespace pbs::rrule {

// Keeps windows and unions of windows (WindowSet), with everything compiled from them, so that a reading of
// the configuration costs no more than what has changed. A window whose attributes are the same isn't parsed
// again. A union of the same windows and non-work days isn't compiled again. Unions are looked up by their
// contents, never by a name: any change of a rule, its times, its zone or the non-work days makes a new one.
// Zones stay as they were first looked up: when zones_are_current() is false, call clear() and read the
// configuration again.
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
