#include "server_plugin/plugin/external_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <tl/expected.hpp>
#include <utility>

#include "migrate/export.h"
#include "objects/windows.h"
#include "rrule/non_work_days.h"
#include "server_plugin/plugin/file.h"
#include "server_plugin/plugin/state.h"
#include "values/fd.h"

namespace pbs::plugin {
namespace {

using std::chrono::days;
using std::chrono::minutes;

constexpr std::chrono::minutes kAgain{1};
constexpr std::size_t kLongestFile = std::size_t{64} << 20;

struct Content {
    std::string text;
    mode_t mode = 0644;
};

// Reads a file. Returns nullopt if there is no such file.
tl::expected<std::optional<Content>, std::string> read_file(const std::string& path) {
    const values::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0 && errno == ENOENT) return std::optional<Content>();
    struct stat info {};
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
        return tl::unexpected(fmt::format("{}: {}", path, system_text(errno)));
    if (!S_ISREG(info.st_mode) || static_cast<std::size_t>(info.st_size) > kLongestFile)
        return tl::unexpected(fmt::format("{}: expected a regular file", path));
    Content content{std::string(static_cast<std::size_t>(info.st_size), '\0'), info.st_mode & 07777};
    std::size_t done = 0;
    while (done < content.text.size()) {
        const ssize_t size = ::read(file.get(), content.text.data() + done, content.text.size() - done);
        if (size < 0) return tl::unexpected(fmt::format("{}: {}", path, system_text(errno)));
        if (size == 0) break;
        done += static_cast<std::size_t>(size);
    }
    content.text.resize(done);
    return content;
}

// Makes pbs_sched read its files again, by SIGHUP to the process that holds the lock in its folder. Returns
// an empty string, or the reason for a failure. After a failure pbs_sched reads the files at its next start.
std::string tell_scheduler(const std::string& folder) {
    const std::string path = folder + "/sched.lock";
    const values::Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) return {};
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file.get(), F_GETLK, &lock) != 0) return fmt::format("{}: {}", path, system_text(errno));
    if (lock.l_type == F_UNLCK) return {};
    if (lock.l_pid <= 1)
        return fmt::format("{}: pbs_sched runs elsewhere, and has to be sent SIGHUP there", path);
    if (::kill(lock.l_pid, SIGHUP) != 0)
        return fmt::format("pbs_sched, {}: {}", lock.l_pid, system_text(errno));
    return {};
}

constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};

rrule::LocalDay day_of(const rrule::Zone& zone, sched::Instant t) {
    return std::chrono::floor<days>(zone.local(t));
}

sched::Instant midnight(const rrule::Zone& zone, rrule::LocalDay day) {
    return zone.instant(rrule::Local(day));
}

// Returns the start and the end of prime time as a line of `holidays` has them: "0800<TAB>1700".
std::string hours_text(const rrule::Zone& zone, const rrule::Interval& open, sched::Instant begin,
                       sched::Instant end) {
    const auto text = [&](sched::Instant t) {
        const auto local = zone.local(t);
        const auto minute =
            std::chrono::duration_cast<minutes>(local - std::chrono::floor<days>(local)).count();
        return fmt::format("{:02}{:02}", minute / 60, minute % 60);
    };
    const bool from_start = open.start <= begin;
    const bool to_end = open.end >= end;
    if (from_start && to_end) return "all\tnone";
    return fmt::format("{}\t{}", from_start ? "0000" : text(open.start), to_end ? "0000" : text(open.end));
}

// Returns the one of a day's periods that is open at `now` or opens next; if all are over, the last one.
const rrule::Interval& chosen(const std::vector<rrule::Interval>& open, sched::Instant now) {
    const auto found = std::ranges::find_if(open, [&](const rrule::Interval& one) { return one.end > now; });
    return found == open.end() ? open.back() : *found;
}

// Returns the prime time by the objects of `snapshot`; nullopt if there is no time_window of type prime.
std::optional<rrule::WindowSet> prime_time(const objects::Snapshot& snapshot, const rrule::Zone& zone) {
    std::vector<rrule::Window> windows;
    for (const objects::Object* object : snapshot.time_windows_of_type("prime"))
        if (auto window = objects::make_window(*object, zone)) windows.push_back(std::move(*window));
    if (windows.empty()) return std::nullopt;
    auto holidays = rrule::NonWorkDays::parse(snapshot.non_work_days(), zone);
    return rrule::WindowSet(std::move(windows), holidays ? std::move(*holidays) : rrule::NonWorkDays());
}

bool is_external(const objects::Snapshot& snapshot, std::string_view sched) {
    const objects::Object* policy = snapshot.policy(snapshot.policy_slots(sched).all_time);
    return policy != nullptr && policy->text("algorithm") == "external" &&
           policy->text("external_program") == "pbs_sched";
}

struct Made {
    std::vector<std::pair<std::string, std::string>> files;  // name and text of each
    std::vector<std::string> left_out;
};

