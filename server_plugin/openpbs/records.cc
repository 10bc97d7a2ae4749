#include "server_plugin/openpbs/records.h"

#include <fmt/format.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "server_plugin/openpbs/amount.h"
#include "server_plugin/openpbs/settings.h"

namespace pbs::openpbs {
namespace {

pbs_str str(std::string_view text) {
    return {text.data(), text.size()};
}
std::string_view view(pbs_str text) {
    return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

// Calls `changed` for each entry that `before` hasn't got as it is, and `gone` for each that `after` hasn't.
template <class Map, class Changed, class Gone>
std::size_t compare(const Map& before, const Map& after, const Changed& changed, const Gone& gone) {
    std::size_t count = 0;
    for (const auto& entry : after) {
        const auto found = before.find(entry.first);
        if (found != before.end() && found->second == entry.second) continue;
        changed(entry.first, entry.second);
        ++count;
    }
    for (const auto& [name, value] : before) {
        if (after.contains(name)) continue;
        gone(name);
        ++count;
    }
    return count;
}

std::string_view value_in(const ResourceList& list, const char* name) {
    const auto found = list.find(name);
    return found == list.end() ? std::string_view() : std::string_view(found->second);
}

std::string name_of(const auto& names, std::uint64_t handle) {
    const auto found = names.find(handle);
    return found == names.end() ? std::string() : found->second;
}

// Does the subjob count against max_run_subjobs? While it is suspended it doesn't.
bool counts_in_array(const SiteJob& job) {
    return !array_of(job.id).empty() && job.runs() && job.state != 'S' && job.state != 'U';
}

}  // namespace

void Records::clear() {
    lists_.clear();
    entity_limits_.clear();
}

Records::Amounts Records::amounts(const ResourceList& list) {
    std::vector<pbs_amount>& out = lists_.emplace_back();
    for (const auto& [name, value] : list) {
        const auto id = resources_.find(name);
        if (id == resources_.end()) continue;
        const int kind = definitions_.at(name).kind;
        pbs_amount amount{};
        amount.resource = id->second;
        amount.number = amount_of(kind, value);
        if (is_text(kind)) amount.text = str(value);
        out.push_back(amount);
    }
    return {out.data(), out.size()};
}

// ---- The server's objects.

// The limits that a server and a queue have alike. The amounts live until clear().
template <class Record, class Limits>
void Records::set_limits(Record& record, const Limits& limits) {
    record.max_running = limits.max_running;
    record.max_user_run = limits.max_user_run;
    record.max_group_run = limits.max_group_run;
    const Amounts max = amounts(limits.max);
    record.resources_max = max.first;
    record.resources_max_count = max.count;
    const Amounts available = amounts(limits.available);
    record.resources_available = available.first;
    record.resources_available_count = available.count;
    for (const auto& entity : limits.entities) {
        const auto id = resources_.find(entity.resource);
        if (!entity.resource.empty() && id == resources_.end()) continue;
        const ifl::EntityLimit& limit = entity.limit;
        const bool each = limit.name == ifl::kGenericEntity || limit.name == ifl::kAllEntity;
        const int kind = entity.resource.empty() ? PBS_RES_LONG : definitions_.at(entity.resource).kind;
        pbs_entity_limit out{};
        out.entity = static_cast<std::int32_t>(std::string_view("ougp").find(limit.kind));
        out.resource = entity.resource.empty() ? PBS_LIMIT_ON_JOBS : id->second;
        out.name = str(each ? std::string_view() : std::string_view(limit.name));
        out.most = amount_of(kind, limit.most.value_or(""));
        out.soft = entity.soft ? 1 : 0;
        entity_limits_.push_back(out);
    }
    record.limits = entity_limits_.data();
    record.limit_count = entity_limits_.size();
}

void Records::tell(const SiteServer& server) {
    clear();
    others_see_jobs_ = server.others_see_jobs;
    pbs_server_record record{};
    record.size = sizeof record;
    record.name = str(server.name);
    record.host_name = str(server.host);
    set_limits(record, server.limits);
    record.backfill_depth = server.backfill_depth;
    record.job_sort_formula = str(server.job_sort_formula);
    record.suspend_releases = str(server.suspend_releases);
    record.counts_eligible_time = server.counts_eligible_time ? 1 : 0;
    record.node_group_key = str(server.node_group_key);
    record.node_group_enable = server.node_group_enable ? 1 : 0;
    table_.server_changed(table_.self, &record);
}

void Records::tell(const std::string& name, const SiteSched& sched) const {
    pbs_sched_record record{};
    record.size = sizeof record;
    record.name = str(name);
    record.scheduling = sched.scheduling ? 1 : 0;
    record.partition = str(sched.partition);
    record.sched_priv = str(sched.sched_priv);
    record.own = sched.own ? 1 : 0;
    const std::string directives = directives_of(name, sched.settings);
    record.directives = str(directives);
    table_.sched_changed(table_.self, &record);
}

void Records::tell(const std::string& name, const SiteQueue& queue) {
    clear();
    std::uint64_t& handle = queues_[name];
    if (handle == 0) handle = ++last_handle_;
    queue_names_[handle] = name;
    pbs_queue_record record{};
    record.size = sizeof record;
    record.queue = handle;
    record.name = str(name);
    if (queue.execution) record.flags |= PBS_QUEUE_EXECUTION;
    if (queue.started) record.flags |= PBS_QUEUE_STARTED;
    if (queue.enabled) record.flags |= PBS_QUEUE_ENABLED;
    if (queue.user_acl) record.flags |= PBS_QUEUE_USER_ACL;
    record.priority = queue.priority;
    set_limits(record, queue.limits);
    const Amounts min = amounts(queue.limits.min);
    record.resources_min = min.first;
    record.resources_min_count = min.count;
    std::vector<pbs_str> users;
    for (const std::string& user : queue.acl_users) users.push_back(str(user));
    record.acl_users = users.data();
    record.acl_user_count = users.size();
    record.partition = str(queue.partition);
    record.node_group_key = str(queue.node_group_key);
    record.backfill_depth = queue.backfill_depth;
    record.execution_type = queue.execution_type;
    table_.queue_changed(table_.self, &record);
}

void Records::tell(const std::string& name, const SiteResource& resource) {
    definitions_[name] = resource;
    const auto [known, made] =
        resources_.try_emplace(name, static_cast<std::uint32_t>(resource_names_.size()));
    if (made) resource_names_.push_back(name);
    pbs_resource_record record{};
    record.size = sizeof record;
    record.id = known->second;
    record.kind = resource.kind;
    record.name = str(name);
    record.consumable = resource.consumable ? 1 : 0;
    record.host_level = resource.host_level ? 1 : 0;
    table_.resource_defined(table_.self, &record);
}

void Records::tell(const std::string& name, const SiteVnode& vnode) {
    clear();
    std::uint64_t& handle = vnodes_[name];
    if (handle == 0) handle = ++last_handle_;
    vnode_names_[handle] = name;
    pbs_vnode_record record{};
    record.size = sizeof record;
    record.vnode = handle;
    record.name = str(name);
    record.host = str(vnode.host);
    record.state = vnode.state;
    record.priority = vnode.priority;
    const auto queue = queues_.find(vnode.queue);
    record.queue = queue == queues_.end() ? 0 : queue->second;
    record.partition = str(vnode.partition);
    const Amounts available = amounts(vnode.available);
    record.resources_available = available.first;
    record.resources_available_count = available.count;
    record.load_thousandths = -1;
    record.system_time_thousandths = -1;
    record.sharing = vnode.sharing;
    table_.vnode_changed(table_.self, &record);
}

bool Records::knows_reservations() const {
    return table_.size >= offsetof(pbs_plugin, reservation_removed) + sizeof table_.reservation_removed &&
           table_.reservation_changed != nullptr && table_.reservation_removed != nullptr;
}

void Records::tell(const std::string& id, const SiteReservation& reservation) {
    clear();
    Reserved& reserved = reservations_[id];
    if (reserved.handle == 0) {
        reserved.handle = ++last_handle_;
        job_names_[reserved.handle] = id;
    }
    if (!reservation.asked || reservation.nodes.empty() || reserved.end == 0) {
        reserved.start = reservation.start;
        reserved.end = reservation.end;
    }
    const auto queue = queues_.find(reservation.queue);
    pbs_reservation_record record{};
    record.size = sizeof record;
    record.reservation = reserved.handle;
    record.id = str(id);
    record.queue = queue == queues_.end() ? 0 : queue->second;
    record.state =
        reservation.asked && reservation.error.empty() ? PBS_RESERVATION_ASKED : PBS_RESERVATION_CONFIRMED;
    record.start = reservation.start;
    record.end = reservation.end;
    record.held_start = reserved.start;
    record.held_end = reserved.end;
    const Amounts requested = amounts(reservation.requested);
    record.requested = requested.first;
    record.requested_count = requested.count;
    ResourceList later_requested;
    if (!reservation.later_select.empty()) {
        later_requested = reservation.requested;
        later_requested["select"] = reservation.later_select;
    }
    const Amounts of_later = amounts(later_requested);
    record.later_requested = of_later.first;
    record.later_requested_count = of_later.count;
    const std::vector<pbs_place> places = places_of(shares_of(reservation.nodes));
    record.places = places.data();
    record.place_count = places.size();
    std::vector<std::vector<pbs_place>> places_later;
    std::vector<pbs_reservation_occurrence> later;
    for (const SiteReservation::Occurrence& one : reservation.later) {
        const auto& its = places_later.emplace_back(places_of(shares_of(one.nodes)));
        pbs_reservation_occurrence out{};
        out.start = one.start;
        out.end = one.end;
        out.places = its.data();
        out.place_count = its.size();
        out.asked = one.asked ? 1 : 0;
        later.push_back(out);
    }
    record.later = later.data();
    record.later_count = later.size();
    record.keeps_first = reservation.keeps_first ? 1 : 0;
    record.soonest = reservation.soonest ? 1 : 0;
    table_.reservation_changed(table_.self, &record);
}

std::size_t Records::tell(const Site& before, const Site& after) {
    std::size_t count = 0;
    const auto tell_one = [this](const std::string& name, const auto& object) { tell(name, object); };
    count += compare(before.resources, after.resources, tell_one, [this](const std::string& name) {
        if (table_.resource_removed != nullptr) table_.resource_removed(table_.self, str(name));
    });
    if (!(before.server == after.server)) {
        tell(after.server);
        ++count;
    }
    count += compare(before.scheds, after.scheds, tell_one,
                     [this](const std::string& name) { table_.sched_removed(table_.self, str(name)); });
    count += compare(before.queues, after.queues, tell_one, [this](const std::string& name) {
        table_.queue_removed(table_.self, queues_[name]);
        queue_names_.erase(queues_[name]);
        queues_.erase(name);
    });
    count += compare(before.vnodes, after.vnodes, tell_one, [this](const std::string& name) {
        table_.vnode_removed(table_.self, vnodes_[name]);
        vnode_names_.erase(vnodes_[name]);
        vnodes_.erase(name);
    });
    if (knows_reservations())
        count += compare(before.reservations, after.reservations, tell_one, [this](const std::string& id) {
            table_.reservation_removed(table_.self, reservations_[id].handle);
            job_names_.erase(reservations_[id].handle);
            reservations_.erase(id);
        });
    return count;
}

// ---- Jobs.

// As pbs_plugin.h has it. An array waits as one job while a subjob of it may start.
char Records::state_of(const SiteJob& job) const {
    if (!job.array) {
        if (job.state == 'U') return 'S';
        if (job.state != 'Q') return job.state;
        if (job.runs()) return 'R';
        return aside_.contains(job.id) ? 'A' : 'Q';
    }
    if (job.state != 'B' && job.state != 'Q') return job.state;
    if (aside_.contains(job.id)) return 'A';
    const auto running = running_subjobs_.find(job.id);
    const std::int64_t count = running == running_subjobs_.end() ? 0 : running->second;
    const bool may_start = !job.queued.empty() && (!job.most_running || count < *job.most_running);
    return may_start ? 'Q' : 'B';
}

std::vector<pbs_place> Records::places_of(const std::vector<VnodeShare>& shares) {
    std::vector<pbs_place> places;
    for (const VnodeShare& share : shares) {
        const auto vnode = vnodes_.find(share.vnode);
        if (vnode == vnodes_.end()) continue;
        const Amounts held = amounts(share.amounts);
        places.push_back({vnode->second, held.first, held.count});
    }
    return places;
}

std::vector<VnodeShare> Records::without(std::vector<VnodeShare> held,
                                         const std::vector<VnodeShare>& released) const {
    for (std::size_t i = 0; i < held.size() && i < released.size(); ++i)
        for (const auto& [name, amount] : released[i].amounts) {
            const auto has = held[i].amounts.find(name);
            const auto known = definitions_.find(name);
            if (has == held[i].amounts.end() || known == definitions_.end()) continue;
            const int kind = known->second.kind;
            const std::int64_t left =
                is_text(kind) ? 0 : amount_of(kind, has->second) - amount_of(kind, amount);
            if (left > 0)
                has->second = amount_text(kind, left);
            else
                held[i].amounts.erase(has);
        }
    return held;
}

void Records::tell_job(std::int64_t now, const SiteJob& job) {
    clear();
    const auto queue = queues_.find(job.queue);
    std::uint64_t& handle = job_handles_[job.id];
    if (handle == 0) {
        handle = ++last_handle_;
        job_names_[handle] = job.id;
    }
    pbs_job_record record{};
    record.size = sizeof record;
    record.job = handle;
    record.sequence = number_in(job.id);
    record.id = str(job.id);
    record.owner = str(job.owner);
    record.group = str(job.group);
    record.account = str(job.account);
    record.project = str(job.project);
    record.origin_queue = str(job.origin_queue.empty() ? job.queue : job.origin_queue);
    record.run_host = str(value_in(job.requested, "host"));
    record.queue = queue == queues_.end() ? 0 : queue->second;
    record.state = static_cast<unsigned char>(state_of(job));
    record.priority = job.priority;
    if (job.interactive) record.flags |= PBS_JOB_INTERACTIVE;
    if (job.rerunnable) record.flags |= PBS_JOB_RERUNNABLE;
    if (job.checkpointable) record.flags |= PBS_JOB_CHECKPOINTABLE;
    if (job.preempted()) record.flags |= PBS_JOB_PREEMPTED;
    const auto failed = not_preemptable_.find(job.id);
    const bool is_spared = !spared_.empty() && array_of(job.id) == spared_;
    if (is_spared || (failed != not_preemptable_.end() && failed->second.stime == job.stime))
        record.flags |= PBS_JOB_NOT_PREEMPTABLE;
    if (!job.runs() || job.preempted()) record.preempted_at = job.preempted_at;
    record.elapsed = amount_of(PBS_RES_DURATION, value_in(job.used, "walltime"));
    record.accrue_type = job.accrue_type;
    record.eligible_time = job.eligible_time;
    record.accrues_since = job.asked_at;
    if (!job.comment.empty()) record.flags |= PBS_JOB_HAS_COMMENT;
    record.ctime = job.ctime;
    record.qtime = job.qtime;
    record.etime = job.etime;
    record.stime = job.runs() ? job.stime : 0;
    record.mtime = job.mtime;
    record.walltime = job.walltime();
    record.soft_walltime = job.soft_walltime(now);
    if (job.is_extended(now)) record.flags |= PBS_JOB_EXTENDED;
    ResourceList asked = job.requested;
    if (!job.chunks.empty()) asked["select"] = job.chunks;
    const Amounts requested = amounts(asked);
    record.requested = requested.first;
    record.requested_count = requested.count;
    std::vector<pbs_place> places;
    std::vector<pbs_place> kept;
    if (job.runs()) {
        std::vector<VnodeShare> held = shares_of(job.exec_vnode);
        if (job.preempted() && !job.released.empty()) {
            const std::vector<VnodeShare> released = shares_of(job.released);
            kept = places_of(without(held, released));
            held = released;
        }
        places = places_of(held);
        const Amounts used = amounts(job.used);
        record.used = used.first;
        record.used_count = used.count;
    }
    record.places = places.data();
    record.place_count = places.size();
    record.kept = kept.data();
    record.kept_count = kept.size();
    table_.job_changed(table_.self, now, &record);
}

// The array of a subjob, whose number of running ones is another now.
void Records::tell_array(std::int64_t now, const std::string& subjob) {
    const auto array = jobs_.find(array_of(subjob));
    if (array != jobs_.end()) tell_job(now, array->second);
}

void Records::count_in_array(const std::string& array, int sign) {
    if ((running_subjobs_[array] += sign) <= 0) running_subjobs_.erase(array);
}

// The server doesn't describe subjobs that wait: of one that ran and waits again the array tells.
void Records::forget_waiting(std::int64_t now, const SiteJob& array) {
    std::vector<std::string> waiting;
    for (auto job = jobs_.lower_bound(array.id.substr(0, array.id.find('[') + 1));
         job != jobs_.end() && number_in(job->first) == number_in(array.id); ++job)
        if (array_of(job->first) == array.id && has_index(array.queued, index_in(job->first)))
            waiting.push_back(job->first);
    for (const std::string& id : waiting) (void)forget(now, id);
}

bool Records::tell(std::int64_t now, SiteJob job) {
    if (job.state == 'F' || job.state == 'X' || job.state == 'M') return forget(now, job.id);
    const std::string array = array_of(job.id);
    // A subjob that waits is the array's.
    if (!array.empty() && !job.runs()) return forget(now, job.id);
    if (job.array) forget_waiting(now, job);
    const auto known = jobs_.find(job.id);
    const bool is_new = known == jobs_.end();
    // The server knows when a job began once its mom has told: until then it is when it was sent to her.
    if (job.runs() && job.stime == 0) job.stime = !is_new && known->second.runs() ? known->second.stime : now;
    const bool counted = !is_new && counts_in_array(known->second);
    const bool same = !is_new && known->second.is_like(job);
    // What it has used, where and since when count, but are no news.
    const auto running = [](const SiteJob& one) { return std::tie(one.used, one.stime, one.exec_vnode); };
    const std::string id = job.id;
    const auto failed = not_preemptable_.find(id);
    const bool may_be_preempted =
        failed != not_preemptable_.end() && (!same || (job.begun() && !failed->second.begun));
    const bool told = same && !may_be_preempted && (!job.runs() || running(known->second) == running(job));
    if (may_be_preempted) not_preemptable_.erase(failed);
    SiteJob& kept = jobs_[id];
    kept = std::move(job);
    if (kept.runs() && kept.requested.contains("soft_walltime"))
        soft_.try_emplace(id, 0);
    else
        soft_.erase(id);
    if (told) return false;
    const bool counts = counts_in_array(kept);
    if (counts != counted) count_in_array(array, counts ? 1 : -1);
    tell_job(now, kept);
    if (counts != counted) tell_array(now, id);
    return !same || may_be_preempted;
}

bool Records::forget(std::int64_t now, const std::string& job) {
    const auto known = jobs_.find(job);
    if (known == jobs_.end()) return false;
    const bool counted = counts_in_array(known->second);
    jobs_.erase(known);
    not_preemptable_.erase(job);
    soft_.erase(job);
    const auto handle = job_handles_.find(job);
    table_.job_removed(table_.self, now, handle->second);
    job_names_.erase(handle->second);
    job_handles_.erase(handle);
    if (counted) {
        count_in_array(array_of(job), -1);
        tell_array(now, job);
    }
    return true;
}

std::string Records::explained(const std::string& job) const {
    // Users leave the server's name out.
    const auto whole = [&](const std::string& id) {
        if (id.find('.') != id.npos) return jobs_.find(id);
        const auto next = jobs_.lower_bound(id + '.');
        return next != jobs_.end() && next->first.starts_with(id + '.') ? next : jobs_.end();
    };
    const auto known = whole(job);
    if (known != jobs_.end()) return known->first;
    const std::string array = array_of(job);
    const auto waits = array.empty() ? jobs_.end() : whole(array);
    return waits != jobs_.end() && has_index(waits->second.queued, index_in(job)) ? waits->first : job;
}

bool Records::may_see(const std::string& user, const std::string& job) const {
    const auto known = jobs_.find(explained(job));
    return others_see_jobs_ || known == jobs_.end() || known->second.submitter == user;
}

std::string Records::starts(std::int64_t now, const Decision& decision) {
    const auto found = jobs_.find(decision.job);
    if (found == jobs_.end()) return {};
    SiteJob job = found->second;
    if (job.array) {
        job.id = subjob_id(job.id, first_index(job.queued));
        job.array = false;
        found->second.queued = without_first(found->second.queued);
    }
    job.state = 'R';
    job.exec_vnode = decision.exec_vnode;
    job.stime = now;
    if (!decision.queue.empty()) job.queue = decision.queue;
    for (const auto& [name, value] : decision.set_resources) job.requested[name] = value;
    std::string id = job.id;
    tell(now, std::move(job));
    return id;
}

std::vector<std::pair<std::string, std::int64_t>> Records::extend(std::int64_t now) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    for (auto& [id, known] : soft_) {
        const SiteJob& job = jobs_.at(id);
        const std::int64_t expected = job.soft_walltime(now);
        if (!job.is_extended(now) || std::exchange(known, expected) == expected) continue;
        tell_job(now, job);
        out.emplace_back(id, expected);
    }
    return out;
}

void Records::put_aside(std::int64_t now, const std::string& job) {
    const auto found = jobs_.find(job);
    if (found != jobs_.end() && aside_.insert(job).second) tell_job(now, found->second);
}

void Records::take_up(std::int64_t now, const std::function<bool(const std::string&)>& stays) {
    for (const std::string& job : std::exchange(aside_, {})) {
        const auto found = jobs_.find(job);
        if (found == jobs_.end()) continue;
        if (stays(job))
            aside_.insert(job);
        else
            tell_job(now, found->second);
    }
}

void Records::not_preemptable(std::int64_t now, const std::string& job) {
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return;
    not_preemptable_[job] = {found->second.stime, found->second.begun()};
    tell_job(now, found->second);
}

void Records::spare(std::int64_t now, const std::string& array) {
    const std::string before = std::exchange(spared_, array);
    if (before == array) return;
    for (const auto& [id, job] : jobs_)
        if (const std::string of = array_of(id); !of.empty() && (of == before || of == array))
            tell_job(now, job);
}

void Records::commented(const std::string& job, const std::string& comment) {
    if (const auto found = jobs_.find(job); found != jobs_.end()) found->second.comment = comment;
}

const SiteJob* Records::job(const std::string& id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

std::uint64_t Records::handle(const std::string& job) const {
    const auto found = job_handles_.find(job);
    return found == job_handles_.end() ? 0 : found->second;
}

// ---- Decisions.

std::vector<std::string> Records::exec_vnodes_of(const pbs_decision& in) const {
    const bool has_joined = in.size >= offsetof(pbs_decision, joined) + sizeof in.joined;
    const std::uint8_t* joined = has_joined ? in.joined : nullptr;
    std::vector<std::string> all(1);
    for (std::size_t i = 0; i < in.place_count; ++i) {
        const bool goes_on = joined != nullptr && joined[i] == 1;
        if (joined != nullptr && joined[i] == 2) all.emplace_back();
        std::string& out = all.back();
        out += out.empty() ? "(" : goes_on ? "+" : ")+(";
        out += name_of(vnode_names_, in.places[i].vnode);
        for (std::size_t j = 0; j < in.places[i].amount_count; ++j) {
            const pbs_amount& amount = in.places[i].amounts[j];
            if (amount.resource >= resource_names_.size()) continue;
            const std::string& name = resource_names_[amount.resource];
            const SiteResource& resource = definitions_.at(name);
            if (!resource.consumable || is_text(resource.kind)) continue;
            out += fmt::format(":{}={}", name, amount_text(resource.kind, amount.number));
        }
    }
    for (std::string& one : all)
        if (!one.empty()) one += ')';
    return all;
}

Decision Records::decision(const pbs_decision& in) const {
    Decision out;
    out.kind = in.kind;
    if (const auto job = job_names_.find(in.job); job != job_names_.end()) out.job = job->second;
    const SiteJob* known = job(out.job);
    out.queue = name_of(queue_names_, in.queue);
    if (known != nullptr && known->queue == out.queue) out.queue.clear();
    out.text = view(in.text);
    for (std::size_t i = 0; i < in.set_resource_count; ++i) {
        const pbs_amount& amount = in.set_resources[i];
        if (amount.resource >= resource_names_.size()) continue;
        const std::string& name = resource_names_[amount.resource];
        const int kind = definitions_.at(name).kind;
        out.set_resources.emplace_back(
            name, is_text(kind) ? std::string(view(amount.text)) : amount_text(kind, amount.number));
    }
    out.exec_vnodes = exec_vnodes_of(in);
    out.exec_vnode = out.exec_vnodes.front();
    if (in.kind == PBS_DECIDE_ESTIMATE || in.kind == PBS_DECIDE_CONFIRM) out.start = in.start;
    if (in.kind == PBS_DECIDE_PREEMPT) {
        if (const auto other = job_names_.find(in.for_job); other != job_names_.end())
            out.for_job = other->second;
        for (const std::uint8_t method : in.methods)
            if (method != 0) out.methods += static_cast<char>(method);
    }
    if (in.kind == PBS_DECIDE_RUN) out.after_preemptions = in.after_preemptions != 0;
    if (in.kind == PBS_DECIDE_ACCRUE) out.accrue_type = in.accrue_type;
    return out;
}

}  // namespace pbs::openpbs
