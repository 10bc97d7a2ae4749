#include "server_plugin/openpbs/scheduling.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/owned.h"
#include "server_plugin/openpbs/scheduling_terms.h"
#include "values/this_host.h"

namespace pbs::openpbs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kTryAgain{2};        // the pause before registering again
constexpr seconds kLook{5};            // the interval of queries for changes that no command reports
constexpr seconds kLookSoon{1};        // the pause before a query if a client asks for an unknown job
constexpr seconds kCycleTakesLong{3};  // the longest time that a query waits for a cycle
constexpr seconds kSettled{1};         // after no request has altered jobs for so long, the jobs are queried
constexpr milliseconds kSettledForProgram{100};  // the same while a program of the site schedules

// Translates the number of a command of OpenPBS's server into the plugin's trigger.
int trigger_of(int command) {
    switch (command) {
        case 1:
            return PBS_SCH_SCHEDULE_NEW;
        case 2:
            return PBS_SCH_SCHEDULE_TERM;
        case 3:
            return PBS_SCH_SCHEDULE_TIME;
        case kConfigure:
            return PBS_SCH_CONFIGURE;
        case 9:
            return PBS_SCH_SCHEDULE_FIRST;
        default:
            return PBS_SCH_SCHEDULE_CMD;
    }
}

std::string clock_text(std::int64_t at) {
    return fmt::format("{:%a %b %d %H:%M:%S %Y}", fmt::localtime(static_cast<std::time_t>(at)));
}

}  // namespace

Scheduling::Scheduling(Plugin& plugin, Site& site, std::function<void(const std::string&)> log)
    : plugin_(plugin),
      site_(site),
      log_(std::move(log)),
      registrations_(now(), [this](std::string_view sched, std::string_view who) {
          this->log(fmt::format("sched {}: {} is no longer registered as the scheduler", sched, who));
          return now();
      }) {}

Scheduling::~Scheduling() {
    for (auto& [name, one] : scheds_)
        if (one.client) one.client->close("the policy service ends");
}

// ---- Registration.

bool Scheduling::is_own(const std::string& sched) const {
    return plugin_.scheduled_by(now(), sched) != PBS_BY_OTHERS;
}

bool Scheduling::is_by_program(const std::string& sched) const {
    return plugin_.scheduled_by(now(), sched) == PBS_BY_PROGRAM;
}

Scheduling::Clock::duration Scheduling::settling_time() const {
    for (const auto& [name, one] : scheds_)
        if (one.is_registered() && is_by_program(name)) return kSettledForProgram;
    return kSettled;
}

void Scheduling::set_own(const std::string& name, bool own) {
    const auto found = site_.scheds.find(name);
    if (found == site_.scheds.end() || found->second.own == own) return;
    Site after = site_;
    after.scheds[name].own = own;
    plugin_.records().tell(site_, after);
    site_ = std::move(after);
}

// Says why the server has refused or ended a scheduler's registration, and what a manager can do about it.
std::string Scheduling::reason(const std::string& name, int refused, const std::string& why) const {
    // PBSE_SCHEDCONNECTED (15230) means that another scheduler is registered.
    if (refused == PBSE_SCHEDCONNECTED)
        return fmt::format("another scheduler, such as pbs_sched, is registered: {}", why);
    // OpenPBS's releases let a scheduler register only from its sched_host. A scheduler that qmgr has made
    // has no sched_host until somebody sets it.
    if (const auto known = site_.scheds.find(name); refused == PBSE_BADHOST && known != site_.scheds.end())
        return fmt::format("the server refuses it: its sched_host {}, and has to be the server's host",
                           known->second.host.empty() ? "isn't set" : "is " + known->second.host);
    return why;
}

void Scheduling::lost(const std::string& name, Session& one) {
    one.command = false;
    one.qruns.clear();
    const int refused = one.client->refused();
    const std::string& why = one.client->why_closed();
    one.why = reason(name, refused, why);
    one.next_try = Clock::now() + kTryAgain;
    if (one.logged != one.why) log(fmt::format("sched {}: not scheduled by the plugin: {}", name, one.why));
    one.logged = one.why;
    known_ = false;
    if (current_ == name) {
        if (phase_ == Phase::deciding) {
            run_.dropped = true;
        } else {
            phase_ = Phase::idle;
        }
        one.tells_on = one.period == 0 && !one.untold.empty();
        const bool dropped = run_.dropped;
        run_ = Run{};
        run_.dropped = dropped;
    }
}

