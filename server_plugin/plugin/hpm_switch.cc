#include "server_plugin/plugin/hpm_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;

using sched::HpmCounters;

constexpr const char* kQuery = "query";
constexpr const char* kUser = "user";
constexpr const char* kGlobal = "global";
constexpr const char* kRevoke = "revoke";

// Looking for processes that hold the counters takes long.
constexpr std::chrono::seconds kTimeLimit{20};
constexpr std::chrono::seconds kRevokeTimeLimit{300};

std::string_view first_word(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text.substr(0, text.find_first_of(" \t\r\n"));
}

// HOME/sched_priv/hpm_ctl itself, which only the administrator of the server can have put there, for this. A
// link to another program doesn't make it that.
bool is_administrators(const std::string& program, std::string_view home) {
    std::error_code no_program;
    std::error_code no_folder;
    const fs::path file = fs::canonical(program, no_program);
    const fs::path folder = fs::canonical(fs::path(home) / "sched_priv", no_folder);
    return !no_program && !no_folder && file == folder / "hpm_ctl";
}

}  // namespace

void HpmSwitch::after_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                            sched::Instant now, bool wanted) {
    const auto source = scheduler.hpm_source(now, sched);
    if (!source) return;
    revoke_ = source->revoke;
    user_needed_ = wanted || source->used;
    if (command_) return;
    if (program_ != source->program) counters_ = HpmCounters::unknown;
    program_ = source->program;
    revoked_ = false;
    const HpmCounters right = user_needed_ ? HpmCounters::user : HpmCounters::global;
    if (counters_ != right) run(scheduler, host, kQuery, now);
}

void HpmSwitch::run(sched::Scheduler& scheduler, const Host& host, const char* mode, sched::Instant now) {
    // No job starts for a mode that is just being left.
    if (mode != std::string_view(kUser)) scheduler.set_hpm(HpmCounters::unknown);
    CommandOptions options;
    options.path = program_;
    options.arguments = {mode};
    options.time_limit = mode == std::string_view(kRevoke) ? kRevokeTimeLimit : kTimeLimit;
    if (is_administrators(program_, host.home())) options.user.clear();
    mode_ = mode;
    command_.emplace(std::move(options), now);
}

void HpmSwitch::change_mode(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    const HpmCounters right = user_needed_ ? HpmCounters::user : HpmCounters::global;
    if (counters_ != right) run(scheduler, host, user_needed_ ? kUser : kGlobal, now);
}

void HpmSwitch::failed(const Host& host, const std::string& why) {
    if (why != said_) host.log(PBS_LOG_ERROR, "hpm_counters", why);
    said_ = why;
}

bool HpmSwitch::look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    std::erase_if(ended_, [](Command& command) { return command.gone(); });
    if (!command_) return false;
    const auto result = command_->poll(now);
    if (!result) return false;
    if (!command_->gone()) ended_.push_back(std::move(*command_));
    command_.reset();
    const std::string mode = std::exchange(mode_, {});
    const std::string_view answer = first_word(result->output);
    const auto wrong = [&](std::string_view expected) {
        return result->failure.empty() ? fmt::format("{} {} answers `{}`, expected {}", program_, mode,
                                                     answer.substr(0, 40), expected)
                                       : result->failure;
    };
    if (mode == kQuery) {
        counters_ = answer == kUser     ? HpmCounters::user
                    : answer == kGlobal ? HpmCounters::global
                                        : HpmCounters::unknown;
        scheduler.set_hpm(counters_);
        if (!result->failure.empty() || (counters_ == HpmCounters::unknown && answer != "???")) {
            failed(host, wrong("user, global or ???"));
            return false;
        }
        change_mode(scheduler, host, now);
        return counters_ == HpmCounters::user && user_needed_;
    }
    if (mode == kRevoke) {
        if (!result->failure.empty()) failed(host, result->failure);
        run(scheduler, host, kGlobal, now);
        return false;
    }
    if (!result->failure.empty() || answer != "OKAY") {
        failed(host, wrong("OKAY"));
        counters_ = HpmCounters::unknown;
        if (mode == kGlobal && revoke_ && !std::exchange(revoked_, true)) run(scheduler, host, kRevoke, now);
        return false;
    }
    said_.clear();
    counters_ = mode == kUser ? HpmCounters::user : HpmCounters::global;
    scheduler.set_hpm(counters_);
    host.log(PBS_LOG_INFO, "hpm_counters", fmt::format("The HPM counters are in {} mode", mode));
    change_mode(scheduler, host, now);  // what is needed may have changed meanwhile
    return counters_ == HpmCounters::user && user_needed_;
}

sched::Instant HpmSwitch::next_deadline(sched::Instant now) const {
    if (command_) return now;
    return ended_.empty() ? sched::Instant::max() : now + Command::kLinger;
}

}  // namespace pbs::plugin
