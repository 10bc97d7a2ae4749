#include "tools/diag/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "values/number.h"

namespace pbs::diag {
namespace {

using cmds::value_of;
using std::chrono::microseconds;
using std::chrono::sys_seconds;

// Too little space is free on a disk if it is less than the smaller of these: a tenth of the disk, or the
// size of a day's log of a busy server.
constexpr double kLeastFreeShare = 0.1;
constexpr double kLeastFreeBytes = 1e9;
constexpr std::int64_t kMostClockDifference = 2;

std::int64_t number(const attrl* attributes, std::string_view name, std::string_view resource = "") {
    std::string_view text = value_of(attributes, name, resource).value_or("");
    return values::take_number<std::int64_t>(text).value_or(0);
}

std::string text_of(const attrl* attributes, std::string_view name) {
    return std::string(value_of(attributes, name).value_or("-"));
}

std::vector<const batch_status*> all_of(const batch_status* list) {
    std::vector<const batch_status*> all;
    for (; list != nullptr; list = list->next) all.push_back(list);
    return all;
}

// Returns the last `most` objects, latest first.
std::vector<const batch_status*> latest(const batch_status* list, std::size_t most) {
    std::vector<const batch_status*> all = all_of(list);
    std::reverse(all.begin(), all.end());
    all.resize(std::min(all.size(), most));
    return all;
}

sys_seconds instant(const attrl* attributes, std::string_view name) {
    return sys_seconds(std::chrono::seconds(number(attributes, name)));
}

}  // namespace

std::string time_text(sys_seconds at) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(at)));
}

std::string duration_text(microseconds duration) {
    const auto us = static_cast<double>(duration.count());
    if (us < 1e3) return fmt::format("{} us", duration.count());
    if (us < 1e6) return fmt::format("{:.1f} ms", us / 1e3);
    return fmt::format("{:.2f} s", us / 1e6);
}

std::string size_text(double bytes) {
    constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < kUnits.size()) {
        bytes /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits.at(unit));
}

std::string cycles_text(const batch_status* cycles, std::size_t most) {
    if (cycles == nullptr) return "No cycle has run since the server's start.\n";
    std::string text =
        fmt::format("{:19}  {:12} {:14} {:>10} {:>11} {:>10} {:>8} {:>8} {:>7}\n", "Began", "Scheduler",
                    "Because of", "Deciding", "Carrying out", "Considered", "Started", "Comments", "Dropped");
    for (const batch_status* cycle : latest(cycles, most)) {
        const attrl* of = cycle->attribs;
        text +=
            fmt::format("{:19}  {:12} {:14} {:>10} {:>11} {:>10} {:>8} {:>8} {:>7}{}\n",
                        time_text(instant(of, "began")), text_of(of, "sched"), text_of(of, "trigger"),
                        duration_text(microseconds(number(of, "deciding_us"))),
                        duration_text(microseconds(number(of, "carrying_out_us"))), number(of, "considered"),
                        number(of, "decisions", "run"), number(of, "decisions", "comment"),
                        number(of, "dropped"), value_of(of, "failed") ? "  failed: see the log" : "");
    }
    const auto all = all_of(cycles);
    std::int64_t longest = 0;
    std::int64_t sum = 0;
    for (const batch_status* cycle : all) {
        const std::int64_t took =
            number(cycle->attribs, "deciding_us") + number(cycle->attribs, "carrying_out_us");
        longest = std::max(longest, took);
        sum += took;
    }
    text += fmt::format("Of the last {}: {} on average, the longest {}.\n", all.size(),
                        duration_text(microseconds(sum / static_cast<std::int64_t>(all.size()))),
                        duration_text(microseconds(longest)));
    return text;
}

std::string peers_text(const batch_status* peers, std::size_t most) {
    if (peers == nullptr) return "No jobs are pulled from other servers.\n";
    std::string text = fmt::format("{:30} {:19}  {:>9} {:>7}  {}\n", "Server", "Answered", "Could run",
                                   "On way", "Into which queues");
    for (const batch_status* peer : latest(peers, most)) {
        const attrl* of = peer->attribs;
        const std::string_view trouble = value_of(of, "trouble").value_or("");
        text += fmt::format("{:30} {:19}  {:>9} {:>7}  {}\n", text_of(of, "server"),
                            value_of(of, "answered") ? time_text(instant(of, "answered")) : "not yet",
                            number(of, "jobs"), number(of, "pulled"), text_of(of, "queues"));
        if (!trouble.empty()) text += fmt::format("{:30} left alone for a while: {}\n", "", trouble);
    }
    return text;
}

std::string reasons_text(const std::vector<Reason>& reasons, std::size_t most) {
    if (reasons.empty()) return "No job is queued.\n";
    std::size_t all = 0;
    for (const Reason& reason : reasons) all += reason.jobs;
    std::string text = fmt::format("{:>9}  {}\n", "Jobs", "Comment (N: a number)");
    for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i)
        text += fmt::format("{:>9}  {}\n", reasons[i].jobs, reasons[i].text);
    if (reasons.size() > most) text += fmt::format("and {} other comments.\n", reasons.size() - most);
    text += fmt::format("{:>9}  jobs are queued\n", all);
    return text;
}

