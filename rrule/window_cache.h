// Sets of windows that outlive a reading of the configuration.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rrule/window_set.h"

namespace pbs::rrule {

// Keeps windows and sets, with what is compiled of them, from one reading of the configuration to the next,
// so that a change costs what changed: a window whose attributes are the same isn't parsed again, and a set
// of the same windows and non-work days isn't compiled again. A set is found by what it is made of, never by
// a name: whatever changes in a rule, its times, its zone or the non-work days makes a new one. Zones are
// those that were looked up with the rules: when zones_are_current() is false, clear() and read again.
//
// One thread at a time.
class WindowCache {
  public:
    // Of entries as NonWorkDays::parse takes them. Errors: those of parse.
    Result<NonWorkDays> non_work_days(std::span<const std::string> entries, const Zone& zone);

    // The union of windows, with the non-work days that were asked for last. Errors: those of Window::make,
    // of the window with index `failed` (unless null).
    Result<WindowSet> set(std::span<const WindowSpec> specs, const Zone& zone, std::size_t* failed = nullptr);

    // Drops what hasn't been asked for since the last call of this.
    void drop_unused();

    // Whether the files of all zones that were needed since the last clear() are still those that were read.
    // A stat() for each of them.
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