void Scheduling::look_after_registration(const std::string& name, Session& one) {
    using State = ServerClient::State;
    const bool own = is_own(name);
    set_own(name, own);
    if (!own) {
        if (one.client && one.client->state() != State::closed) {
            log(fmt::format("sched {}: its policy leaves its jobs to pbs_sched", name));
            one.client->close("its policy leaves its jobs to pbs_sched");
            lost(name, one);
            one.untold.clear();
            one.tells_on = false;
            one.logged.clear();
        }
        one.why.clear();
        return;
    }
    if (!one.client) one.client = std::make_unique<ServerClient>(name);
    if (one.client->state() != State::closed || Clock::now() < one.next_try) return;
    one.next_try = Clock::now() + kTryAgain;
    const auto place = find_server();
    ifl::Result<void> opened = place ? one.client->open(*place) : tl::unexpected(place.error());
    if (opened) return;
    one.why = opened.error().message;
    if (one.logged != one.why) log(fmt::format("sched {}: can't register: {}", name, one.why));
    one.logged = one.why;
}

void Scheduling::take_commands(const std::string& name, Session& one) {
    using State = ServerClient::State;
    const State before = one.client->state();
    if (before == State::closed) return;
    one.client->work();
    if (one.client->state() == State::closed) return lost(name, one);
    if (before != State::registered && one.client->state() == State::registered) {
        log(fmt::format("sched {}: registered, {} its jobs", name,
                        is_by_program(name) ? "a program of the site schedules" : "the plugin schedules"));
        one.why.clear();
        one.logged.clear();
    }
    while (const auto command = one.client->next_command()) {
        one.command = true;
        if (command->number == kQuit) {
            log(fmt::format("sched {}: the server has asked it to quit", name));
            one.client->close("the server has asked it to quit");
            return lost(name, one);
        }
        if (command->number == kRunOne) {
            one.qruns.push_back(command->job);
            continue;
        }
        one.wanted = trigger_of(command->number);
        if (command->number == kConfigure) stale_vnodes_ = true;
        if (one.wanted != PBS_SCH_SCHEDULE_NEW && one.wanted != PBS_SCH_SCHEDULE_TERM) stale_server_ = true;
    }
}

// ---- The next run.

void Scheduling::noticed(std::uint32_t object_type) {
    if (object_type == PBS_OBJ_NODE || object_type == PBS_OBJ_RESOURCE) stale_vnodes_ = true;
    if (object_type == PBS_OBJ_JOB) {
        altered_ = Clock::now();
        return;
    }
    if (object_type != PBS_OBJ_NODE) stale_server_ = true;
    want_cycles();
}

void Scheduling::want_cycles(const std::string& but) {
    for (auto& [name, one] : scheds_)
        if (name != but && one.wanted == 0) one.wanted = PBS_SCH_SCHEDULE_CMD;
}

void Scheduling::configured() {
    for (auto& [name, one] : scheds_) one.wanted = PBS_SCH_CONFIGURE;
}

void Scheduling::look_at_wanted() {
    for (auto& [name, one] : scheds_)
        if (const int trigger = plugin_.wanted(name); trigger != 0) one.wanted = trigger;
}

bool Scheduling::look_after(Clock::time_point since) {
    if (std::ranges::none_of(scheds_, [](const auto& entry) { return entry.second.is_registered(); }))
        return true;
    if (Clock::now() - since > kCycleTakesLong) return true;
    if (look_began_ < since) look_soon_ = true;
    return look_began_ >= since && phase_ != Phase::learning && phase_ != Phase::checking;
}

void Scheduling::poll_for(std::vector<pollfd>& set) const {
    for (const auto& [name, one] : scheds_)
        if (one.client) one.client->poll_for(set);
}

// Returns whether a cycle of the scheduler is wanted and may begin now.
bool Scheduling::wants(const std::string& sched) const {
    const Session& one = scheds_.at(sched);
    if (!one.is_registered()) return false;
    const auto known = site_.scheds.find(sched);
    if (known == site_.scheds.end()) return false;
    return one.command || ((one.wanted != 0 || one.goes_on) && known->second.scheduling);
}

int Scheduling::patience() const {
    constexpr int kIdle = 1000;
    if (may_apply()) return 0;
    if (phase_ != Phase::idle) return kIdle;
    bool looks = false;
    for (const auto& [name, one] : scheds_) {
        if (!one.is_registered()) continue;
        looks = true;
        const bool on = site_.scheds.contains(name) && site_.scheds.at(name).scheduling;
        if (wants(name) || (one.tells_on && on && known_)) return 0;
    }
    if (!altered_ || !looks) return kIdle;
    const auto left = std::chrono::ceil<milliseconds>(*altered_ + settling_time() - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, kIdle));
}

void Scheduling::step() {
    for (const auto& [name, sched] : site_.scheds) scheds_.try_emplace(name);
    std::erase_if(scheds_, [&](const auto& entry) {
        if (site_.scheds.contains(entry.first)) return false;
        if (entry.second.client) entry.second.client->close("there is no such scheduler any more");
        registrations_.end(entry.first);
        return phase_ == Phase::idle || current_ != entry.first;
    });
    for (auto& [name, one] : scheds_) {
        look_after_registration(name, one);
        if (one.client) take_commands(name, one);
    }
    const bool answered = phase_ == Phase::idle || current().client->unanswered() == 0;
    switch (phase_) {
        case Phase::idle:
            begin_next();
            break;
        case Phase::learning:
        case Phase::checking:
            if (answered) learnt();
            break;
        case Phase::waiting:
            decide();
            break;
        case Phase::deciding:
            break;  // the cycle goes on when the plugin's thread calls cycle_finished()
        case Phase::applying:
            apply_some();
            break;
    }
}

