#include "server_plugin/openpbs/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/owned.h"
#include "server_plugin/openpbs/scheduling_terms.h"
#include "values/counts.h"
#include "values/indices.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

using cluster::array_of;

constexpr std::chrono::seconds kCheck{600};  // the interval of checks, which query all objects
constexpr std::uint64_t kSettingsTicket = ~std::uint64_t{0};
constexpr std::size_t kNamesAtOnce = 500;  // most jobs in one query by ids

// Reads the number of a queue's jobs from its state_count: "Transit:0 Queued:3 Held:0 Waiting:0 Running:1
// Exiting:0 Begun:0".
JobCount count_of(std::string_view text) {
    JobCount out;
    for (const auto& [state, count] : values::counts(text))
        (state == "Running" || state == "Exiting" ? out.running : out.waiting) += count;
    return out;
}

}  // namespace

// ---- Learning about the server: queries, and their answers.

void Scheduling::note_error(const ifl::Result<ifl::Reply>& reply) {
    if (!reply) run_.learnt.error = reply.error().message;
    if (reply && reply->code != 0) run_.learnt.error = text_of(*reply);
}

void Scheduling::ask_about(ifl::RequestType type, ifl::Attributes wanted, const std::string& extend,
                           ifl::ObjectSink sink) {
    current().client->ask(
        type, ifl::Status{{}, std::move(wanted)}, extend,
        [this](const ifl::Result<ifl::Reply>& reply) {
            // A server without vnodes answers PBSE_NONODES, which isn't an error.
            if (!reply || reply->code != PBSE_NONODES) note_error(reply);
        },
        std::move(sink));
}

void Scheduling::ask_jobs(ifl::Attributes criteria, ifl::Attributes wanted, ifl::ObjectSink sink) {
    current().client->ask(
        ifl::RequestType::select_status, ifl::Select{std::move(criteria), std::move(wanted)}, kSubjobsToo,
        [this](const ifl::Result<ifl::Reply>& reply) { note_error(reply); }, std::move(sink));
}