// Returns the text of the site's own sched_config file: of the copy with kKeptSuffix, or of the file itself
// if it isn't copied yet. Empty: there is neither.
std::string own_sched_config(const std::string& folder) {
    auto kept = read_file(fmt::format("{}/sched_config{}", folder, kKeptSuffix));
    if (kept && !*kept) kept = read_file(folder + "/sched_config");
    return kept && *kept ? std::move((*kept)->text) : std::string();
}

Made make(State& state, const objects::Snapshot& snapshot, const std::string& sched,
          const std::string& folder, sched::Instant now) {
    migrate::ExportSource source{snapshot, state.zone, now, sched};
    for (const auto& [handle, name] : state.sched_configs.queues) source.queues.push_back(name);
    const auto& known = state.sched_configs;
    source.consumables.assign(known.consumables.begin(), known.consumables.end());
    source.others.assign(known.others.begin(), known.others.end());
    source.before = own_sched_config(folder);
    source.root_programs = &state.dynamic_resources.root_programs().listed(state.host);
    source.knows_queue_types = true;
    for (const objects::ObjectPtr& queue : snapshot.objects(objects::ObjectType::queue))
        if (queue->has("execution_type"))
            source.queue_types.push_back({queue->name(), std::string(queue->text("execution_type")), {}});
    const auto prime = prime_time(snapshot, state.zone);
    Made made;
    for (const migrate::Exporter& exporter : migrate::exporters()) {
        if (exporter.kind == "configfile") continue;
        if (exporter.kind == "holidays" && prime) {
            made.files.emplace_back(exporter.file, week_of_holidays(*prime, state.zone, now));
            continue;
        }
        migrate::Exported exported = exporter.write(source);
        made.files.emplace_back(exporter.file, std::move(exported.text));
        // The file dedicated_time is made anew each day, so it needn't have all dates. Don't report dates
        // that it doesn't have yet as left out.
        if (exporter.kind == "dedicated_time") continue;
        for (std::string& line : exported.left_out)
            if (line.find("algorithm = external") == std::string::npos &&
                line.find(" external_program = ") == std::string::npos)
                made.left_out.push_back(std::move(line));
    }
    for (const objects::ObjectPtr& queue : snapshot.objects(objects::ObjectType::queue))
        if (queue->has("time_window"))
            made.left_out.push_back(
                fmt::format("queue {} time_window = {}: pbs_sched knows no hours of queues", queue->name(),
                            fmt::join(queue->list("time_window"), ",")));
    return made;
}

std::string meta_key(const std::string& sched) {
    return "external_files:" + sched;
}

// Before the first change to the scheduler's files, copies those that exist. Returns the reason for a
// failure, or an empty string.
std::string keep(objects::Store& store, const std::string& sched, const std::string& folder,
                 const Made& made) {
    const auto known = store.meta(meta_key(sched));
    if (!known) return known.error().message;
    if (*known && !(*known)->empty()) return {};
    std::string names = folder;
    for (const auto& [name, text] : made.files) {
        const auto there = read_file(folder + "/" + name);
        if (!there) return there.error();
        if (!*there) continue;
        if (std::string why = replace_file(fmt::format("{}/{}{}", folder, name, kKeptSuffix), (*there)->text,
                                           (*there)->mode);
            !why.empty())
            return why;
        names += "\n" + name;
    }
    const auto noted = store.set_meta(meta_key(sched), names);
    return noted ? std::string() : noted.error().message;
}

// Restores the site's files from their copies, and removes the files that the site didn't have. Sets
// `changed` if it did so. Returns the reason for a failure, or an empty string.
std::string bring_back(objects::Store& store, const std::string& sched, const Made& made, bool& changed) {
    const auto known = store.meta(meta_key(sched));
    if (!known) return known.error().message;
    if (!*known || (*known)->empty()) return {};
    const std::string folder = (*known)->substr(0, (*known)->find('\n'));
    const std::string names = **known + "\n";
    for (const auto& [name, text] : made.files) {
        const std::string path = folder + "/" + name;
        if (names.find("\n" + name + "\n") == std::string::npos) {
            ::unlink(path.c_str());
            continue;
        }
        const auto kept = read_file(path + std::string(kKeptSuffix));
        if (!kept) return kept.error();
        if (!*kept)
            return fmt::format("{}{}: it is gone, so the file before can't come back", path, kKeptSuffix);
        if (std::string why = replace_file(path, (*kept)->text, (*kept)->mode); !why.empty()) return why;
    }
    changed = true;
    if (const auto noted = store.set_meta(meta_key(sched), ""); !noted) return noted.error().message;
    for (const auto& [name, text] : made.files)
        ::unlink(fmt::format("{}/{}{}", folder, name, kKeptSuffix).c_str());
    return tell_scheduler(folder);
}

// Returns whether the folder may be a scheduler's: it is below `home`, or has a sched_config file.
bool is_of_scheduler(std::string_view home, const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path below =
        fs::weakly_canonical(folder, failed).lexically_relative(fs::weakly_canonical(home, failed));
    if (!failed && !below.empty() && *below.begin() != "..") return true;
    return fs::is_regular_file(fs::path(folder) / "sched_config", failed);
}

}  // namespace

