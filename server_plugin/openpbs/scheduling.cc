#include "server_plugin/openpbs/scheduling.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ifl/attributes/execvnodes.h"
#include "ifl/error_text.h"
#include "ifl/pbs_error.h"

namespace pbs::openpbs {
namespace {

using cluster::array_of;

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kTryAgain{2};              // to register
constexpr seconds kLook{5};                  // at what no command tells of
constexpr seconds kLookSoon{1};              // where somebody asks for what isn't known
constexpr seconds kCycleTakesLong{3};        // for who waits for a look after it
constexpr seconds kSettled{1};               // who alters jobs may alter more of them
constexpr seconds kCheck{600};               // of all that is known
constexpr milliseconds kTelling{200};        // what jobs wait for, in one go
constexpr milliseconds kTellingAtLeast{30};  // while somebody waits for a cycle, or for its end
constexpr std::size_t kWindow = 64;          // requests on their way
constexpr std::size_t kToldAtOnce = 32;      // of what jobs wait for, then the server is asked
constexpr std::size_t kMostAsked = 2;        // such questions on their way
constexpr std::size_t kMostUnsent = 1U << 20;
constexpr std::uint64_t kSettingsTicket = ~std::uint64_t{0};
constexpr std::uint32_t kSet = 2;         // OpenPBS's MGR_CMD_SET
constexpr std::uint32_t kUnset = 3;       // MGR_CMD_UNSET
constexpr std::uint32_t kDelete = 1;      // MGR_CMD_DELETE
constexpr std::int32_t kIneligible = 1;   // OpenPBS's accrue type of a job that gains nothing by waiting
constexpr const char* kSubjobsToo = "S";  // those that run

std::string text_of(const ifl::Reply& reply) {
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    if (text != nullptr && !text->text.empty()) return text->text;
    const std::string_view known = ifl::error_text(reply.code);
    return known.empty() ? fmt::format("error {}", reply.code) : std::string(known);
}

// Does it say what the job waits for, and nothing else?
bool is_told(const Decision& decision) {
    return decision.kind == Decision::Kind::comment || decision.kind == Decision::Kind::estimate;
}

// A command of OpenPBS's as the plugin's trigger.
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

ifl::Attribute attribute(std::string name, std::string resource, std::string value,
                         ifl::Op op = ifl::Op::set) {
    return {std::move(name), std::move(resource), std::move(value), op};
}

// Where a reservation is: of a standing one all times that are left are told, those that keep their vnodes
// too.
std::string confirmed_nodes(const Reservation& reservation, const Decision& decision) {
    if (!reservation.standing) return decision.exec_vnode;
    if (reservation.one_altered) return ifl::execvnodes_text({decision.exec_vnode});
    auto next = decision.exec_vnodes.begin();
    const auto take = [&](bool asked, const std::string& held) {
        return asked && next != decision.exec_vnodes.end() ? *next++ : held;
    };
    std::vector<std::string> all{take(!reservation.keeps_first, reservation.nodes)};
    for (const Reservation::Occurrence& one : reservation.later) all.push_back(take(one.asked, one.nodes));
    if (std::ranges::find(all, std::string()) != all.end()) return {};
    return ifl::execvnodes_text(all);
}

// Selects jobs. The server's clock goes in seconds.
ifl::Attributes changed_since(std::time_t time) {
    return {attribute("mtime", {}, fmt::format("{}", time - 1), ifl::Op::ge)};
}

// The methods of a preempt_order that the server tries for the job. One of several steps depends on the time.
std::string tried_for(const Job& job, std::string_view order) {
    std::string out;
    for (const char method : order) {
        if (method == 'C' && !job.checkpointable) continue;
        if (method == 'R' && !job.rerunnable) continue;
        out += method;
    }
    return out;
}

// What waits for a subjob to run is its array.
std::string waiting_id(const std::string& job) {
    std::string array = array_of(job);
    return array.empty() ? job : array;
}

std::string clock_text(std::int64_t at) {
    return fmt::format("{:%a %b %d %H:%M:%S %Y}", fmt::localtime(static_cast<std::time_t>(at)));
}

}  // namespace

Scheduling::Scheduling(Plugin& plugin, Site& site, std::function<void(const std::string&)> log)
    : plugin_(plugin), site_(site), log_(std::move(log)) {}

Scheduling::~Scheduling() {
    for (auto& [name, one] : scheds_)
        if (one.client) one.client->close("the policy service ends");
}

// ---- Registration.

bool Scheduling::is_own(const std::string& sched) const {
    return plugin_.schedules(sched);
}

void Scheduling::set_own(const std::string& name, bool own) {
    const auto found = site_.scheds.find(name);
    if (found == site_.scheds.end() || found->second.own == own) return;
    Site after = site_;
    after.scheds[name].own = own;
    plugin_.records().tell(site_, after);
    site_ = std::move(after);
}

void Scheduling::lost(const std::string& name, One& one) {
    one.command = false;
    one.qruns.clear();
    const int refused = one.client->refused();
    const std::string& why = one.client->why_closed();
    // 15230: somebody else is registered.
    one.why = refused == PBSE_SCHEDCONNECTED
                  ? fmt::format("another scheduler, such as pbs_sched, is registered: {}", why)
                  : why;
    one.next_try = Clock::now() + kTryAgain;
    if (one.logged != one.why) log(fmt::format("sched {}: not scheduled by the plugin: {}", name, one.why));
    one.logged = one.why;
    known_ = false;
    if (current_ == name) {
        if (phase_ == Phase::deciding) {
            dropped_ = true;
        } else {
            phase_ = Phase::idle;
        }
        applied_ = std::max(applied_, std::min(only_told_, decisions_.size()));
        if (applied_ < decisions_.size()) put_off();
        decisions_.clear();
        applied_ = 0;
        started_.clear();
        preempting_ = 0;
        qrun_.reset();
        qrun_placed_.reset();
    }
}

void Scheduling::look_after_registration(const std::string& name, One& one) {
    using State = ServerClient::State;
    const bool own = is_own(name);
    set_own(name, own);
    if (!own) {
        if (one.client && one.client->state() != State::closed) {
            log(fmt::format("sched {}: its policy is of algorithm external: pbs_sched is to schedule", name));
            one.client->close("its policy is of algorithm external");
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

void Scheduling::take_commands(const std::string& name, One& one) {
    using State = ServerClient::State;
    const State before = one.client->state();
    if (before == State::closed) return;
    one.client->work();
    if (one.client->state() == State::closed) return lost(name, one);
    if (before != State::registered && one.client->state() == State::registered) {
        log(fmt::format("sched {}: registered, the plugin schedules its jobs", name));
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
        if (one.wanted != PBS_SCH_SCHEDULE_NEW) jobs_gone_ = true;
    }
}

// ---- What there is to do.

void Scheduling::noticed(std::uint32_t object_type) {
    if (object_type == PBS_OBJ_NODE || object_type == PBS_OBJ_RESOURCE) stale_vnodes_ = true;
    if (object_type == PBS_OBJ_JOB) {
        jobs_gone_ = true;
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

// Is there a cycle to be begun?
bool Scheduling::wants(const std::string& sched) const {
    const One& one = scheds_.at(sched);
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
    const auto left = std::chrono::ceil<milliseconds>(*altered_ + kSettled - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, kIdle));
}

void Scheduling::step() {
    for (const auto& [name, sched] : site_.scheds) scheds_.try_emplace(name);
    std::erase_if(scheds_, [&](const auto& entry) {
        if (site_.scheds.contains(entry.first)) return false;
        if (entry.second.client) entry.second.client->close("there is no such scheduler any more");
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
            break;  // until cycle_finished()
        case Phase::applying:
            apply_some();
            break;
    }
}

void Scheduling::begin_next() {
    const Clock::time_point time = Clock::now();
    look_at_failed(time);
    std::string looker;
    std::string teller;
    // None is kept waiting by another that always has something to do.
    auto next = scheds_.upper_bound(current_);
    for (std::size_t i = 0; i < scheds_.size(); ++i, ++next) {
        if (next == scheds_.end()) next = scheds_.begin();
        auto& [name, one] = *next;
        if (!one.is_registered() || !site_.scheds.contains(name)) continue;
        looker = name;
        if (teller.empty() && one.tells_on && site_.scheds.at(name).scheduling) teller = name;
        if (!wants(name)) continue;
        current_ = name;
        look_only_ = false;
        for_command_ = one.command;
        if (one.wanted != 0)
            plugin_.records().take_up(now(), [&](const std::string& job) {
                const auto failed = failed_.find(job);
                return failed != failed_.end() && failed->second.stays && failed->second.again > time;
            });
        one.goes_on = false;
        trigger_ = std::exchange(one.wanted, 0);
        if (trigger_ == 0) trigger_ = PBS_SCH_SCHEDULE_CMD;
        qrun_.reset();
        if (!one.qruns.empty()) {
            qrun_ = one.qruns.front();
            one.qruns.pop_front();
            jobs_gone_ = true;
        }
        return learn(!known_);
    }
    const bool settled = altered_ && time - *altered_ >= kSettled;
    if (looker.empty() || (!settled && time - looked_ < (look_soon_ ? kLookSoon : kLook))) {
        if (!teller.empty() && known_) tell_on(teller);
        return;
    }
    current_ = looker;
    look_only_ = true;
    for_command_ = false;
    trigger_ = PBS_SCH_SCHEDULE_CMD;
    qrun_.reset();
    learn(!known_);
}

// ---- Learning.

void Scheduling::ask_about(ifl::RequestType type, ifl::Attributes wanted, const std::string& extend,
                           ifl::ObjectSink sink) {
    current().client->ask(
        type, ifl::Status{{}, std::move(wanted)}, extend,
        [this](const ifl::Result<ifl::Reply>& reply) {
            // A server without vnodes says so.
            if (reply && reply->code != 0 && reply->code != PBSE_NONODES) learnt_.error = text_of(*reply);
            if (!reply) learnt_.error = reply.error().message;
        },
        std::move(sink));
}

void Scheduling::ask_jobs(ifl::Attributes criteria, ifl::Attributes wanted, ifl::ObjectSink sink) {
    current().client->ask(
        ifl::RequestType::select_status, ifl::Select{std::move(criteria), std::move(wanted)}, kSubjobsToo,
        [this](const ifl::Result<ifl::Reply>& reply) {
            if (reply && reply->code != 0) learnt_.error = text_of(*reply);
            if (!reply) learnt_.error = reply.error().message;
        },
        std::move(sink));
}

void Scheduling::learn(bool all) {
    using Type = ifl::RequestType;
    learnt_ = Learnt{};
    learnt_.asked = std::time(nullptr);
    look_began_ = Clock::now();
    look_soon_ = false;
    // What changes from now on may not be among the answers.
    altered_known_ = std::exchange(altered_, std::nullopt).has_value();
    const bool whole_server = std::exchange(stale_server_, false) || all;
    const bool whole_vnodes = std::exchange(stale_vnodes_, false) || all;
    phase_ = all && known_ ? Phase::checking : Phase::learning;
    // First, and the server answers in this order: what was changed before a job was submitted counts for it.
    learn_jobs(all);
    if (whole_server) {
        learnt_.scheds.emplace();
        learnt_.resources.emplace();
        ask_about(Type::status_server, {}, {}, [this](const ifl::ObjectView& object) {
            learnt_.server = cluster::server_of(object.name, object.attributes);
        });
        ask_about(Type::status_scheduler, {}, {}, [this](const ifl::ObjectView& object) {
            (*learnt_.scheds)[std::string(object.name)] = sched_of(object);
        });
        ask_about(Type::status_resource, {}, kResourceExtend,
                  [this](const ifl::ObjectView& object) { note_resource(*learnt_.resources, object); });
    }
    ask_about(Type::status_queue, cluster::queue_attributes(), {}, [this](const ifl::ObjectView& object) {
        learnt_.queues[std::string(object.name)] = cluster::queue_of(object.attributes);
    });
    ask_about(Type::status_reservation, {}, {}, [this](const ifl::ObjectView& object) {
        learnt_.reservations[std::string(object.name)] = reservation_of(object, learnt_.asked);
    });
    if (whole_vnodes) {
        learnt_.vnodes.emplace();
        ask_about(Type::status_node, cluster::vnode_attributes(), {}, [this](const ifl::ObjectView& object) {
            (*learnt_.vnodes)[std::string(object.name)] = vnode_of(object);
        });
    } else {
        ask_about(Type::status_node, ifl::Attributes{attribute("state", {}, {})}, {},
                  [this](const ifl::ObjectView& object) {
                      learnt_.states[std::string(object.name)] =
                          cluster::vnode_state(cluster::value_of(object.attributes, "state"));
                  });
    }
}

void Scheduling::learn_jobs(bool all) {
    const auto take_job = [this](const ifl::ObjectView& object) {
        learnt_.jobs.push_back(cluster::job_of(object.name, object.attributes, learnt_.asked));
    };
    const bool gone = std::exchange(jobs_gone_, false);
    if (all) {
        learnt_.ids.emplace();
        learnt_.subjobs.emplace();
        ask_jobs({}, cluster::job_attributes(), [this, take_job](const ifl::ObjectView& object) {
            take_job(object);
            const std::string id(object.name);
            (array_of(id).empty() ? learnt_.ids : learnt_.subjobs)->insert(id);
        });
        return;
    }
    ask_jobs(changed_since(jobs_since_), cluster::job_attributes(), take_job);
    if (!gone) return;
    current().client->ask(ifl::RequestType::select_jobs, ifl::Select{}, {},
                          [this](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply || reply->code != 0) {
                                  learnt_.error = reply ? text_of(*reply) : reply.error().message;
                                  return;
                              }
                              learnt_.ids.emplace();
                              if (const auto* found = std::get_if<ifl::SelectReply>(&reply->body))
                                  learnt_.ids->insert(found->jobs.begin(), found->jobs.end());
                          });
    const auto& jobs = plugin_.records().jobs();
    if (std::ranges::none_of(jobs, [](const auto& job) { return !array_of(job.first).empty(); })) return;
    learnt_.subjobs.emplace();
    // 'R' as the first letter would leave suspended ones out.
    ask_jobs({attribute("job_state", {}, "ER", ifl::Op::eq)}, {attribute("job_state", {}, {})},
             [this](const ifl::ObjectView& object) { learnt_.subjobs->emplace(object.name); });
}

// How many objects have changed.
std::size_t Scheduling::take_objects() {
    const auto is_there = [this](const std::string& name) {
        if (learnt_.vnodes) {
            const auto vnode = learnt_.vnodes->find(name);
            return vnode != learnt_.vnodes->end() && vnode->second.state == PBS_VNODE_FREE;
        }
        const auto state = learnt_.states.find(name);
        return state != learnt_.states.end() && state->second == PBS_VNODE_FREE;
    };
    // One that isn't confirmed may be by each scheduler, on its vnodes.
    for (auto& [id, reservation] : learnt_.reservations) {
        choose_asked(reservation, is_there);
        const auto queue = learnt_.queues.find(reservation.queue);
        if (queue == learnt_.queues.end()) continue;
        queue->second.partition = reservation.asked && reservation.nodes.empty()
                                      ? site_.scheds.at(current_).partition
                                      : reservation.partition;
    }
    keep_execution_types(site_.queues, learnt_.queues);
    bool changed = learnt_.server || learnt_.vnodes || learnt_.queues != site_.queues ||
                   learnt_.reservations != site_.reservations;
    for (const auto& [name, state] : learnt_.states) {
        const auto known = site_.vnodes.find(name);
        if (known == site_.vnodes.end()) {
            stale_vnodes_ = true;
        } else {
            changed = changed || known->second.state != state;
            // Its mom, who is back, may have told of other resources.
            if ((known->second.state & ~state & PBS_VNODE_DOWN) != 0) stale_vnodes_ = true;
        }
    }
    if (!learnt_.vnodes && learnt_.states.size() != site_.vnodes.size()) stale_vnodes_ = true;
    if (!changed) return 0;
    Site after = site_;
    if (learnt_.server) after.server = *learnt_.server;
    if (learnt_.resources) after.resources = *learnt_.resources;
    if (learnt_.scheds) {
        for (auto& [name, sched] : *learnt_.scheds)
            if (const auto known = site_.scheds.find(name); known != site_.scheds.end())
                sched.own = known->second.own;
        after.scheds = *learnt_.scheds;
    }
    after.queues = learnt_.queues;
    after.reservations = learnt_.reservations;
    if (learnt_.vnodes) after.vnodes = *learnt_.vnodes;
    for (const auto& [name, state] : learnt_.states)
        if (const auto known = after.vnodes.find(name); known != after.vnodes.end())
            known->second.state = state;
    const std::size_t count = plugin_.records().tell(site_, after);
    take_over(site_, after);
    site_ = std::move(after);
    return count;
}

void Scheduling::take_over(const Site& before, const Site& after) {
    for (ChangedFolder& folder : changed_folders(before, after)) folders_.push_back(std::move(folder));
    for (ChangedSetting& change : changed_settings(before, after)) {
        // The plugin sets it for the server to preempt by: no manager has asked for that one.
        const auto given = orders_given_.find(change.sched);
        if (change.name == "preempt_order" && given != orders_given_.end() &&
            std::ranges::find(given->second, change.value) != given->second.end())
            continue;
        settings_.add(std::move(change));
    }
}

// The server takes any path. As pbs_sched does, a scheduler whose folder isn't there says so and stops.
void Scheduling::look_at_folder(const ChangedFolder& folder) {
    std::set<std::string>& lacking = scheds_[folder.sched].lacking;
    std::error_code error;
    const bool there = folder.path.empty() || std::filesystem::is_directory(folder.path, error);
    if (there && lacking.erase(folder.name) == 0) return;
    ifl::Manage request{kUnset, PBS_OBJ_SCHED, folder.sched, {attribute("comment", {}, {})}};
    if (!there) {
        lacking.insert(folder.name);
        log(fmt::format("sched {}: {} = {}: there is no such folder: scheduling is turned off", folder.sched,
                        folder.name, folder.path));
        request.command = kSet;
        request.attributes = {
            attribute("comment", {}, fmt::format("Unable to change the {} directory", folder.name)),
            attribute("scheduling", {}, "False")};
    }
    current().client->ask(
        ifl::RequestType::manager, std::move(request), {},
        [this, sched = folder.sched](const ifl::Result<ifl::Reply>& reply) {
            stale_server_ = true;
            if (!reply || reply->code == 0) return;
            log(fmt::format("sched {}: its comment can't be set: {}", sched, text_of(*reply)));
        });
}

// False: the plugin is at work on one, and is to be asked again.
bool Scheduling::settle_settings() {
    const Clock::time_point time = Clock::now();
    while (const ChangedSetting* change = settings_.next(time)) {
        std::string policies;
        for (const ifl::Attribute& one : plugin_.shown(now(), PBS_OBJ_SCHED, change->sched))
            if (one.name == "policy") policies = one.value;
        std::string unwritten;
        for (const ManagerRequest& request : policy_requests(*change, policies)) {
            const ifl::Reply reply =
                plugin_.manager(now(), request, {"pbs_server", {}, PBS_PRIV_MANAGER}, kSettingsTicket);
            if (reply.code == PBSE_TRYAGAIN) return false;
            const std::string what =
                fmt::format("policy {}: {} {}, as sched {} has it", request.object, change->name,
                            change->value.empty() ? "is unset" : "is set to " + change->value, change->sched);
            if (reply.code == PBSE_SYSTEM) {
                unwritten = fmt::format("{}: can't be written and is tried again every {} s: {}", what,
                                        PendingSettings::kBetween.count(), text_of(reply));
                break;
            }
            log(what + (reply.code == 0 ? std::string() : ": refused: " + text_of(reply)));
        }
        if (unwritten.empty()) {
            settings_.done();
        } else if (settings_.put_off(time)) {
            log(unwritten);
        }
    }
    return true;
}

std::size_t Scheduling::take_jobs() {
    Records& records = plugin_.records();
    std::size_t count = 0;
    for (Job& job : learnt_.jobs) count += records.tell(now(), std::move(job)) ? 1 : 0;
    learnt_.jobs.clear();
    if (!learnt_.ids && !learnt_.subjobs) return count;
    std::vector<std::string> gone;
    for (const auto& [id, job] : records.jobs()) {
        const auto& there = array_of(id).empty() ? learnt_.ids : learnt_.subjobs;
        if (there && !there->contains(id)) gone.push_back(id);
    }
    for (const std::string& id : gone) {
        count += records.forget(now(), id) ? 1 : 0;
        estimates_.erase(id);
        failed_.erase(id);
    }
    return count;
}

std::size_t Scheduling::take_learnt() {
    const std::size_t count = take_objects() + take_jobs();
    jobs_since_ = learnt_.asked;
    return count;
}

void Scheduling::learnt() {
    looked_ = Clock::now();
    if (!learnt_.error.empty()) {
        log(fmt::format("sched {}: the server can't be asked for its objects: {}", current_, learnt_.error));
        known_ = false;
        return end();
    }
    const bool was_check = phase_ == Phase::checking;
    const bool first = !known_;
    const std::size_t count = take_learnt();
    if (first) {
        known_ = true;
        checked_ = looked_;
        log(fmt::format("sched {}: learnt of {} queues, {} vnodes and {} jobs", current_, site_.queues.size(),
                        site_.vnodes.size(), plugin_.records().jobs().size()));
    }
    if (was_check) {
        ++checks_;
        checked_ = looked_;
        checked_at_ = now();
        missed_ += count;
        if (count > 0) log(fmt::format("a check found {} changes that had not been noticed", count));
    }
    for (const ChangedFolder& folder : std::exchange(folders_, {})) look_at_folder(folder);
    // The server tells no scheduler of such changes, and they may be about any.
    if (count > 0 && (look_only_ || altered_known_)) want_cycles(current_);
    look_only_ = look_only_ && count == 0 && !first && settings_.next(looked_) == nullptr;
    // A vnode that wasn't known; then, after what is new, all else.
    if (stale_vnodes_ || stale_server_) return learn(false);
    if (!was_check && looked_ - checked_ > kCheck) return learn(true);
    if (look_only_) return end();
    decide();
}

// ---- Deciding.

void Scheduling::decide() {
    phase_ = Phase::waiting;
    if (!settle_settings()) return;
    if (qrun_) return qrun();
    const auto sched = site_.scheds.find(current_);
    if (sched == site_.scheds.end() || !sched->second.scheduling) return end();
    for (const auto& [id, reservation] : site_.reservations) {
        Decision no;
        no.kind = Decision::Kind::deny;
        no.job = id;
        no.text = reservation.error;
        if (reservation.asked && !reservation.error.empty()) answer_reservation(no);
    }
    for (const auto& [id, expected] : plugin_.records().extend(now()))
        current().client->tell(ifl::RequestType::modify_job_async,
                               ifl::Manage{kSet,
                                           PBS_OBJ_JOB,
                                           id,
                                           {attribute("estimated", "soft_walltime",
                                                      cluster::amount_text(PBS_RES_DURATION, expected))}});
    const auto running = plugin_.start_cycle(now(), current_, trigger_);
    if (!running && running.error() == PBSE_TRYAGAIN) return;
    if (!running) {
        ++cycles_;
        log(fmt::format("sched {}: the cycle has failed: error {}", current_, running.error()));
        return end();
    }
    phase_ = Phase::deciding;
    dropped_ = false;
    look_at_period();
    if (!*running) take_decisions();
}

void Scheduling::cycle_finished() {
    if (phase_ == Phase::deciding) take_decisions();
}

void Scheduling::take_decisions() {
    auto decisions = plugin_.finish_cycle(now());
    decisions_.clear();
    applied_ = 0;
    again_ = false;
    preempting_ = 0;
    preempt_failed_ = false;
    ++cycles_;
    if (std::exchange(dropped_, false)) return end();
    if (!decisions) {
        log(fmt::format("sched {}: the cycle has failed: error {}", current_, decisions.error()));
        return end();
    }
    decisions_ = std::move(*decisions);
    tell_untold();
    const auto needed = std::find_if(decisions_.rbegin(), decisions_.rend(),
                                     [](const Decision& decision) { return !is_told(decision); });
    begin_applying(static_cast<std::size_t>(decisions_.rend() - needed));
}

// `only_told`: from there on the decisions say what jobs wait for.
void Scheduling::begin_applying(std::size_t only_told) {
    only_told_ = only_told;
    telling_since_.reset();
    told_ = 0;
    tellings_asked_ = 0;
    phase_ = Phase::applying;
    apply_some();
}

// ---- What jobs wait for.

// A period begins when something is told, and another value of it ends the period.
void Scheduling::look_at_period() {
    One& one = current();
    const std::int64_t period = site_.scheds[current_].attr_update_period;
    if (std::exchange(one.period, period) != period) one.told_at = 0;
    if (period != 0) one.tells_on = false;
    tells_ = now() - one.told_at >= period;
    told_anyway_.clear();
}

// What wasn't told in earlier cycles is, after what this one finds, unless this one knows better.
void Scheduling::tell_untold() {
    auto& untold = current().untold;
    if (untold.empty()) return;
    std::set<std::string> waited;  // jobs that are told of before others
    for (const Decision& decision : decisions_) {
        if (decision.kind == Decision::Kind::accrue) told_anyway_.insert(decision.job);
        if (untold.erase({decision.kind, decision.job}) > 0) waited.insert(decision.job);
        if (decision.kind != Decision::Kind::run) continue;
        untold.erase({Decision::Kind::comment, decision.job});
        untold.erase({Decision::Kind::estimate, decision.job});
    }
    for (auto entry = untold.begin(); entry != untold.end();) {
        const Job* job = plugin_.records().job(entry->second.job);
        if (job == nullptr || job->runs() || (job->state != 'Q' && job->state != 'B')) {
            entry = untold.erase(entry);
        } else if (tells_ || told_anyway_.contains(entry->second.job)) {
            waited.insert(entry->second.job);
            decisions_.push_back(std::move(entry->second));
            entry = untold.erase(entry);
        } else {
            ++entry;
        }
    }
    std::stable_partition(decisions_.begin(), decisions_.end(), [&](const Decision& decision) {
        return !is_told(decision) || waited.contains(decision.job);
    });
}

// The server begins no other cycle before this one is over, and thousands of comments take seconds: those
// that are left after a while are told when it is over, while there is no other. The server answers none of
// them, so one question in between keeps them from being far ahead of what it has done.
bool Scheduling::may_tell() {
    const Clock::time_point time = Clock::now();
    if (!telling_since_) telling_since_ = time;
    const auto told_for = time - *telling_since_;
    const auto waits = [this](const auto& entry) { return wants(entry.first); };
    const bool is_enough =
        told_for > kTelling || (told_for > kTellingAtLeast && std::ranges::any_of(scheds_, waits));
    if (current().period == 0 && is_enough) {
        put_off();
        return false;
    }
    if (told_ < kToldAtOnce) return true;
    told_ = 0;
    ++tellings_asked_;
    current().client->ask(
        ifl::RequestType::status_server, ifl::Status{{}, {attribute("server_state", {}, {})}}, {},
        [this](const ifl::Result<ifl::Reply>& reply) {
            if (reply) --tellings_asked_;
        },
        [](const ifl::ObjectView&) {});
    return true;
}

void Scheduling::tell_on(const std::string& sched) {
    current_ = sched;
    for_command_ = false;
    decisions_.clear();
    applied_ = 0;
    tells_ = true;
    current().tells_on = false;
    tell_untold();
    begin_applying(0);
}

void Scheduling::put_off() {
    for (; applied_ < decisions_.size(); ++applied_) {
        Decision& decision = decisions_[applied_];
        current().untold.insert_or_assign({decision.kind, decision.job}, std::move(decision));
    }
    current().tells_on = true;
}

// True: it is kept for later. What else is told of a job takes along what it waits for.
bool Scheduling::keep_untold(const Decision& decision) {
    if (tells_) current().told_at = now();
    if (tells_ || told_anyway_.contains(decision.job)) return false;
    current().untold.insert_or_assign({decision.kind, decision.job}, decision);
    return true;
}

// ---- Carrying out.

bool Scheduling::may_apply() const {
    if (phase_ != Phase::applying || applied_ == decisions_.size()) return false;
    const ServerClient& client = *scheds_.at(current_).client;
    if (client.unanswered() >= kWindow || client.unsent() >= kMostUnsent) return false;
    // What others give up for it is there when these have been answered for.
    if (decisions_[applied_].after_preemptions && preempting_ > 0) return false;
    return applied_ < only_told_ || tellings_asked_ < kMostAsked;
}

void Scheduling::apply_some() {
    ServerClient& client = *current().client;
    while (may_apply()) {
        const Decision& next = decisions_[applied_];
        if (applied_ >= only_told_ && !may_tell()) break;
        if (next.kind == Decision::Kind::preempt)
            preempt();
        else
            apply(decisions_[applied_++]);
    }
    if (applied_ == decisions_.size()) look_at_starts();
    client.work();
    if (client.state() == ServerClient::State::closed) return lost(current_, current());
    if (applied_ == decisions_.size() && client.unanswered() == 0 && client.unsent() == 0) end();
}

void Scheduling::comment(const std::string& job, const std::string& text) {
    const Job* known = plugin_.records().job(job);
    if (!text.empty()) current().untold.erase({Decision::Kind::comment, job});
    if (text.empty() || (known != nullptr && known->comment == text)) return;
    current().client->tell(ifl::RequestType::modify_job_async,
                           ifl::Manage{kSet, PBS_OBJ_JOB, job, {attribute("comment", {}, text)}});
    ++told_;
    plugin_.records().commented(job, text);
}

void Scheduling::accrue(const std::string& job, std::int32_t type) {
    current().client->tell(
        ifl::RequestType::modify_job_async,
        ifl::Manage{kSet, PBS_OBJ_JOB, job, {attribute("accrue_type", {}, fmt::format("{}", type))}});
}

// The server tells who asked for it.
void Scheduling::answer_reservation(const Decision& decision) {
    const auto reservation = site_.reservations.find(decision.job);
    if (reservation == site_.reservations.end()) return;
    std::string nodes;
    if (decision.kind == Decision::Kind::confirm) nodes = confirmed_nodes(reservation->second, decision);
    const bool granted = !nodes.empty();
    if (!granted) nodes = "null";
    const std::string& partition = site_.scheds[current_].partition;
    log(granted ? fmt::format("{}: confirmed", decision.job)
                : fmt::format("{}: not confirmed: {}", decision.job, decision.text));
    current().client->ask(
        ifl::RequestType::confirm_reservation,
        ifl::RunJob{
            decision.job, nodes,
            static_cast<std::uint64_t>(decision.start != 0 ? decision.start : reservation->second.start)},
        granted ? fmt::format("PBS_RESV_CONFIRM_SUCCESS:partition={}",
                              partition.empty() ? "pbs-default" : partition)
                : "PBS_RESV_CONFIRM_FAIL",
        [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
            if (reply && reply->code != 0)
                log(fmt::format("{}: the answer is refused by the server: {}", id, text_of(*reply)));
        });
}

void Scheduling::apply(const Decision& decision) {
    if (decision.kind == Decision::Kind::confirm || decision.kind == Decision::Kind::deny)
        return answer_reservation(decision);
    ServerClient& client = *current().client;
    const Job* job = plugin_.records().job(decision.job);
    if (qrun_placed_) return apply_qrun(*std::exchange(qrun_placed_, {}), decision);
    if (job == nullptr) return;
    switch (decision.kind) {
        case Decision::Kind::run:
            // The room that it was to have isn't there.
            if (decision.after_preemptions && preempt_failed_) return;
            if (job->preempted()) return resume(decision.job);
            return run(decision);
        case Decision::Kind::comment:
            look_at_starts();
            // Its comment says for whom it was preempted, or since when the array has run.
            if (job->preempted_at != 0 || (job->array && job->state == 'B') || keep_untold(decision)) return;
            return comment(decision.job, decision.text);
        case Decision::Kind::accrue:
            told_anyway_.insert(decision.job);
            accrue(decision.job, decision.accrue_type);
            return refresh(decision.job);
        case Decision::Kind::estimate: {
            const std::pair<std::int64_t, std::string> estimate{decision.start, decision.exec_vnode};
            if (decision.start == 0) {
                estimates_.erase(decision.job);
                current().untold.erase({decision.kind, decision.job});
                return;
            }
            if (keep_untold(decision)) return;
            auto& told = estimates_[decision.job];
            if (told == estimate) return;
            told = estimate;
            ifl::Attributes attributes{
                attribute("estimated", "start_time", fmt::format("{}", decision.start))};
            if (!decision.exec_vnode.empty())
                attributes.push_back(attribute("estimated", "exec_vnode", decision.exec_vnode));
            client.tell(ifl::RequestType::modify_job_async,
                        ifl::Manage{kSet, PBS_OBJ_JOB, decision.job, std::move(attributes)});
            ++told_;
            return;
        }
        case Decision::Kind::move:
            client.ask(ifl::RequestType::move_job, ifl::MoveJob{decision.job, decision.queue}, {},
                       [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
                           if (!reply) return;
                           if (reply->code != 0) return refused(id, *reply);
                           again_ = true;
                           refresh(id);
                       });
            return;
        case Decision::Kind::reject:
            // The history of jobs keeps the comment.
            comment(decision.job, decision.text);
            log(fmt::format("{}: rejected: {}", decision.job, decision.text));
            client.ask(ifl::RequestType::delete_job, ifl::Manage{kDelete, PBS_OBJ_JOB, decision.job, {}}, {},
                       [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
                           if (!reply) return;
                           if (reply->code != 0) return refused(id, *reply);
                           refresh(id);
                       });
            return;
        default:
            return;
    }
}

// Decisions to preempt that follow each other and agree on the methods are one request. The server tries the
// methods of the scheduler's preempt_order, and answers when all of the jobs have made room or have failed
// to.
void Scheduling::preempt() {
    ServerClient& client = *current().client;
    const std::string methods = decisions_[applied_].methods;
    std::vector<std::string> jobs;
    std::map<std::string, std::string> others;  // for which job each makes room
    for (; applied_ < decisions_.size(); ++applied_) {
        const Decision& decision = decisions_[applied_];
        if (decision.kind != Decision::Kind::preempt || decision.methods != methods) break;
        if (plugin_.records().job(decision.job) == nullptr) continue;
        jobs.push_back(decision.job);
        others[decision.job] = decision.for_job;
    }
    if (jobs.empty()) return;
    std::string& order = site_.scheds[current_].preempt_order;
    const bool same = std::ranges::all_of(jobs, [&](const std::string& job) {
        return tried_for(*plugin_.records().job(job), order) == methods;
    });
    if (!same) {
        order = methods;
        orders_given_[current_].push_back(methods);
        client.ask(
            ifl::RequestType::manager,
            ifl::Manage{kSet, PBS_OBJ_SCHED, current_, {attribute("preempt_order", {}, methods)}}, {},
            [this](const ifl::Result<ifl::Reply>& reply) {
                if (!reply || reply->code == 0) return;
                log(fmt::format("sched {}: preempt_order can't be set: {}", current_, text_of(*reply)));
                stale_server_ = true;
            });
    }
    ++preempting_;
    client.ask(ifl::RequestType::preempt_jobs, ifl::PreemptJobs{jobs}, {},
               [this, jobs, others](const ifl::Result<ifl::Reply>& reply) {
                   if (!reply) return;
                   --preempting_;
                   std::map<std::string, char> methods_used;
                   if (const auto* answer = std::get_if<ifl::PreemptReply>(&reply->body))
                       for (const auto& [job, by] : answer->jobs)
                           methods_used[job] = by.empty() ? '0' : by.front();
                   else
                       log(fmt::format("sched {}: preempting is refused: {}", current_, text_of(*reply)));
                   for (const std::string& job : jobs) {
                       const auto used = methods_used.find(job);
                       preempted(job, others.at(job), used == methods_used.end() ? '0' : used->second);
                   }
               });
}

// `method`: by which the server has preempted it, with its letters; any other: it couldn't.
void Scheduling::preempted(const std::string& id, const std::string& for_job, char method) {
    std::string_view way;
    if (method == 'S') way = "suspension";
    if (method == 'C') way = "checkpointing";
    if (method == 'Q') way = "requeuing";
    if (method != 'D' && way.empty()) {
        log(fmt::format("{}: can't be preempted for job {}", id, for_job));
        preempt_failed_ = true;
        again_ = true;
        plugin_.records().not_preemptable(now(), id);
        return;
    }
    log(fmt::format("{}: preempted for job {}, by {}", id, for_job, way.empty() ? "deletion" : way));
    if (!way.empty()) comment(id, fmt::format("Not Running: Preempted by {} for job {}", way, for_job));
    refresh(id);
}

// A suspended job goes on where it was. If it can't, it is tried again when there is another reason for a
// cycle.
void Scheduling::resume(const std::string& id) {
    current().client->ask(ifl::RequestType::signal_job, ifl::SignalJob{id, "resume"}, {},
                          [this, id](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply) return;
                              if (reply->code != 0)
                                  log(fmt::format("{}: can't be resumed: {}", id, text_of(*reply)));
                              refresh(id);
                          });
}

// A job that has to move does that first; only then it is run.
void Scheduling::run(const Decision& decision) {
    ServerClient& client = *current().client;
    const Job& job = *plugin_.records().job(decision.job);
    const bool array = job.array;
    comment(decision.job, array ? std::string() : decision.text);
    const std::string id = plugin_.records().starts(now(), decision);
    if (id.empty()) return;
    // The next subjob of the array goes before all jobs behind it: the next cycle decides about it.
    if (array) {
        again_ = true;
        const Job* left = plugin_.records().job(decision.job);
        if (left != nullptr && !left->queued.empty()) applied_ = decisions_.size();
        // Nothing of the array waits any more, and the server doesn't see to that.
        if (left != nullptr && left->queued.empty() && site_.server.counts_eligible_time &&
            left->accrue_type != kIneligible)
            accrue(decision.job, kIneligible);
    }
    estimates_.erase(decision.job);
    if (decision.queue.empty() && decision.set_resources.empty()) return send_run(decision, id);
    const auto set_and_run = [this, decision, id] {
        if (decision.set_resources.empty()) return send_run(decision, id);
        ifl::Attributes attributes;
        for (const auto& [name, value] : decision.set_resources)
            attributes.push_back(attribute("Resource_List", name, value));
        current().client->ask(ifl::RequestType::modify_job,
                              ifl::Manage{kSet, PBS_OBJ_JOB, decision.job, std::move(attributes)}, {},
                              [this, decision, id](const ifl::Result<ifl::Reply>& reply) {
                                  if (!reply) return;
                                  if (reply->code != 0) return refused(id, *reply);
                                  send_run(decision, id);
                              });
    };
    if (decision.queue.empty()) return set_and_run();
    client.ask(ifl::RequestType::move_job, ifl::MoveJob{decision.job, decision.queue}, {},
               [this, set_and_run, id](const ifl::Result<ifl::Reply>& reply) {
                   if (!reply) return;
                   if (reply->code != 0) return refused(id, *reply);
                   set_and_run();
               });
}

// By job_run_wait: until the server has the request, until runjob hooks have seen the job, or until it runs.
// Where there are no such hooks they aren't waited for, as pbs_sched has it.
void Scheduling::send_run(const Decision& decision, const std::string& id) {
    ServerClient& client = *current().client;
    ifl::RunJob request{id, decision.exec_vnode, 0};
    const std::string& wait = site_.scheds[current_].job_run_wait;
    if (wait == "none" || (wait != "execjob_hook" && !site_.server.has_runjob_hook)) {
        client.tell(ifl::RequestType::async_run_job, std::move(request));
        // It doesn't answer for it, and tells no reason for one that it hasn't run.
        started_.push_back(id);
        return;
    }
    client.ask(wait == "execjob_hook" ? ifl::RequestType::run_job : ifl::RequestType::run_job_acknowledged,
               std::move(request), {}, [this, id](const ifl::Result<ifl::Reply>& reply) {
                   if (reply && reply->code != 0) refused(id, *reply);
                   if (reply && reply->code == 0) failed_.erase(waiting_id(id));
               });
}

// The job is looked at again as it is. What keeps it from running may last: one that fails again and again
// waits for a while first.
void Scheduling::set_aside(const std::string& job) {
    constexpr int kMostDoubled = 6;
    Failed& failed = failed_[job];
    const int before = failed.times++;
    failed.stays = before > 0;
    failed.waits = true;
    failed.again = Clock::now() + seconds(1 << std::clamp(before - 1, 0, kMostDoubled));
    plugin_.records().put_aside(now(), job);
}

void Scheduling::look_at_failed(Clock::time_point time) {
    for (auto& [job, failed] : failed_) {
        if (!failed.waits || failed.again > time) continue;
        failed.waits = false;
        want_cycles();
    }
}

// The server has other ideas, or a hook has.
void Scheduling::refused(const std::string& id, const ifl::Reply& reply) {
    log(fmt::format("{}: refused by the server: {}", id, text_of(reply)));
    const std::string job = waiting_id(id);
    if (reply.code != PBSE_UNKJOBID && reply.code != PBSE_BADSTATE)
        comment(job, fmt::format("Not Running: PBS Error: {}", text_of(reply)));
    set_aside(job);
    // The room that was kept for it is for others, in a cycle without it, which belongs to this one.
    again_ = true;
    refresh(job);
    if (job != id) refresh(id);
}

// Asks once about all jobs that were started since the last time, or about each where it is few of them.
void Scheduling::look_at_starts() {
    constexpr std::size_t kFew = 8;
    std::vector<std::string> started = std::exchange(started_, {});
    if (started.size() <= kFew) {
        for (const std::string& id : started) refresh(id, true);
        return;
    }
    auto found = std::make_shared<std::map<std::string, Job>>();
    current().client->ask(
        ifl::RequestType::select_status, ifl::Select{changed_since(learnt_.asked), cluster::job_attributes()},
        kSubjobsToo,
        [this, started, found](const ifl::Result<ifl::Reply>& reply) {
            if (!reply) return;
            for (const std::string& id : started) {
                const auto job = found->find(id);
                if (job == found->end())
                    refresh(id, true);
                else
                    started_as(id, std::move(job->second));
            }
        },
        [found, asked = now()](const ifl::ObjectView& object) {
            (*found)[std::string(object.name)] = cluster::job_of(object.name, object.attributes, asked);
        });
}

// A job that the server was asked to run waits only if the server wouldn't run it.
void Scheduling::started_as(const std::string& id, Job job) {
    const bool waits = !job.runs() && job.state == 'Q';
    (void)plugin_.records().tell(now(), std::move(job));
    const std::string waiting = waiting_id(id);
    if (!waits) {
        failed_.erase(waiting);
        return;
    }
    log(fmt::format("{}: the server has not run it", id));
    set_aside(waiting);
    // The room that was kept for a job that fails again is for others at once, in a cycle without it.
    again_ = again_ || failed_[waiting].stays;
    if (waiting != id) refresh(waiting);
}

// Learns what the server says of the job. `was_run`: the server was asked to run it.
void Scheduling::refresh(const std::string& id, bool was_run) {
    auto found = std::make_shared<std::optional<Job>>();
    current().client->ask(
        ifl::RequestType::status_job, ifl::Status{id, cluster::job_attributes()}, {},
        [this, id, found, was_run](const ifl::Result<ifl::Reply>& reply) {
            if (!reply) return;
            if (reply->code == 0 && *found) {
                if (was_run) return started_as(id, std::move(**found));
                (void)plugin_.records().tell(now(), std::move(**found));
            } else {
                (void)plugin_.records().forget(now(), id);
            }
        },
        [found, asked = now()](const ifl::ObjectView& object) {
            *found = cluster::job_of(object.name, object.attributes, asked);
        });
}

// ---- qrun.

void Scheduling::answer_qrun(const std::string& job, int error, const std::string& text) {
    current().client->ask(ifl::RequestType::deferred_scheduler_reply,
                          ifl::DeferredSchedulerReply{kRunOne, job, error, text}, {},
                          [this, job](const ifl::Result<ifl::Reply>& reply) {
                              if (reply && reply->code != 0 && reply->code != PBSE_UNKJOBID)
                                  log(fmt::format("{}: the answer to qrun: {}", job, text_of(*reply)));
                          });
}

void Scheduling::qrun() {
    const std::string job = *qrun_;
    const std::string array = array_of(job);
    // Jobs of an array don't make room for each other, as pbs_sched has it.
    plugin_.records().spare(now(), array);
    auto placed = plugin_.place_job(now(), waiting_id(job));
    plugin_.records().spare(now(), {});
    if (!placed && placed.error() == PBSE_TRYAGAIN) return;
    qrun_.reset();
    decisions_.clear();
    applied_ = 0;
    again_ = false;
    preempting_ = 0;
    preempt_failed_ = false;
    if (placed) {
        decisions_ = std::move(*placed);
        qrun_placed_ = job;
    } else {
        answer_qrun(job, PBSE_UNKJOBID, {});
    }
    again_ = true;
    begin_applying(decisions_.size());
}

// The decision about the job itself.
void Scheduling::apply_qrun(const std::string& job, const Decision& decision) {
    if (decision.kind != Decision::Kind::run) {
        comment(decision.job, decision.text);
        return answer_qrun(job, PBSE_RESCUNAV, decision.text);
    }
    if (decision.after_preemptions && preempt_failed_)
        return answer_qrun(job, PBSE_RESCUNAV, "a job that would have to make room can't be preempted");
    current().client->ask(ifl::RequestType::run_job_acknowledged, ifl::RunJob{job, decision.exec_vnode, 0},
                          {}, [this, job, placed = decision.job](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply) return;
                              answer_qrun(job, reply->code, reply->code == 0 ? "" : text_of(*reply));
                              refresh(placed);
                              if (placed != job) refresh(job);
                          });
}

// ---- The end.

void Scheduling::end() {
    phase_ = Phase::idle;
    decisions_.clear();
    One& one = current();
    one.goes_on = std::exchange(again_, false);
    if (auto& given = orders_given_[current_]; given.size() > 1) given.erase(given.begin(), given.end() - 1);
    // Who waits for another job to be started has to be told of a cycle that is still to come.
    if (for_command_ && one.qruns.empty() && one.is_registered()) {
        one.command = false;
        one.client->end_cycle();
    }
}

ifl::Attributes Scheduling::shown(const std::string& sched) const {
    const auto found = scheds_.find(sched);
    if (found == scheds_.end()) return {};
    const One& one = found->second;
    ifl::Attributes out;
    if (one.is_registered()) {
        out.push_back(attribute("scheduled_by", {}, "pbs_policy"));
    } else if (!is_own(sched)) {
        out.push_back(attribute("scheduled_by", {}, "pbs_sched"));
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

}  // namespace pbs::openpbs
