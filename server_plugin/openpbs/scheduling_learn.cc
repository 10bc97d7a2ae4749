#include "server_plugin/openpbs/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/owned.h"
#include "server_plugin/openpbs/scheduling_terms.h"

namespace pbs::openpbs {
namespace {

using cluster::array_of;

constexpr std::chrono::seconds kCheck{600};  // interval of checks of everything that is known
constexpr std::uint64_t kSettingsTicket = ~std::uint64_t{0};

}  // namespace

// ---- Learning.

void Scheduling::ask_about(ifl::RequestType type, ifl::Attributes wanted, const std::string& extend,
                           ifl::ObjectSink sink) {
    current().client->ask(
        type, ifl::Status{{}, std::move(wanted)}, extend,
        [this](const ifl::Result<ifl::Reply>& reply) {
            // PBSE_NONODES is the answer of a server without vnodes.
            if (reply && reply->code != 0 && reply->code != PBSE_NONODES) run_.learnt.error = text_of(*reply);
            if (!reply) run_.learnt.error = reply.error().message;
        },
        std::move(sink));
}

void Scheduling::ask_jobs(ifl::Attributes criteria, ifl::Attributes wanted, ifl::ObjectSink sink) {
    current().client->ask(
        ifl::RequestType::select_status, ifl::Select{std::move(criteria), std::move(wanted)}, kSubjobsToo,
        [this](const ifl::Result<ifl::Reply>& reply) {
            if (reply && reply->code != 0) run_.learnt.error = text_of(*reply);
            if (!reply) run_.learnt.error = reply.error().message;
        },
        std::move(sink));
}

void Scheduling::learn(bool all) {
    using Type = ifl::RequestType;
    run_.learnt = Learnt{};
    run_.learnt.asked = std::time(nullptr);
    look_began_ = Clock::now();
    look_soon_ = false;
    // Changes that are made from now on may be missing in the answers.
    run_.altered_known = std::exchange(altered_, std::nullopt).has_value();
    const bool whole_server = std::exchange(stale_server_, false) || all;
    const bool whole_vnodes = std::exchange(stale_vnodes_, false) || all;
    phase_ = all && known_ ? Phase::checking : Phase::learning;
    // Query jobs first. The server answers in order, so settings that were changed before a job was submitted
    // arrive with the job.
    learn_jobs(all);
    if (whole_server) {
        run_.learnt.scheds.emplace();
        run_.learnt.resources.emplace();
        ask_about(Type::status_server, {}, {}, [this](const ifl::ObjectView& object) {
            run_.learnt.server = cluster::server_of(object.name, object.attributes);
        });
        ask_about(Type::status_scheduler, {}, {}, [this](const ifl::ObjectView& object) {
            (*run_.learnt.scheds)[std::string(object.name)] = sched_of(object);
        });
        ask_about(Type::status_resource, {}, kResourceExtend,
                  [this](const ifl::ObjectView& object) { note_resource(*run_.learnt.resources, object); });
    }
    ask_about(Type::status_queue, cluster::queue_attributes(), {}, [this](const ifl::ObjectView& object) {
        run_.learnt.queues[std::string(object.name)] = cluster::queue_of(object.attributes);
    });
    ask_about(Type::status_reservation, {}, {}, [this](const ifl::ObjectView& object) {
        run_.learnt.reservations[std::string(object.name)] = reservation_of(object, run_.learnt.asked);
    });
    if (whole_vnodes) {
        run_.learnt.vnodes.emplace();
        ask_about(Type::status_node, cluster::vnode_attributes(), {}, [this](const ifl::ObjectView& object) {
            (*run_.learnt.vnodes)[std::string(object.name)] = vnode_of(object);
        });
    } else {
        ask_about(Type::status_node, ifl::Attributes{attribute("state", {}, {})}, {},
                  [this](const ifl::ObjectView& object) {
                      run_.learnt.states[std::string(object.name)] =
                          cluster::vnode_state(cluster::value_of(object.attributes, "state"));
                  });
    }
}

void Scheduling::learn_jobs(bool all) {
    const auto take_job = [this](const ifl::ObjectView& object) {
        run_.learnt.jobs.push_back(cluster::job_of(object.name, object.attributes, run_.learnt.asked));
    };
    const bool gone = std::exchange(jobs_gone_, false);
    if (all) {
        run_.learnt.ids.emplace();
        run_.learnt.subjobs.emplace();
        ifl::Attributes wanted = cluster::job_attributes();
        if (site_.server.clears_estimates) wanted.push_back(attribute("topjob", {}, {}));
        ask_jobs({}, std::move(wanted), [this, take_job](const ifl::ObjectView& object) {
            take_job(object);
            const std::string id(object.name);
            if (cluster::value_of(object.attributes, "topjob") == "True") left_top_jobs_.insert(id);
            (array_of(id).empty() ? run_.learnt.ids : run_.learnt.subjobs)->insert(id);
        });
        return;
    }
    ask_jobs(changed_since(jobs_since_), cluster::job_attributes(), take_job);
    if (!gone) return;
    current().client->ask(ifl::RequestType::select_jobs, ifl::Select{}, {},
                          [this](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply || reply->code != 0) {
                                  run_.learnt.error = reply ? text_of(*reply) : reply.error().message;
                                  return;
                              }
                              run_.learnt.ids.emplace();
                              if (const auto* found = std::get_if<ifl::SelectReply>(&reply->body))
                                  run_.learnt.ids->insert(found->jobs.begin(), found->jobs.end());
                          });
    const auto& jobs = plugin_.records().jobs();
    if (std::ranges::none_of(jobs, [](const auto& job) { return !array_of(job.first).empty(); })) return;
    run_.learnt.subjobs.emplace();
    // Begin the letters with 'E': if 'R' is the first, the server leaves suspended jobs out.
    ask_jobs({attribute("job_state", {}, "ER", ifl::Op::eq)}, {attribute("job_state", {}, {})},
             [this](const ifl::ObjectView& object) { run_.learnt.subjobs->emplace(object.name); });
}

