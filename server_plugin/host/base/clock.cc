#include "server_plugin/host/base/clock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 20ms;
// The kernel sets the times of files by its tick, a few milliseconds long. So a file that was written less
// than this long ago may change again and keep its time.
constexpr auto kSettleTime = 100ms;
constexpr std::int64_t kLargestOffset = 3'155'760'000;  // a hundred years

RealTime real_now() {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
           a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool settled(const struct stat& seen) {
    const auto changed =
        std::chrono::seconds(seen.st_ctim.tv_sec) + std::chrono::nanoseconds(seen.st_ctim.tv_nsec);
    return std::chrono::system_clock::now().time_since_epoch() - changed > kSettleTime;
}

}  // namespace

LocalTime local_time(std::chrono::sys_seconds at) {
    const std::time_t seconds = at.time_since_epoch().count();
    std::tm tm{};
    localtime_r(&seconds, &tm);
    return {(tm.tm_year + 1900) * 10000 + (tm.tm_mon + 1) * 100 + tm.tm_mday,
            fmt::format("{:02}/{:02}/{:04} {:02}:{:02}:{:02}", tm.tm_mon + 1, tm.tm_mday, tm.tm_year + 1900,
                        tm.tm_hour, tm.tm_min, tm.tm_sec)};
}

Clock::Clock(std::chrono::seconds offset) : fixed_(offset) {}

Result<void> Clock::follow(const std::string& file, Complain complain) {
    struct stat seen {};
    if (::stat(file.c_str(), &seen) != 0)
        return fail(PBSE_SYSTEM, fmt::format("clock file {}: {}", file, system_text(errno)));
    auto offset = read_file_offset(file);
    if (!offset) return tl::unexpected(offset.error());
    file_ = file;
    complain_ = std::move(complain);
    from_file_ = *offset;
    seen_ = seen;
    settled_ = settled(seen);
    looked_ = std::chrono::steady_clock::now();
    return {};
}

Result<std::chrono::seconds> Clock::read_file_offset(const std::string& file) {
    const auto text = read_file(file, 4096);
    if (!text) return tl::unexpected(text.error());
    const auto word = values::trim(*text);
    const auto seconds = values::parse_integer(word);
    if (!seconds || *seconds > kLargestOffset || *seconds < -kLargestOffset)
        return fail(PBSE_SYSTEM,
                    fmt::format("clock file {}: \"{}\" is not a whole number of seconds within 100 years",
                                file, word.substr(0, 40)));
    return std::chrono::seconds(*seconds);
}

void Clock::look() {
    if (file_.empty()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < kLookEvery) return;
    looked_ = now;
    struct stat seen {};
    Result<std::chrono::seconds> offset;
    if (::stat(file_.c_str(), &seen) != 0) {
        offset = fail(PBSE_SYSTEM, fmt::format("clock file {}: {}", file_, system_text(errno)));
    } else {
        if (settled_ && same_file(seen, seen_)) return;
        offset = read_file_offset(file_);
    }
    settled_ = settled(seen);
    seen_ = seen;
    if (offset) {
        from_file_ = *offset;
        complaint_.clear();
    } else if (complaint_ != offset.error().message) {
        complaint_ = offset.error().message;
        if (complain_) complain_(complaint_ + "; the offset stays as it was");
    }
}

std::chrono::seconds Clock::offset() {
    look();
    return fixed_ + from_file_;
}

RealTime Clock::now_us() {
    return real_now() + offset();
}

std::chrono::sys_seconds Clock::now() {
    return std::chrono::floor<std::chrono::seconds>(now_us());
}

std::chrono::sys_seconds Clock::from_real(std::chrono::sys_seconds real) {
    return real + offset();
}

}  // namespace pbs::host
