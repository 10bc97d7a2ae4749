#include "server_plugin/plugin/allocation_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <tl/expected.hpp>

#include "migrate/allocations.h"
#include "migrate/current_usage.h"
#include "objects/plain_file.h"

namespace pbs::plugin {
namespace {

constexpr off_t kMostBytes = 64 << 20;

std::string first_of(const migrate::Problems& problems) {
    std::string text = migrate::to_text(problems.front());
    if (problems.size() > 1) text += fmt::format(" (and {} more)", problems.size() - 1);
    return text;
}

// take_allocations() and take_current() parse a file's text and hand the result to the scheduler. They return
// the first mistake in the text, or an empty string.
std::string take_allocations(sched::Scheduler& scheduler, const std::string& dir, const std::string& path,
                             std::string_view text) {
    const auto read = migrate::parse_allocations(text, path);
    if (!read.mistakes.empty()) return first_of(read.mistakes);
    sched::NodeHours groups;
    for (const migrate::Allocation& allocation : read.groups)
        groups[allocation.group] = allocation.node_hours;
    scheduler.set_allocated(dir, std::move(groups));
    return {};
}

std::string take_current(sched::Scheduler& scheduler, const std::string& dir, const std::string& path,
                         std::string_view text) {
    const auto read = migrate::parse_current_usage(text, path);
    if (!read.mistakes.empty()) return first_of(read.mistakes);
    sched::NodeHours groups;
    for (const auto& [group, used] : read.groups()) groups[group] = used;
    scheduler.set_used(dir, std::move(groups));
    return {};
}

// Reads a regular file. Stores the file's stat() in `info`. Returns the text, or the reason for a failure.
tl::expected<std::string, std::string> read_file(const std::string& path, const std::string& home,
                                                 struct stat& info) {
    const auto wrong = [&](const std::string& why) {
        return tl::unexpected<std::string>(fmt::format("{}: {}", path, why));
    };
    const auto opened = objects::open_plain_file(path, home);
    if (!opened) return wrong(opened.error());
    const int fd = *opened;
    std::string text;
    std::string why;
    if (fstat(fd, &info) != 0) {
        why = system_text(errno);
    } else if (info.st_size > kMostBytes) {
        why = fmt::format("has {} bytes, expected at most {}", info.st_size, kMostBytes);
    } else {
        text.resize(static_cast<std::size_t>(info.st_size));
        const ssize_t n = pread(fd, text.data(), text.size(), 0);
        if (n < 0) why = system_text(errno);
        text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    close(fd);
    if (!why.empty()) return wrong(why);
    return text;
}

}  // namespace

void AllocationFiles::refresh(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                              const std::string& sched_priv, sched::Instant now, bool anew) {
    const auto asked = scheduler.questions(now, sched, "allocation");
    if (asked.empty()) return;
    const std::string& dir = asked[0].source;
    const std::filesystem::path folder =
        std::filesystem::path(sched_priv) / dir;  // an absolute `dir` replaces sched_priv
    auto& [allocations, current] = files_[dir];
    refresh(scheduler, host, dir, folder / "allocations", allocations, take_allocations, anew);
    refresh(scheduler, host, dir, folder / "current", current, take_current, anew);
}

void AllocationFiles::refresh(sched::Scheduler& scheduler, const Host& host, const std::string& dir,
                              const std::string& path, Watched& file, Take take, bool anew) {
    struct stat info {};
    std::string why;
    if (lstat(path.c_str(), &info) != 0) {
        why = fmt::format("{}: {}", path, system_text(errno));
    } else if (!anew && file.version == version_of(info)) {
        return;
    } else {
        const auto text = read_file(path, std::string(host.home()), info);
        why = text ? take(scheduler, dir, path, *text) : text.error();
        file.version = version_of(info);
    }
    if (!why.empty() && why != file.said)
        host.log(PBS_LOG_ERROR, "allocations", fmt::format("{}; what was read before stays in force", why));
    if (why.empty() && !file.said.empty())
        host.log(PBS_LOG_INFO, "allocations", fmt::format("{} is read again", path));
    file.said = why;
}

}  // namespace pbs::plugin