// Records the answers about all objects except jobs. Returns the number of objects that have changed.
std::size_t Scheduling::take_objects() {
    const auto is_there = [this](const std::string& name) {
        if (run_.learnt.vnodes) {
            const auto vnode = run_.learnt.vnodes->find(name);
            return vnode != run_.learnt.vnodes->end() && vnode->second.state == PBS_VNODE_FREE;
        }
        const auto state = run_.learnt.states.find(name);
        return state != run_.learnt.states.end() && state->second == PBS_VNODE_FREE;
    };
    // An unconfirmed reservation may be confirmed by any scheduler, on the vnodes of its partition, so try
    // the partition of the present scheduler.
    for (auto& [id, reservation] : run_.learnt.reservations) {
        choose_asked(reservation, is_there);
        const auto queue = run_.learnt.queues.find(reservation.queue);
        if (queue == run_.learnt.queues.end()) continue;
        queue->second.partition = reservation.asked && reservation.nodes.empty()
                                      ? site_.scheds.at(current_).partition
                                      : reservation.partition;
    }
    keep_execution_types(site_.queues, run_.learnt.queues);
    bool changed = run_.learnt.server || run_.learnt.vnodes || run_.learnt.queues != site_.queues ||
                   run_.learnt.reservations != site_.reservations;
    for (const auto& [name, state] : run_.learnt.states) {
        const auto known = site_.vnodes.find(name);
        if (known == site_.vnodes.end()) {
            stale_vnodes_ = true;
        } else {
            changed = changed || known->second.state != state;
            // The vnode's mom is back, and may have reported other resources: query vnodes completely.
            if ((known->second.state & ~state & PBS_VNODE_DOWN) != 0) stale_vnodes_ = true;
        }
    }
    if (!run_.learnt.vnodes && run_.learnt.states.size() != site_.vnodes.size()) stale_vnodes_ = true;
    if (!changed) return 0;
    Site after = site_;
    if (run_.learnt.server) after.server = *run_.learnt.server;
    if (run_.learnt.resources) after.resources = *run_.learnt.resources;
    if (run_.learnt.scheds) {
        for (auto& [name, sched] : *run_.learnt.scheds)
            if (const auto known = site_.scheds.find(name); known != site_.scheds.end())
                sched.own = known->second.own;
        after.scheds = *run_.learnt.scheds;
    }
    after.queues = run_.learnt.queues;
    after.reservations = run_.learnt.reservations;
    if (run_.learnt.vnodes) after.vnodes = *run_.learnt.vnodes;
    for (const auto& [name, state] : run_.learnt.states)
        if (const auto known = after.vnodes.find(name); known != after.vnodes.end())
            known->second.state = state;
    const std::size_t count = plugin_.records().tell(site_, after);
    take_over(site_, after);
    site_ = std::move(after);
    return count;
}

