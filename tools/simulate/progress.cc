#include "tools/simulate/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simulate/report.h"

namespace pbs::simulate {

std::string progress_line(const std::string& title, const Progress& progress, const rrule::Zone& zone,
                          std::size_t columns) {
    constexpr std::size_t kBar = 30;
    const std::size_t all = std::max<std::size_t>(progress.all, 1);
    const std::size_t done = std::min(progress.done, all);
    const std::string bar(kBar * done / all, '#');
    std::string line = fmt::format("[{:<{}}] {:3}%  {}  {}", bar, kBar, done * 100 / all,
                                   time_text(progress.now, zone).substr(0, 16), title);
    if (line.size() > columns) line.resize(columns);
    return line;
}

}  // namespace pbs::simulate