void Scheduling::learn(bool all) {
    using Type = ifl::RequestType;
    run_.learnt = Learnt{};
    run_.search = Search{};
    run_.learnt.asked = std::time(nullptr);
    look_began_ = Clock::now();
    look_soon_ = false;
    // From here on, note requests that alter jobs anew: the answers to these queries may lack their changes.
    run_.altered_known = std::exchange(altered_, std::nullopt).has_value();
    const bool whole_server = std::exchange(stale_server_, false) || all;
    const bool whole_vnodes = std::exchange(stale_vnodes_, false) || all;
    phase_ = all && known_ ? Phase::checking : Phase::learning;
    // Query jobs first. The server answers in order. So if settings were changed before a job was submitted,
    // the changed settings arrive with the job or before it.
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
    ifl::Attributes of_queues = cluster::queue_attributes();
    of_queues.push_back(attribute("state_count", {}, {}));
    ask_about(Type::status_queue, std::move(of_queues), {}, [this](const ifl::ObjectView& object) {
        const std::string name(object.name);
        run_.learnt.queues[name] = cluster::queue_of(object.attributes);
        run_.learnt.counts[name] = count_of(cluster::value_of(object.attributes, "state_count"));
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
        // A mom changes the state of its vnodes, and `sharing` when it reads its definitions of vnodes.
        ask_about(Type::status_node,
                  ifl::Attributes{attribute("state", {}, {}), attribute("sharing", {}, {})}, {},
                  [this](const ifl::ObjectView& object) {
                      run_.learnt.seen[std::string(object.name)] = cluster::vnode_of(object.attributes);
                  });
    }
}

void Scheduling::learn_jobs(bool all) {
    const auto take_job = [this](const ifl::ObjectView& object) {
        run_.learnt.jobs.push_back(cluster::job_of(object.name, object.attributes, run_.learnt.asked));
    };
    if (all) {
        undescribed_.clear();
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
}

// Takes over the answers about all objects except jobs. Returns the number of objects that have changed.
std::size_t Scheduling::take_objects() {
    const auto is_there = [this](const std::string& name) {
        if (run_.learnt.vnodes) {
            const auto vnode = run_.learnt.vnodes->find(name);
            return vnode != run_.learnt.vnodes->end() && vnode->second.state == PBS_VNODE_FREE;
        }
        const auto seen = run_.learnt.seen.find(name);
        return seen != run_.learnt.seen.end() && seen->second.state == PBS_VNODE_FREE;
    };
    // Any scheduler may confirm an unconfirmed reservation, on the vnodes of its own partition. So give the
    // reservation's queue the partition of the present scheduler.
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
    for (const auto& [name, seen] : run_.learnt.seen) {
        const auto known = site_.vnodes.find(name);
        if (known == site_.vnodes.end()) {
            stale_vnodes_ = true;
        } else {
            changed = changed || known->second.state != seen.state;
            // The vnode was down, or its mom has read its definitions anew. The mom may have reported other
            // resources, so query all attributes of vnodes.
            if ((known->second.state & ~seen.state & PBS_VNODE_DOWN) != 0 ||
                known->second.sharing != seen.sharing)
                stale_vnodes_ = true;
        }
    }
    if (!run_.learnt.vnodes && run_.learnt.seen.size() != site_.vnodes.size()) stale_vnodes_ = true;
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
    if (run_.learnt.vnodes) {
        after.vnodes = *run_.learnt.vnodes;
        follow_other_vnodes(after);
    }
    for (const auto& [name, seen] : run_.learnt.seen)
        if (const auto known = after.vnodes.find(name); known != after.vnodes.end())
            known->second.state = seen.state;
    const std::size_t count = plugin_.records().tell(site_, after);
    take_over(site_, after);
    site_ = std::move(after);
    return count;
}

void Scheduling::take_over(const Site& before, const Site& after) {
    // From now on the server keeps an estimate only for a job with `topjob`, and has just forgotten all
    // others.
    if (after.server.clears_estimates && !before.server.clears_estimates) estimates_forgotten_ = true;
    for (ChangedFolder& folder : changed_folders(before, after)) folders_.push_back(std::move(folder));
    if (!after.shared_amounts.empty() && after.shared_amounts != before.shared_amounts)
        log(after.shared_amounts);
    for (const auto& [name, sched] : after.scheds) {
        const auto was = before.scheds.find(name);
        if (!sched.own || (was != before.scheds.end() && was->second.not_acted_on == sched.not_acted_on))
            continue;
        for (const std::string& one : sched.not_acted_on)
            log(text_of(*find_not_acted_on(PBS_OBJ_SCHED, one), name));
    }
    for (ChangedSetting& change : changed_settings(before, after)) {
        // Skip a preempt_order that the plugin itself has set, to tell the server how to preempt.
        const auto given = orders_given_.find(change.sched);
        if (change.name == "preempt_order" && given != orders_given_.end() &&
            std::ranges::find(given->second, change.value) != given->second.end())
            continue;
        settings_.add(std::move(change));
    }
}

// Checks that a scheduler's folder exists, because the server accepts any path. If the folder doesn't exist,
// sets the scheduler's comment, which says so, and turns its scheduling off, like pbs_sched.
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

// Writes pending settings to the policies. Returns false if the plugin is busy with one of them: call it
// again.
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

// Forgets a job that is gone. Returns 1 if the plugin knew the job, else 0.
std::size_t Scheduling::forget(const std::string& job) {
    estimates_.erase(job);
    failed_.erase(job);
    for (auto& [name, one] : scheds_)
        for (const auto kind : {Decision::Kind::comment, Decision::Kind::estimate})
            one.untold.erase(kind, job);
    return plugin_.records().forget(now(), job) ? 1 : 0;
}

// Returns whether the server hadn't yet handled a program's start of the job when the last query began, so
// that the query's answer may not show the start.
bool Scheduling::has_begun_since(const std::string& job) const {
    const auto found = begun_.find(job);
    return found != begun_.end() && found->second >= look_began_;
}

// Returns whether the server may have described the job before it carried a program's start out: the job
// itself, or an array of which a subjob was started.
bool Scheduling::is_outdated(const Job& job) const {
    if (job.runs()) return false;
    if (!job.array) return has_begun_since(job.id);
    return std::ranges::any_of(
        begun_, [&](const auto& one) { return has_begun_since(one.first) && array_of(one.first) == job.id; });
}

void Scheduling::starts(const Decision& decision) {
    std::erase_if(begun_, [this](const auto& one) { return one.second < look_began_; });
    begun_[plugin_.records().starts(now(), decision)] = Clock::time_point::max();
}

void Scheduling::handled(const std::string& job) {
    if (const auto found = begun_.find(job); found != begun_.end()) found->second = Clock::now();
    noticed(PBS_OBJ_JOB);
}

void Scheduling::not_started(const std::string& job, const Job& before) {
    begun_.erase(job);
    noticed(PBS_OBJ_JOB);
    // `before` may be out of date: the job may have been changed since.
    if (const auto one = scheds_.find(current_); one != scheds_.end() && one->second.is_registered())
        refresh(waiting_id(job));
    Records& records = plugin_.records();
    const Job* noted = records.job(job);
    // Leave the job alone if a query has described it since.
    if (noted == nullptr || noted->substate != before.substate) return;
    if (!before.array) {
        (void)records.tell(now(), before);
    } else if (const Job* known = records.job(before.id)) {
        Job array = *known;
        array.queued += fmt::format("{}{}", array.queued.empty() ? "" : ",", values::index_in(job));
        (void)records.tell(now(), std::move(array));  // the array stands for its waiting subjobs
    }
}

std::size_t Scheduling::take_jobs() {
    Records& records = plugin_.records();
    std::size_t count = 0;
    for (Job& job : run_.learnt.jobs)
        if (!is_outdated(job)) count += records.tell(now(), std::move(job)) ? 1 : 0;
    run_.learnt.jobs.clear();
    if (!run_.learnt.ids && !run_.learnt.subjobs) return count;
    std::vector<std::string> gone;
    for (const auto& [id, job] : records.jobs()) {
        const auto& there = array_of(id).empty() ? run_.learnt.ids : run_.learnt.subjobs;
        if (there && !there->contains(id) && !has_begun_since(id)) gone.push_back(id);
    }
    run_.learnt.ids.reset();
    run_.learnt.subjobs.reset();
    for (const std::string& id : gone) count += forget(id);
    return count;
}

std::size_t Scheduling::take_learnt() {
    if (run_.search.step != Search::Step::none) return take_jobs();
    const std::size_t count = take_objects() + take_jobs();
    jobs_since_ = run_.learnt.asked;
    return count;
}

// ---- The search for jobs that are gone.

// Finds the queues in which the server counts fewer running or fewer waiting jobs than are known here, and
// queries the ids of these jobs. A larger count doesn't mean that a job is gone: a job may have been
// submitted since the query.
void Scheduling::compare_counts() {
    const Records& records = plugin_.records();
    run_.search.counts = std::move(run_.learnt.counts);
    for (const std::string& queue : records.queues_with_jobs()) run_.search.counts.try_emplace(queue);
    for (const auto& [queue, count] : run_.search.counts) {
        const JobCount known = records.count(queue);
        JobCount& undescribed = undescribed_[queue];
        if (count.running - known.running < undescribed.running) ask_ids(queue, true);
        const std::int64_t waiting = count.waiting - known.waiting;
        if (waiting < undescribed.waiting) ask_ids(queue, false);
        if (records.has_arrays(queue)) undescribed.waiting = std::max(undescribed.waiting, waiting);
    }
}

void Scheduling::ask_ids(const std::string& queue, bool running) {
    const auto ids = [this, queue, running]() -> std::set<std::string>& {
        Search::Ids& of_queue = run_.search.queues[queue];
        auto& asked = running ? of_queue.running : of_queue.waiting;
        return asked ? *asked : asked.emplace();
    };
    // ids() has noted the queue for the search. If the server has deleted the queue, there are no ids to
    // query.
    if (ids(); !run_.learnt.queues.contains(queue)) return;
    ifl::Attributes criteria{attribute("destination", {}, queue)};
    if (running) {
        // Put 'E' first: if 'R' is the first letter, the server leaves suspended jobs out.
        criteria.push_back(attribute("job_state", {}, "ER", ifl::Op::eq));
        return ask_jobs(std::move(criteria), {attribute("job_state", {}, {})},
                        [ids](const ifl::ObjectView& object) { ids().emplace(object.name); });
    }
    current().client->ask(ifl::RequestType::select_jobs, ifl::Select{std::move(criteria), {}}, {},
                          [this, ids](const ifl::Result<ifl::Reply>& reply) {
                              note_error(reply);
                              if (!reply) return;
                              if (const auto* found = std::get_if<ifl::SelectReply>(&reply->body))
                                  ids().insert(found->jobs.begin(), found->jobs.end());
                          });
}

// Queries missing jobs by their ids, because some of them may have changed from waiting to running, or back.
void Scheduling::ask_missing() {
    Search& search = run_.search;
    for (const auto& [queue, ids] : search.queues)
        for (std::string& id : plugin_.records().missing(queue, ids.running, ids.waiting))
            search.missing.insert(std::move(id));
    for (auto next = search.missing.begin(); next != search.missing.end();) {
        std::string names;
        for (std::size_t i = 0; i < kNamesAtOnce && next != search.missing.end(); ++i, ++next)
            names += (i == 0 ? "" : ",") + *next;
        current().client->ask(
            ifl::RequestType::status_job, ifl::Status{names, cluster::job_attributes()}, {},
            [this](const ifl::Result<ifl::Reply>& reply) {
                // The server has none of these jobs, which isn't an error.
                if (reply && (reply->code == PBSE_UNKJOBID || reply->code == PBSE_HISTJOBID)) return;
                note_error(reply);
            },
            [this](const ifl::ObjectView& object) {
                run_.search.missing.erase(std::string(object.name));
                run_.learnt.jobs.push_back(
                    cluster::job_of(object.name, object.attributes, run_.learnt.asked));
            });
    }
}

std::size_t Scheduling::forget_missing() {
    std::size_t count = 0;
    for (const std::string& id : run_.search.missing)
        if (!has_begun_since(id)) count += forget(id);
    for (const auto& [queue, ids] : run_.search.queues) {
        const JobCount has = run_.search.counts[queue];
        const JobCount known = plugin_.records().count(queue);
        if (ids.running) undescribed_[queue].running = std::max<std::int64_t>(0, has.running - known.running);
        if (ids.waiting) undescribed_[queue].waiting = std::max<std::int64_t>(0, has.waiting - known.waiting);
    }
    return count;
}

// Goes on with the search after the answers to its last step. Returns whether it has made further queries.
bool Scheduling::look_for_gone() {
    if (!run_.learnt.error.empty()) return false;
    Search& search = run_.search;
    switch (search.step) {
        case Search::Step::none:
            compare_counts();
            search.step = Search::Step::ids;
            break;
        case Search::Step::ids:
            ask_missing();
            search.step = Search::Step::names;
            break;
        case Search::Step::names:
            run_.changes += forget_missing();
            return false;
    }
    return current().client->unanswered() > 0 || (!search.queues.empty() && look_for_gone());
}

void Scheduling::learnt() {
    looked_ = Clock::now();
    if (run_.learnt.error.empty()) {
        run_.changes += take_learnt();
        if (look_for_gone()) return;
    }
    if (!run_.learnt.error.empty()) {
        log(fmt::format("sched {}: the server can't be asked for its objects: {}", current_,
                        run_.learnt.error));
        known_ = false;
        return end();
    }
    const bool was_check = phase_ == Phase::checking;
    const bool first = !known_;
    const std::size_t count = std::exchange(run_.changes, 0);
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
    // Only a query has found these changes. They may concern any scheduler, so all schedulers need a cycle.
    if (count > 0 && (run_.look_only || run_.altered_known)) want_cycles(current_);
    run_.look_only = run_.look_only && count == 0 && !first && settings_.next(looked_) == nullptr;
    // Query new vnodes with all attributes. If a check is due, query everything.
    if (stale_vnodes_ || stale_server_) return learn(false);
    if (!was_check && looked_ - checked_ > kCheck) return learn(true);
    if (run_.look_only) return end();
    decide();
}

}  // namespace pbs::openpbs