std::string week_of_holidays(const rrule::WindowSet& windows, const rrule::Zone& zone, sched::Instant now) {
    const rrule::LocalDay today = day_of(zone, now);
    const std::chrono::year_month_day date{today};
    std::string text = fmt::format(
        "* Prime time of the week from today on, as the time_windows of type prime and non_work_days say\n"
        "YEAR\t{}\n",
        static_cast<int>(date.year()));
    for (days ahead{0}; ahead < days{7}; ++ahead) {
        const rrule::LocalDay day = today + ahead;
        const sched::Instant begin = midnight(zone, day);
        const sched::Instant end = midnight(zone, day + days{1});
        const auto open = windows.intervals(begin, end);
        const std::string hours =
            open.empty() ? "none\tall" : hours_text(zone, chosen(open, now), begin, end);
        text += fmt::format("{}\t{}\n", kDays.at(std::chrono::weekday(day).c_encoding()), hours);
    }
    return text;
}

sched::Instant ExternalFiles::next(const State& state, sched::Instant now) const {
    if (!state.host.has_pbs_sched() || !state.store || !state.failure.empty()) return sched::Instant::max();
    if (state.adopted != made_of_ || state.sched_priv != folders_) return now;
    return next_;
}

void ExternalFiles::look(State& state, sched::Instant now) {
    if (next(state, now) > now || state.long_change.busy()) return;
    const auto snapshot = state.adopted;
    if (!snapshot) return;
    next_ = midnight(state.zone, day_of(state.zone, now) + days{1});
    if (const auto prime = prime_time(*snapshot, state.zone))
        if (const auto change = prime->next_change(now)) next_ = std::min(next_, *change);
    std::erase_if(scheds_, [&](const auto& entry) { return !state.sched_priv.contains(entry.first); });
    for (const auto& [sched, folder] : state.sched_priv) {
        const std::string why = folder.empty() ? std::string() : look(state, sched, folder, now);
        Files& files = scheds_[sched];
        if (!why.empty()) next_ = std::min(next_, now + kAgain);
        if (!why.empty() && why != files.error)
            state.host.log(PBS_LOG_ERROR, "sched " + sched, "the files of pbs_sched: " + why);
        files.error = why;
    }
    made_of_ = snapshot;
    folders_ = state.sched_priv;
}

std::string ExternalFiles::look(State& state, const std::string& sched, const std::string& folder,
                                sched::Instant now) {
    const objects::Snapshot& snapshot = *state.adopted;
    Made made = make(state, snapshot, sched, folder, now);
    Files& files = scheds_[sched];
    bool changed = false;
    if (!is_external(snapshot, sched)) {
        files.left_out.clear();
        std::string why = bring_back(*state.store, sched, made, changed);
        if (changed)
            state.host.log(PBS_LOG_INFO, "sched " + sched,
                           fmt::format("the files of pbs_sched in {} are again as they were before", folder));
        return why;
    }
    files.left_out = std::move(made.left_out);
    // Check the folder, because a manager, who need not be root, chooses it.
    if (!is_of_scheduler(state.host.home(), folder))
        return fmt::format(
            "sched_priv: {} isn't below {} and has no sched_config, expected a scheduler's folder", folder,
            state.host.home());
    if (std::string why = keep(*state.store, sched, folder, made); !why.empty()) return why;
    std::string names;
    for (const auto& [name, text] : made.files) {
        const std::string path = folder + "/" + name;
        const auto there = read_file(path);
        if (!there) return there.error();
        if (*there && (*there)->text == text) continue;
        const mode_t mode = *there ? (*there)->mode : mode_t{0644};
        if (std::string why = replace_file(path, text, mode); !why.empty()) return why;
        names += (names.empty() ? "" : ", ") + name;
    }
    if (names.empty()) return {};
    state.host.log(PBS_LOG_INFO, "sched " + sched,
                   fmt::format("made from the policies in {}: {}", folder, names));
    return tell_scheduler(folder);
}

bool ExternalFiles::external(const State& state, std::string_view sched) {
    return state.store && is_external(*state.store->snapshot(), sched);
}

std::vector<std::string> ExternalFiles::lines(const State& state, std::string_view sched) const {
    std::vector<std::string> out;
    const auto found = scheds_.find(sched);
    if (found != scheds_.end()) {
        out = found->second.left_out;
        if (!found->second.error.empty()) out.push_back(found->second.error);
    }
    const std::string policy = state.store->snapshot()->policy_slots(sched).all_time;
    const bool external = is_external(*state.store->snapshot(), sched);
    if (!policy.empty() && !external && state.has_pbs_sched(sched))
        out.push_back(
            fmt::format("policy {}: pbs_sched schedules by its own files; with algorithm = external "
                        "they are made from the policy",
                        policy));
    return out;
}

}  // namespace pbs::plugin
