#include "server_plugin/host/base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

namespace pbs::host {

namespace {

constexpr std::array<std::string_view, 10> kClassNames = {"Svr", "Que",  "Job",  "Req",   "Fil",
                                                          "Act", "Node", "Resv", "Sched", "Hook"};

std::string one_line(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
    while (result.ends_with(' ')) result.pop_back();
    return result;
}

}  // namespace

Log::Log(std::string directory, std::string module, Clock& clock)
    : file_(std::move(directory), 0644), module_(std::move(module)), clock_(clock) {}

void Log::write(LogEvent event, LogClass kind, std::string_view object, std::string_view text) {
    if (!writes(event)) return;
    const RealTime now = clock_.now_us();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
    const LocalTime local = local_time(seconds);
    const auto prefix = [&](LogEvent what) {
        return fmt::format("{}.{:06};{:04x};{};", local.stamp, (now - seconds).count(),
                           static_cast<unsigned>(what), module_);
    };
    const std::string line =
        fmt::format("{}{};{};{}\n", prefix(event), kClassNames[static_cast<std::size_t>(kind)],
                    one_line(object), one_line(text));
    if (echo_) static_cast<void>(write_all(STDERR_FILENO, line));
    if (lost_ != lost_told_) {
        const std::string gap = fmt::format("{}Svr;Log;{} lines could not be written before this one\n",
                                            prefix(LogEvent::error), lost_ - lost_told_);
        if (file_.append(local.day, gap) == 0) lost_told_ = lost_;
    }
    append(local.day, line);
}

void Log::append(int day, const std::string& line) {
    constexpr std::size_t kMostTogether = std::size_t{64} << 10;
    if (!together_) {
        if (file_.append(day, line) != 0) ++lost_;
        return;
    }
    if (day != gathered_day_ || gathered_.size() + line.size() > kMostTogether) write_gathered();
    gathered_day_ = day;
    gathered_ += line;
    ++gathered_lines_;
}

void Log::write_gathered() {
    if (gathered_.empty()) return;
    if (file_.append(gathered_day_, gathered_) != 0) lost_ += gathered_lines_;
    gathered_.clear();
    gathered_lines_ = 0;
}

Log::Together::~Together() {
    log_.together_ = false;
    log_.write_gathered();
}

void Log::error(std::string_view object, std::string_view text) {
    write(LogEvent::error, LogClass::server, object, text);
}

void Log::job(std::string_view job_id, std::string_view text) {
    write(LogEvent::job, LogClass::job, job_id, text);
}

}  // namespace pbs::host