void Scheduling::begin_run(const std::string& sched) {
    current_ = sched;
    run_ = Run{};
}

void Scheduling::begin_next() {
    const Clock::time_point time = Clock::now();
    look_at_failed(time);
    std::string looker;
    std::string teller;
    // Begin with the scheduler that comes after the one of the last run, so that a scheduler with much work
    // doesn't keep others waiting.
    auto next = scheds_.upper_bound(current_);
    for (std::size_t i = 0; i < scheds_.size(); ++i, ++next) {
        if (next == scheds_.end()) next = scheds_.begin();
        auto& [name, one] = *next;
        if (!one.is_registered() || !site_.scheds.contains(name)) continue;
        looker = name;
        if (teller.empty() && one.tells_on && site_.scheds.at(name).scheduling) teller = name;
        if (!wants(name)) continue;
        begin_run(name);
        run_.for_command = one.command;
        if (one.wanted != 0)
            plugin_.records().take_up(now(), [&](const std::string& job) {
                const auto failed = failed_.find(job);
                return failed != failed_.end() && failed->second.stays && failed->second.again > time;
            });
        one.goes_on = false;
        run_.trigger = std::exchange(one.wanted, 0);
        if (run_.trigger == 0) run_.trigger = PBS_SCH_SCHEDULE_CMD;
        if (!one.qruns.empty()) {
            run_.qrun = one.qruns.front();
            one.qruns.pop_front();
        }
        return learn(!known_);
    }
    const bool settled = altered_ && time - *altered_ >= settling_time();
    if (looker.empty() || (!settled && time - looked_ < (look_soon_ ? kLookSoon : kLook))) {
        if (!teller.empty() && known_) tell_on(teller);
        return;
    }
    begin_run(looker);
    run_.look_only = true;
    run_.trigger = PBS_SCH_SCHEDULE_CMD;
    learn(!known_);
}

// ---- The end of a run (a cycle, or a query only).

void Scheduling::end() {
    phase_ = Phase::idle;
    Session& one = current();
    one.goes_on = run_.again;
    if (auto& given = orders_given_[current_]; given.size() > 1) given.erase(given.begin(), given.end() - 1);
    // The server's command has ended only if no further qrun waits. Otherwise a later cycle ends it.
    if (run_.for_command && one.qruns.empty() && one.is_registered()) {
        one.command = false;
        one.client->end_cycle();
    }
    run_ = Run{};
}

// Returns the name of the scheduler to which algorithm = external leaves the jobs: pbs_sched, perhaps on
// another host.
std::string Scheduling::external_scheduler(const std::string& sched) const {
    const auto known = site_.scheds.find(sched);
    if (known == site_.scheds.end()) return "pbs_sched";
    const std::string& host = known->second.host;
    if (!host.empty() && !values::is_this_host(host)) return "pbs_sched at " + host;
    return pbs_sched_runs(known->second.sched_priv)
               ? "pbs_sched"
               : "nobody: algorithm external leaves it to pbs_sched, which doesn't run";
}

ifl::Attributes Scheduling::shown(const std::string& sched) const {
    const auto found = scheds_.find(sched);
    if (found == scheds_.end()) return {};
    const Session& one = found->second;
    ifl::Attributes out;
    if (one.is_registered()) {
        out.push_back(attribute("scheduled_by", {},
                                is_by_program(sched) ? registrations_.text_of(sched) : "pbs_policy"));
    } else if (!is_own(sched)) {
        out.push_back(attribute("scheduled_by", {}, external_scheduler(sched)));
    } else {
        out.push_back(
            attribute("scheduled_by", {}, one.why.empty() ? "nobody yet" : "not by pbs_policy: " + one.why));
    }
    if (one.is_registered() && checks_ > 0)
        out.push_back(attribute("model_checks", {},
                                fmt::format("{}, the last one {}, changes that were missed: {}", checks_,
                                            clock_text(checked_at_), missed_)));
    return out;
}

void Scheduling::show_not_acted_on(const std::string& sched, ifl::Attributes& attributes) const {
    const auto known = site_.scheds.find(sched);
    if (known == site_.scheds.end() || !known->second.own) return;
    const auto show = [&attributes](const std::string& line) {
        const auto lines = std::ranges::find(attributes, "unsupported_settings", &ifl::Attribute::name);
        if (lines == attributes.end())
            attributes.push_back(attribute("unsupported_settings", {}, line));
        else
            lines->value += "; " + line;
    };
    for (const std::string& name : known->second.not_acted_on)
        show(text_of(*find_not_acted_on(PBS_OBJ_SCHED, name), sched));
    if (!site_.shared_amounts.empty()) show(site_.shared_amounts);
}

}  // namespace pbs::openpbs
