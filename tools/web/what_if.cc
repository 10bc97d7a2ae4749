#include "tools/web/what_if.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "text/json_document.h"
#include "text/pointers.h"
#include "tools/calendar/dates.h"
#include "values/temporary_folder.h"

namespace pbs::web {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestChanges = 4096;
constexpr int kLowPriority = 10;
constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr const char* kChangesFile = "changes.qmgr";

// Returns whether the text can be the name of a policy. A path must not pass, because pbs_simulate takes any
// other text for the name of a file.
bool is_name(std::string_view text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_.").find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, plain) &&
           text.front() > '9';
}

std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the days of a month: "20261001-20261031".
std::string days_of(std::chrono::year_month month) {
    const auto last = month / std::chrono::last;
    const int year = static_cast<int>(month.year());
    const unsigned number = static_cast<unsigned>(month.month());
    return fmt::format("{:04}{:02}01-{:04}{:02}{:02}", year, number, year, number,
                       static_cast<unsigned>(last.day()));
}

// Starts pbs_simulate in the folder. Its outputs go to files there. -1: failure, see errno.
pid_t start_in(const values::TemporaryFolder& folder, std::vector<std::string> arguments) {
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    sigset_t none;
    sigset_t normal;
    sigemptyset(&none);
    sigemptyset(&normal);
    sigaddset(&normal, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    constexpr int kHowToWrite = O_WRONLY | O_CREAT | O_TRUNC;
    constexpr mode_t kOwn = 0600;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, folder.file("report").c_str(), kHowToWrite, kOwn);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, folder.file("errors").c_str(), kHowToWrite, kOwn);
    posix_spawn_file_actions_addchdir_np(&files, folder.path().c_str());
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &normal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> texts = text::pointers(arguments);
    pid_t pid = -1;
    const int failed = posix_spawnp(&pid, texts.front(), &files, &attributes, texts.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = failed;
    return failed == 0 ? pid : -1;
}

// Restrains the process: gives it low priority, limits the size of its files, and makes it the first to be
// killed when memory is short.
void restrain(pid_t pid, std::uint64_t bytes) {
    setpriority(PRIO_PROCESS, static_cast<id_t>(pid), kLowPriority);
    const rlimit files{bytes, bytes};
    prlimit(pid, RLIMIT_FSIZE, &files, nullptr);
    std::ofstream(fmt::format("/proc/{}/oom_score_adj", pid)) << "1000\n";
}

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

tl::expected<Comparison, std::string> parse_comparison(std::string_view text) {
    const Json json = text::parse_ordered_json(text);
    if (!json.is_object()) return tl::unexpected(std::string("expected a JSON object"));
    Comparison out;
    for (const auto& [name, value] : json.items()) {
        std::string* const member = name == "month"     ? &out.month
                                    : name == "first"   ? &out.first
                                    : name == "second"  ? &out.second
                                    : name == "changes" ? &out.changes
                                                        : nullptr;
        if (member == nullptr || !value.is_string())
            return tl::unexpected(
                fmt::format("bad member '{}': expected the texts month, first, and second or changes", name));
        *member = value.get<std::string>();
    }
    if (const auto month = calendar::parse_month(out.month); !month) return tl::unexpected(month.error());
    if (!is_name(out.first))
        return tl::unexpected(fmt::format("bad first '{}': expected a policy", out.first));
    if (out.changes.empty() && !is_name(out.second))
        return tl::unexpected(fmt::format("bad second '{}': expected a policy", out.second));
    if (!out.changes.empty() && !out.second.empty())
        return tl::unexpected(std::string("expected second or changes, and not both"));
    if (out.changes.size() > kLongestChanges)
        return tl::unexpected(fmt::format("bad changes: expected at most {} bytes", kLongestChanges));
    return out;
}

WhatIf::~WhatIf() {
    {
        const values::Lock lock(mutex_);
        over_ = true;
        stop_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

bool WhatIf::running() const {
    const values::Lock lock(mutex_);
    return phase_ == Phase::running;
}

bool WhatIf::start(const Comparison& comparison) {
    const values::Lock lock(mutex_);
    if (phase_ == Phase::running || over_) return false;
    if (thread_.joinable()) thread_.join();
    phase_ = Phase::running;
    comparison_ = comparison;
    outcome_ = {};
    plots_.reset();
    thread_ = std::thread([this, comparison] {
        Outcome outcome = simulate(comparison);
        const values::Lock done(mutex_);
        phase_ = outcome.error.empty() ? Phase::done : Phase::failed;
        if (!outcome.plots.empty()) plots_ = std::make_shared<const std::string>(std::move(outcome.plots));
        outcome_ = std::move(outcome);
    });
    return true;
}

// Waits for the process. False: it was killed because it took too long or this program ends.
bool WhatIf::wait_for_end(int pid, int& status) {
    const auto limit = std::chrono::steady_clock::now() + limits_.time;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        const auto look = std::chrono::steady_clock::now() + kBetweenLooks;
        values::Lock lock(mutex_);
        while (!over_ && lock.wait_until(stop_, look)) continue;
        if (!over_ && std::chrono::steady_clock::now() < limit) continue;
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return false;
    }
    return true;
}

WhatIf::Outcome WhatIf::simulate(const Comparison& comparison) {
    const auto made = values::TemporaryFolder::make("pbs_web");
    if (!made) return {.error = made.error()};
    const values::TemporaryFolder& folder = *made;
    if (!comparison.changes.empty()) std::ofstream(folder.file(kChangesFile)) << comparison.changes << '\n';
    const auto month = calendar::parse_month(comparison.month);
    const std::string second = comparison.changes.empty() ? comparison.second : kChangesFile;
    const std::string server = server_.empty() ? "--server" : "--server=" + server_;
    const pid_t pid = start_in(folder, {program_, "--days", days_of(*month), "--compare", comparison.first,
                                        second, "--json", "--svg", folder.file("plots.svg"), server});
    if (pid < 0)
        return {.error = fmt::format("{}: {}; it is in the package pbspolicy-tools", program_,
                                     std::strerror(errno))};
    restrain(pid, limits_.bytes);
    int status = 0;
    if (!wait_for_end(pid, status))
        return {.error =
                    fmt::format("it took more than {} minutes and was ended", limits_.time.count() / 60)};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        const std::string why = last_line(read(folder.file("errors")));
        return {.error =
                    why.empty()
                        ? "pbs_simulate was ended by a signal: it had too little memory, or wrote too much"
                        : why};
    }
    Outcome outcome{.report = text::parse_ordered_json(read(folder.file("report"))),
                    .plots = read(folder.file("plots.svg"))};
    if (!outcome.report.is_object()) outcome.error = "pbs_simulate wrote no report";
    return outcome;
}

void WhatIf::tell(Answer& answer) const {
    const values::Lock lock(mutex_);
    // Hide plots if users don't see each other's jobs: plots are by group, and a group may be a single user.
    const bool of_others = !answer.json.contains("jobs_of_others") || answer.json["jobs_of_others"] == true;
    shows_plots_ = of_others;
    Json& told = answer.json["comparison"] = nullptr;
    if (phase_ == Phase::none) return;
    const bool done = phase_ == Phase::done;
    told = {{"state", phase_ == Phase::running ? "running"
                      : done                   ? "done"
                                               : "failed"},
            {"month", comparison_.month},
            {"first", comparison_.first},
            {"second", comparison_.second},
            {"changes", comparison_.changes},
            {"error", phase_ == Phase::failed ? Json(outcome_.error) : Json(nullptr)},
            {"plots", plots_ != nullptr && of_others},
            {"report", done ? outcome_.report : Json(nullptr)}};
    if (!done || of_others) return;
    for (Json& simulated : told["report"]["simulations"]) {
        simulated["users"] = Json::array();
        for (const char* kind : {"tickets", "preemption", "at_close"})
            if (simulated.contains(kind)) simulated[kind]["users"] = Json::array();
        simulated.erase("shares");
    }
}

std::shared_ptr<const std::string> WhatIf::plots() const {
    const values::Lock lock(mutex_);
    return shows_plots_ ? plots_ : nullptr;
}

std::string simulate_program() {
    std::error_code error;
    const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "pbs_simulate";
    return !error && fs::exists(beside, error) ? beside.string() : "pbs_simulate";
}

}  // namespace pbs::web
