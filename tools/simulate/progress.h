// Shows how far simulations are: a bar on a terminal, elsewhere a line every ten seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"

namespace pbs::simulate {

// Formats a bar of `columns` characters: "[#########           ]  45%  2026-11-23 08:00  0:02:10 left title".
// `left`: the time that is left; nullopt: it isn't known yet.
std::string progress_line(const std::string& title, const Progress& progress, std::optional<Seconds> left,
                          const rrule::Zone& zone, std::size_t columns);

// The progress of simulations that run at the same time.
class ProgressShow {
  public:
    using Time = std::chrono::steady_clock::time_point;
    // `columns`: the width of the terminal; nullopt: there is none. `zone` has to outlive the object.
    ProgressShow(std::vector<std::string> titles, const rrule::Zone& zone, std::optional<std::size_t> columns,
                 Time begun);

    // Notes how far one of the simulations is. Returns what to write; empty: nothing now.
    std::string note(std::size_t simulation, const Progress& progress, Time now);
    // Returns what to write after the simulations: it removes the bar.
    std::string end() const { return columns_ ? "\r\033[K" : ""; }

  private:
    std::optional<Seconds> left(const Progress& sum, Time now) const;

    const std::vector<std::string> titles_;
    const rrule::Zone& zone_;
    const std::optional<std::size_t> columns_;
    const Time begun_;
    std::vector<Progress> progress_;  // by simulation
    Time last_;
};

}  // namespace pbs::simulate