std::string requests_text(const batch_status* requests, std::size_t most) {
    if (requests == nullptr) return "No request has taken 50 ms.\n";
    std::string text =
        fmt::format("{:19}  {:>10}  {:16} {:30} {}\n", "At", "Took", "Request", "Of", "Object");
    for (const batch_status* request : latest(requests, most)) {
        const attrl* of = request->attribs;
        text += fmt::format("{:19}  {:>10}  {:16} {:30} {}\n", time_text(instant(of, "at")),
                            duration_text(microseconds(number(of, "took_us"))), text_of(of, "type"),
                            text_of(of, "who"), value_of(of, "object").value_or(""));
    }
    return text;
}

std::string users_text(const batch_status* users, std::size_t most) {
    if (users == nullptr) return "Nobody has asked for anything.\n";
    std::string text = fmt::format("{:>10} {:>10}  {}\n", "Time", "Requests", "Of");
    const auto all = all_of(users);
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
        const attrl* of = all[i]->attribs;
        text += fmt::format("{:>10} {:>10}  {}\n", duration_text(microseconds(number(of, "took_us"))),
                            number(of, "requests"), text_of(of, "who"));
    }
    return text;
}

Health health_text(const batch_status* health, const batch_status* counters, const batch_status* server,
                   sys_seconds now, std::string_view zone_version) {
    Health found;
    const auto say = [&found](bool well, std::string_view what, const std::string& text) {
        found.text += fmt::format("{}  {:14} {}\n", well ? "ok     " : "PROBLEM", what, text);
        if (!well) ++found.problems;
    };
    const attrl* of = health != nullptr ? health->attribs : nullptr;
    const attrl* counted = counters != nullptr ? counters->attribs : nullptr;
    const sys_seconds started = instant(counted, "started");
    say(true, "server",
        fmt::format("version {}, process {}, since {}", text_of(counted, "version"), number(of, "pid"),
                    time_text(started)));
    say(true, "memory", size_text(static_cast<double>(number(of, "memory", "resident"))));
    say(true, "descriptors", fmt::format("{} open", number(of, "descriptors")));
    for (const char* name : {"server.db", "policy.db"}) {
        const std::string log = std::string(name) + "-wal";
        const bool there = value_of(of, "file", name).has_value();
        say(there, "database",
            there ? fmt::format("{} {}, its log {}", name,
                                size_text(static_cast<double>(number(of, "file", name))),
                                size_text(static_cast<double>(number(of, "file", log))))
                  : fmt::format("{} can't be looked at", name));
    }
    const auto size = static_cast<double>(number(of, "disk", "size"));
    const auto free = static_cast<double>(number(of, "disk", "free"));
    say(free >= std::min(size * kLeastFreeShare, kLeastFreeBytes), "disk",
        fmt::format("{} of {} are free for {}", size_text(free), size_text(size), text_of(of, "home")));
    // Skip this if there are 0 inodes, as with file systems that allocate them as needed.
    const std::int64_t inodes = number(of, "disk", "inodes");
    if (inodes > 0)
        say(number(of, "disk", "free_inodes") * 100 >= inodes, "disk",
            fmt::format("{} of {} files more may be made", number(of, "disk", "free_inodes"), inodes));
    const std::int64_t offset = number(of, "clock_offset");
    const std::int64_t ahead = (instant(counted, "now") - now).count() - offset;
    say(std::abs(ahead) <= kMostClockDifference, "clock",
        ahead == 0 ? std::string("the server's agrees with this machine's")
                   : fmt::format("the server's is {} s {} this machine's", std::abs(ahead),
                                 ahead > 0 ? "ahead of" : "behind"));
    if (offset != 0)
        say(false, "clock", fmt::format("the server was started with a clock shifted by {} s", offset));
    const attrl* shown = server != nullptr ? server->attribs : nullptr;
    say(!zone_version.empty(), "zone data",
        fmt::format("{}, of zone {}",
                    zone_version.empty() ? "this machine has none that tells its version"
                                         : fmt::format("version {}", zone_version),
                    text_of(shown, "time_zone")));
    const std::int64_t lost = number(of, "log_lines_lost");
    say(lost == 0, "log", lost == 0 ? "no line was lost" : fmt::format("{} lines couldn't be written", lost));
    const std::int64_t failed = number(counted, "cycles_failed");
    say(failed == 0, "cycles", failed == 0 ? "none has failed" : fmt::format("{} have failed", failed));
    for (const attrl* at = of; at != nullptr; at = at->next)
        if (cmds::view(at->name) == "error") say(false, "error", std::string(cmds::view(at->value)));
    return found;
}

}  // namespace pbs::diag
