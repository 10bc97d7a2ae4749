// Switches the hardware performance counters between global monitoring and the jobs that request them
// (sched-config guide, "MANAGE_HPM_COUNTERS" and "REVOKE_HPM_COUNTERS"), by running the program `hpm_ctl`.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "server_plugin/plugin/site_program.h"

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kRule = "hpm_counters";

// The arguments of the program. `user` and `global` are modes of the counters, and the program's answers to
// `query`.
constexpr std::string_view kQuery = "query";
constexpr std::string_view kUser = "user";
constexpr std::string_view kGlobal = "global";
constexpr std::string_view kRevoke = "revoke";

// Revoking takes longer, since the program looks for processes that hold the counters.
constexpr std::chrono::seconds kTimeLimit{20};
constexpr std::chrono::seconds kRevokeTimeLimit{300};

std::string_view first_word(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text.substr(0, text.find_first_of(" \t\r\n"));
}

// Returns whether the program is the file HOME/sched_priv/hpm_ctl itself, which only the server's
// administrator can have put there. A link from there to another program doesn't count.
bool is_administrators(const std::string& program, std::string_view home) {
    std::error_code no_program;
    std::error_code no_folder;
    const fs::path file = fs::canonical(program, no_program);
    const fs::path folder = fs::canonical(fs::path(home) / "sched_priv", no_folder);
    return !no_program && !no_folder && file == folder / "hpm_ctl";
}

// The counters are put into user mode after a cycle in which a job waited for nothing but the counters, and
// back into global mode when no job that requests them runs or waits. Before each change the program is asked
// for the counters' mode. After a failure the next cycle tries again.
//
// Managers, who need not be root, choose the program. Only HOME/sched_priv/hpm_ctl, which only the server's
// administrator can have put there, runs as the server's user. Any other program runs as nobody.
class HpmSwitch final : public SiteProgram {
  public:
    std::string_view rule() const override { return kRule; }
    void after_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                     sched::Instant now, bool wanted) override;
    bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) override;
    sched::Instant next_deadline(sched::Instant now) const override { return commands_.next_deadline(now); }

  private:
    void run(sched::Scheduler& scheduler, const Host& host, std::string_view mode, sched::Instant now);
    void change_mode(sched::Scheduler& scheduler, const Host& host, sched::Instant now);
    void failed(const Host& host, const std::string& why);
    bool take(sched::Scheduler& scheduler, const Host& host, std::string_view mode,
              const CommandResult& result, sched::Instant now);
    // Sets the mode here and in the scheduler.
    void set_mode(sched::Scheduler& scheduler, std::string_view mode) {
        mode_ = mode;
        scheduler.set_told(kRule, mode);
    }

    RunningCommands<std::string_view> commands_;  // at most one command runs
    std::string program_;
    std::string_view mode_;             // the counters' present mode; empty: unknown
    std::string_view right_ = kGlobal;  // the mode that the counters should have
    bool revoke_ = false;               // the value of REVOKE_HPM_COUNTERS
    bool revoked_ = false;              // the program has already revoked the counters in this change of mode
    std::string said_;                  // the failure that has been logged; empty: none
};

void HpmSwitch::after_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                            sched::Instant now, bool wanted) {
    const auto asked = scheduler.questions(now, sched, kRule);
    if (asked.empty()) return;
    revoke_ = asked[0].revoke;
    right_ = wanted || asked[0].argument == kUser ? kUser : kGlobal;
    if (commands_.size() != 0) return;
    if (program_ != asked[0].source) mode_ = {};
    program_ = asked[0].source;
    revoked_ = false;
    if (mode_ != right_) run(scheduler, host, kQuery, now);
}

void HpmSwitch::run(sched::Scheduler& scheduler, const Host& host, std::string_view mode,
                    sched::Instant now) {
    // The counters leave user mode: keep jobs that request them from starting.
    if (mode != kUser) scheduler.set_told(kRule, {});
    CommandOptions options;
    options.path = program_;
    options.arguments = {std::string(mode)};
    options.time_limit = mode == kRevoke ? kRevokeTimeLimit : kTimeLimit;
    if (is_administrators(program_, host.home())) options.user.clear();
    commands_.run(mode, std::move(options), now);
}

void HpmSwitch::change_mode(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    if (mode_ != right_) run(scheduler, host, right_, now);
}

void HpmSwitch::failed(const Host& host, const std::string& why) {
    if (why != said_) host.log(PBS_LOG_ERROR, kRule, why);
    said_ = why;
}

bool HpmSwitch::look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    bool can_start = false;
    for (const auto& [mode, result] : commands_.poll(now))
        can_start = take(scheduler, host, mode, result, now) || can_start;
    return can_start;
}

// Handles the program's answer to `mode`. Returns whether a job that requests the counters can start.
bool HpmSwitch::take(sched::Scheduler& scheduler, const Host& host, std::string_view mode,
                     const CommandResult& result, sched::Instant now) {
    const std::string_view answer = first_word(result.output);
    const auto wrong = [&](std::string_view expected) {
        return result.failure.empty() ? fmt::format("{} {} answers `{}`, expected {}", program_, mode,
                                                    answer.substr(0, 40), expected)
                                      : result.failure;
    };
    if (mode == kQuery) {
        set_mode(scheduler, answer == kUser ? kUser : answer == kGlobal ? kGlobal : std::string_view());
        if (!result.failure.empty() || (mode_.empty() && answer != "???")) {
            failed(host, wrong("user, global or ???"));
            return false;
        }
        change_mode(scheduler, host, now);
        return mode_ == kUser && right_ == kUser;
    }
    if (mode == kRevoke) {
        if (!result.failure.empty()) failed(host, result.failure);
        run(scheduler, host, kGlobal, now);
        return false;
    }
    if (!result.failure.empty() || answer != "OKAY") {
        failed(host, wrong("OKAY"));
        mode_ = {};
        if (mode == kGlobal && revoke_ && !std::exchange(revoked_, true)) run(scheduler, host, kRevoke, now);
        return false;
    }
    said_.clear();
    set_mode(scheduler, mode);
    host.log(PBS_LOG_INFO, kRule, fmt::format("The HPM counters are in {} mode", mode));
    change_mode(scheduler, host, now);  // the wanted mode may have changed meanwhile
    return mode_ == kUser && right_ == kUser;
}

}  // namespace

std::unique_ptr<SiteProgram> make_hpm_switch() {
    return std::make_unique<HpmSwitch>();
}

}  // namespace pbs::plugin
