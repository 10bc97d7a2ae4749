#include "tools/simulate/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/simulate/report.h"

namespace pbs::simulate {
namespace {

constexpr std::chrono::milliseconds kBetweenBars{100};
constexpr std::chrono::seconds kBetweenLines{10};

std::size_t percent(const Progress& progress) {
    const std::size_t all = std::max<std::size_t>(progress.all, 1);
    return std::min(progress.done, all) * 100 / all;
}

std::string left_text(std::optional<Seconds> left) {
    if (!left) return {};
    const auto seconds = left->count();
    return fmt::format("{}:{:02}:{:02} left", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

std::string progress_line(const std::string& title, const Progress& progress, std::optional<Seconds> left,
                          const rrule::Zone& zone, std::size_t columns) {
    constexpr std::size_t kBar = 30;
    const std::size_t all = std::max<std::size_t>(progress.all, 1);
    const std::size_t done = std::min(progress.done, all);
    const std::string bar(kBar * done / all, '#');
    std::string line =
        fmt::format("[{:<{}}] {:3}%  {}  {}{}{}", bar, kBar, percent(progress),
                    time_text(progress.now, zone).substr(0, 16), left_text(left), left ? "  " : "", title);
    if (line.size() > columns) line.resize(columns);
    return line;
}

ProgressShow::ProgressShow(std::vector<std::string> titles, const rrule::Zone& zone,
                           std::optional<std::size_t> columns, Time begun)
    : titles_(std::move(titles)),
      zone_(zone),
      columns_(columns),
      begun_(begun),
      progress_(titles_.size()),
      last_(begun) {}

// Returns the time that is left if the simulations go on as fast as they have been since they began.
std::optional<Seconds> ProgressShow::left(const Progress& sum, Time now) const {
    constexpr std::chrono::seconds kFirst{2};  // before that, the time would be a guess
    if (now - begun_ < kFirst || sum.done == 0 || sum.done > sum.all) return std::nullopt;
    const double took = std::chrono::duration<double>(now - begun_).count();
    const double share = static_cast<double>(sum.all - sum.done) / static_cast<double>(sum.done);
    return Seconds(static_cast<std::int64_t>(std::min(took * share, 1e9)));
}

std::string ProgressShow::note(std::size_t simulation, const Progress& progress, Time now) {
    progress_[simulation] = progress;
    if (now - last_ < (columns_ ? std::chrono::milliseconds(kBetweenBars) : kBetweenLines)) return {};
    last_ = now;
    // The bar is about all simulations together. The time is that of the one that is behind the others.
    Progress sum{0, 0, Instant::max()};
    std::string each;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        const Progress& one = progress_[i];
        sum.done += std::min(one.done, one.all);
        sum.all += progress.all;  // all simulations have the same jobs
        if (one.all > 0) sum.now = std::min(sum.now, one.now);
        each += fmt::format("{}{}", i == 0 ? "" : ", ", titles_[i]);
        if (progress_.size() > 1) each += fmt::format(" {}%", percent(one));
    }
    const std::optional<Seconds> rest = left(sum, now);
    if (columns_) return fmt::format("\r{}\033[K", progress_line(each, sum, rest, zone_, *columns_));
    return fmt::format("pbs_simulate: {}%, {}{}{}: {}\n", percent(sum),
                       time_text(sum.now, zone_).substr(0, 16), rest ? ", " : "", left_text(rest), each);
}

}  // namespace pbs::simulate