void Scheduling::take_over(const Site& before, const Site& after) {
    // The server has just forgotten the estimates of all jobs without `topjob`.
    if (after.server.clears_estimates && !before.server.clears_estimates) estimates_forgotten_ = true;
    for (ChangedFolder& folder : changed_folders(before, after)) folders_.push_back(std::move(folder));
    for (const auto& [name, sched] : after.scheds) {
        const auto was = before.scheds.find(name);
        if (!sched.own || (was != before.scheds.end() && was->second.not_acted_on == sched.not_acted_on))
            continue;
        for (const std::string& one : sched.not_acted_on)
            log(text_of(*find_not_acted_on(PBS_OBJ_SCHED, one), name));
    }
    for (ChangedSetting& change : changed_settings(before, after)) {
        // Skip a preempt_order that the plugin itself has set, for the server to preempt by.
        const auto given = orders_given_.find(change.sched);
        if (change.name == "preempt_order" && given != orders_given_.end() &&
            std::ranges::find(given->second, change.value) != given->second.end())
            continue;
        settings_.add(std::move(change));
    }
}

// Checks that a scheduler's folder exists, since the server accepts any path. As with pbs_sched, if the
// folder is missing, the scheduler gets a comment that says this, and stops.
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

// Carries pending settings into the policies. False: the plugin is busy with one; call again.
bool Scheduling::settle_settings() {
    const Clock::time_point time = Clock::now();
    while (const ChangedSetting* change = settings_.next(time)) {
        const ifl::Reply reply = plugin_.manager(now(), request_of(*change),
                                                 {"pbs_server", {}, PBS_PRIV_MANAGER}, kSettingsTicket);
        if (reply.code == PBSE_TRYAGAIN) return false;
        const std::string what =
            fmt::format("sched {}: {} {} in its policies", change->sched, change->name,
                        change->value.empty() ? "is unset" : "is set to " + change->value);
        if (reply.code != PBSE_SYSTEM) {
            log(what + (reply.code == 0 ? std::string() : ": refused: " + text_of(reply)));
            settings_.done();
        } else if (settings_.put_off(time)) {
            log(fmt::format("{}: can't be written and is tried again every {} s: {}", what,
                            PendingSettings::kBetween.count(), text_of(reply)));
        }
    }
    return true;
}

std::size_t Scheduling::take_jobs() {
    Records& records = plugin_.records();
    std::size_t count = 0;
    for (Job& job : run_.learnt.jobs) count += records.tell(now(), std::move(job)) ? 1 : 0;
    run_.learnt.jobs.clear();
    if (!run_.learnt.ids && !run_.learnt.subjobs) return count;
    std::vector<std::string> gone;
    for (const auto& [id, job] : records.jobs()) {
        const auto& there = array_of(id).empty() ? run_.learnt.ids : run_.learnt.subjobs;
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
    jobs_since_ = run_.learnt.asked;
    return count;
}

void Scheduling::learnt() {
    looked_ = Clock::now();
    if (!run_.learnt.error.empty()) {
        log(fmt::format("sched {}: the server can't be asked for its objects: {}", current_,
                        run_.learnt.error));
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
    // The server reports such changes to no scheduler, and they may concern any of them.
    if (count > 0 && (run_.look_only || run_.altered_known)) want_cycles(current_);
    run_.look_only = run_.look_only && count == 0 && !first && settings_.next(looked_) == nullptr;
    // Query a vnode that wasn't known. If a check is due, query everything.
    if (stale_vnodes_ || stale_server_) return learn(false);
    if (!was_check && looked_ - checked_ > kCheck) return learn(true);
    if (run_.look_only) return end();
    decide();
}

}  // namespace pbs::openpbs
