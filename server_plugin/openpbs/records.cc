#include "server_plugin/openpbs/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "cluster/deal.h"
#include "cluster/exec_vnode.h"
#include "ifl/pbs_error.h"
#include "ifl/program_requests.h"
#include "server_plugin/openpbs/settings.h"
#include "values/find.h"
#include "values/indices.h"

namespace pbs::openpbs {
namespace {

using cluster::array_of;
using cluster::c_str;
using cluster::has_index;
using cluster::number_in;
using cluster::Place;

// Calls `changed` for each element of `after` that is new or differs from the one in `before`, and `gone` for
// each element of `before` that `after` lacks. Returns the number of calls.
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

std::string name_of(const auto& names, std::uint64_t handle) {
    const auto found = names.find(handle);
    return found == names.end() ? std::string() : found->second;
}

// Returns whether the job is a subjob that counts against its array's max_run_subjobs. A suspended subjob
// doesn't count.
bool counts_in_array(const Job& job) {
    return !array_of(job.id).empty() && job.runs() && job.state != 'S' && job.state != 'U';
}

// Returns whether the server counts the job as running or exiting, and not as waiting.
bool counts_as_running(const Job& job) {
    return job.state == 'R' || job.state == 'E' || job.state == 'S' || job.state == 'U';
}

// Returns the places without the amounts that the job has given back.
std::vector<Place> without(std::vector<Place> held, const std::vector<Place>& released) {
    for (std::size_t i = 0; i < held.size() && i < released.size(); ++i)
        for (const auto& [resource, amount] : released[i].amounts) {
            const auto has = held[i].amounts.find(resource);
            if (has == held[i].amounts.end()) continue;
            has->second -= amount;
            if (has->second <= 0) held[i].amounts.erase(has);
        }
    return held;
}

}  // namespace

std::optional<cluster::ResourceRef> Records::resource(std::string_view name) const {
    const auto found = resources_.find(name);
    if (found == resources_.end()) return std::nullopt;
    return found->second;
}
std::optional<cluster::ResourceRef> Records::resource(std::uint32_t id) const {
    return id < resource_names_.size() ? resource(std::string_view(resource_names_[id])) : std::nullopt;
}
std::uint64_t Records::queue(std::string_view name) const {
    const auto found = queues_.find(name);
    return found == queues_.end() ? 0 : found->second;
}
std::uint64_t Records::vnode(std::string_view name) const {
    const auto found = vnodes_.find(name);
    return found == vnodes_.end() ? 0 : found->second;
}
std::string_view Records::vnode_name(std::uint64_t vnode) const {
    const auto found = vnode_names_.find(vnode);
    return found == vnode_names_.end() ? std::string_view() : std::string_view(found->second);
}

// ---- The server's objects.

void Records::tell(const Server& server) {
    others_see_jobs_ = server.others_see_jobs;
    plugin_.tell(builder_.server(server));
}

void Records::tell(const std::string& name, const Sched& sched) {
    const std::string directives = directives_of(name, sched.settings);
    plugin_.tell(builder_.sched(name, sched, directives));
}

void Records::tell(const std::string& name, const Queue& queue) {
    std::uint64_t& handle = queues_[name];
    if (handle == 0) handle = ++last_handle_;
    queue_names_[handle] = name;
    plugin_.tell(builder_.queue(handle, name, queue));
}

void Records::tell(const std::string& name, const ResourceDefinition& resource) {
    const auto [known, made] = resources_.try_emplace(name);
    if (made) {
        known->second.id = static_cast<std::uint32_t>(resource_names_.size());
        resource_names_.push_back(name);
    }
    known->second.name = known->first;
    known->second.kind = resource.kind;
    known->second.on_vnodes = resource.consumable && !cluster::is_text(resource.kind);
    pbs_resource_record record{};
    record.size = sizeof record;
    record.id = known->second.id;
    record.kind = resource.kind;
    record.name = c_str(name);
    record.consumable = resource.consumable ? 1 : 0;
    record.host_level = resource.host_level ? 1 : 0;
    plugin_.tell(record);
}

void Records::tell(const std::string& name, const Vnode& vnode) {
    std::uint64_t& handle = vnodes_[name];
    if (handle == 0) handle = ++last_handle_;
    vnode_names_[handle] = name;
    plugin_.tell(builder_.vnode(handle, name, vnode));
}

void Records::tell(const std::string& id, const Reservation& reservation) {
    Reserved& reserved = reservations_[id];
    if (reserved.handle == 0) {
        reserved.handle = ++last_handle_;
        job_names_[reserved.handle] = id;
    }
    if (!reservation.asked || reservation.nodes.empty() || reserved.end == 0) {
        reserved.start = reservation.start;
        reserved.end = reservation.end;
    }
    reserved.chunks = cluster::value_in(reservation.requested, "select");
    cluster::ReservationStanding standing;
    standing.handle = reserved.handle;
    standing.id = id;
    standing.queue = queue(reservation.queue);
    standing.asked = reservation.asked && reservation.error.empty();
    standing.start = reservation.start;
    standing.end = reservation.end;
    standing.held_start = reserved.start;
    standing.held_end = reserved.end;
    standing.requested = reservation.requested;
    if (!reservation.later_select.empty()) {
        standing.later_requested = reservation.requested;
        standing.later_requested.insert_or_assign("select", reservation.later_select);
    }
    standing.places = cluster::places_of(reservation.nodes, *this);
    for (const Reservation::Occurrence& one : reservation.later)
        standing.later.push_back({one.start, one.end, cluster::places_of(one.nodes, *this), one.asked});
    standing.keeps_first = reservation.keeps_first;
    standing.soonest = reservation.soonest;
    plugin_.tell(builder_.reservation(standing));
}

std::size_t Records::tell(const Site& before, const Site& after) {
    std::size_t count = 0;
    const auto tell_one = [this](const std::string& name, const auto& object) { tell(name, object); };
    count += compare(before.resources, after.resources, tell_one,
                     [this](const std::string& name) { plugin_.resource_removed(name); });
    if (!(before.server == after.server)) {
        tell(after.server);
        ++count;
    }
    count += compare(before.scheds, after.scheds, tell_one,
                     [this](const std::string& name) { plugin_.sched_removed(name); });
    count += compare(before.queues, after.queues, tell_one, [this](const std::string& name) {
        plugin_.queue_removed(queues_[name]);
        queue_names_.erase(queues_[name]);
        queues_.erase(name);
    });
    count += compare(before.vnodes, after.vnodes, tell_one, [this](const std::string& name) {
        plugin_.vnode_removed(vnodes_[name]);
        vnode_names_.erase(vnodes_[name]);
        vnodes_.erase(name);
    });
    count += compare(before.reservations, after.reservations, tell_one, [this](const std::string& id) {
        plugin_.reservation_removed(reservations_[id].handle);
        job_names_.erase(reservations_[id].handle);
        reservations_.erase(id);
    });
    return count;
}

// ---- Reports about jobs.

// Returns the job's state as pbs_plugin.h defines it. An array counts as one waiting job while one of its
// subjobs may start.
char Records::state_of(const Job& job) const {
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

void Records::tell_job(std::int64_t now, const Job& job) {
    std::uint64_t& handle = job_handles_[job.id];
    if (handle == 0) {
        handle = ++last_handle_;
        job_names_[handle] = job.id;
    }
    cluster::JobStanding standing;
    standing.handle = handle;
    standing.queue = queue(job.queue);
    standing.state = state_of(job);
    const auto failed = not_preemptable_.find(job.id);
    const bool is_spared = !spared_.empty() && array_of(job.id) == spared_;
    if (is_spared || (failed != not_preemptable_.end() && failed->second.stime == job.stime))
        standing.flags |= PBS_JOB_NOT_PREEMPTABLE;
    if (job.is_extended(now)) standing.flags |= PBS_JOB_EXTENDED;
    standing.elapsed = cluster::amount_of(PBS_RES_DURATION, cluster::value_in(job.used, "walltime"));
    standing.soft_walltime = job.soft_walltime(now);
    standing.has_run = job.state == 'B' || job.stime != 0 || running_subjobs_.contains(job.id);
    std::vector<Place> places;
    std::vector<Place> kept;
    if (job.runs()) {
        places = cluster::places_of(job.exec_vnode, *this);
        if (job.preempted() && !job.released.empty()) {
            std::vector<Place> released = cluster::places_of(job.released, *this);
            kept = without(std::move(places), released);
            places = std::move(released);
        } else if (job.state == 'S' && !job.preempted()) {
            // An operator has suspended the job. Other jobs may use the amounts that it has given back, so
            // leave these amounts out.
            places = job.released.empty()
                         ? std::vector<Place>()
                         : without(std::move(places), cluster::places_of(job.released, *this));
        }
    }
    standing.places = &places;
    standing.kept = &kept;
    plugin_.tell(now, builder_.job(job, standing));
}

// Reports the array of this subjob again, because the number of the array's running subjobs has changed.
void Records::tell_array(std::int64_t now, const std::string& subjob) {
    const auto array = jobs_.find(array_of(subjob));
    if (array != jobs_.end()) tell_job(now, array->second);
}

void Records::count_in_array(const std::string& array, int sign) {
    if ((running_subjobs_[array] += sign) <= 0) running_subjobs_.erase(array);
}

void Records::count_in_queue(const Job& job, int sign) {
    InQueue& queue = in_queues_[job.queue];
    if (job.array) queue.arrays += sign;
    auto& list = counts_as_running(job) ? queue.running : queue.waiting;
    if (sign > 0)
        list.insert(job.id);
    else
        list.erase(job.id);
    if (queue.waiting.empty() && queue.running.empty()) in_queues_.erase(job.queue);
}

// Forgets those subjobs of the array that have run and now wait again: the server doesn't describe waiting
// subjobs, and the array stands for them.
void Records::forget_waiting(std::int64_t now, const Job& array) {
    std::vector<std::string> waiting;
    for (auto job = jobs_.lower_bound(array.id.substr(0, array.id.find('[') + 1));
         job != jobs_.end() && number_in(job->first) == number_in(array.id); ++job)
        if (array_of(job->first) == array.id && has_index(array.queued, values::index_in(job->first)))
            waiting.push_back(job->first);
    for (const std::string& id : waiting) (void)forget(now, id);
}

// Returns the seconds for which decisions have suspended the job; the server's stime doesn't take them into
// account. If the job ran before this process began, they are computed: the time since the job's start minus
// its used walltime. Mom reports the used walltime only every few minutes, so a small difference doesn't
// count.
std::int64_t Records::suspended_seconds(std::int64_t now, const Job& job, const Job* before) {
    constexpr std::int64_t kReported = 600;
    std::int64_t more = 0;
    if (before == nullptr) {
        const std::int64_t used =
            cluster::amount_of(PBS_RES_DURATION, cluster::value_in(job.used, "walltime"));
        const std::int64_t missing = now - job.stime - used;
        if (job.state == 'R' && used > 0 && missing > kReported) more = missing;
    } else if (before->preempted() && !job.preempted() && before->preempted_at != 0) {
        more = now - before->preempted_at;
    }
    if (more > 0) suspended_for_[job.id] += more;
    const auto found = suspended_for_.find(job.id);
    return found == suspended_for_.end() ? 0 : found->second;
}

bool Records::tell(std::int64_t now, Job job) {
    if (job.state == 'F' || job.state == 'X' || job.state == 'M') return forget(now, job.id);
    const std::string array = array_of(job.id);
    // Forget a waiting subjob: only its array is reported.
    if (!array.empty() && !job.runs()) return forget(now, job.id);
    if (job.array) forget_waiting(now, job);
    const auto known = jobs_.find(job.id);
    const bool is_new = known == jobs_.end();
    // Until mom has reported the job's start, take the instant at which the job was sent to mom.
    if (job.runs() && job.stime == 0)
        job.stime = !is_new && known->second.runs() ? known->second.stime : now;
    else if (job.runs())
        job.stime += suspended_seconds(now, job, is_new ? nullptr : &known->second);
    else
        suspended_for_.erase(job.id);
    const bool counted = !is_new && counts_in_array(known->second);
    const bool same = !is_new && known->second.is_like(job);
    // Also report a running job of which only the use, places or start have changed. In this case the
    // function returns false: it isn't a change that calls for a cycle.
    const auto running = [](const Job& one) { return std::tie(one.used, one.stime, one.exec_vnode); };
    const std::string id = job.id;
    const auto failed = not_preemptable_.find(id);
    const bool may_be_preempted =
        failed != not_preemptable_.end() && (!same || (job.begun() && !failed->second.begun));
    const bool told = same && !may_be_preempted && (!job.runs() || running(known->second) == running(job));
    if (may_be_preempted) not_preemptable_.erase(failed);
    const bool moved = is_new || known->second.queue != job.queue ||
                       counts_as_running(known->second) != counts_as_running(job);
    if (moved && !is_new) count_in_queue(known->second, -1);
    Job& kept = jobs_[id];
    kept = std::move(job);
    if (moved) count_in_queue(kept, 1);
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
    count_in_queue(known->second, -1);
    jobs_.erase(known);
    not_preemptable_.erase(job);
    suspended_for_.erase(job);
    soft_.erase(job);
    const auto handle = job_handles_.find(job);
    plugin_.job_removed(now, handle->second);
    job_names_.erase(handle->second);
    job_handles_.erase(handle);
    if (counted) {
        count_in_array(array_of(job), -1);
        tell_array(now, job);
    }
    return true;
}

std::string Records::explained(const std::string& job) const {
    // The given id may lack the server's name.
    const auto whole = [&](const std::string& id) {
        if (id.find('.') != id.npos) return jobs_.find(id);
        const auto next = jobs_.lower_bound(id + '.');
        return next != jobs_.end() && next->first.starts_with(id + '.') ? next : jobs_.end();
    };
    const auto known = whole(job);
    if (known != jobs_.end()) return known->first;
    const std::string array = array_of(job);
    const auto waits = array.empty() ? jobs_.end() : whole(array);
    return waits != jobs_.end() && has_index(waits->second.queued, values::index_in(job)) ? waits->first
                                                                                          : job;
}

bool Records::may_see(const std::string& user, const std::string& job) const {
    const auto known = jobs_.find(explained(job));
    return others_see_jobs_ || known == jobs_.end() || known->second.submitter == user;
}

std::string Records::starts(std::int64_t now, const Decision& decision) {
    const auto found = jobs_.find(explained(decision.job));
    if (found == jobs_.end()) return {};
    Job job = found->second;
    if (job.array) {
        job.id = !array_of(decision.job).empty()
                     ? decision.job
                     : cluster::subjob_id(job.id, cluster::first_index(job.queued));
        job.array = false;
        found->second.queued = cluster::without_index(found->second.queued, values::index_in(job.id));
    }
    job.state = 'R';
    job.exec_vnode = decision.exec_vnode;
    job.stime = now;
    if (!decision.queue.empty()) job.queue = decision.queue;
    for (const auto& [name, value] : decision.set_resources) {
        job.requested[name] = value;
        if (name == "select") job.chunks = value;
    }
    std::string id = job.id;
    tell(now, std::move(job));
    return id;
}

ifl::Result<std::vector<Place>> Records::named_places(const Job& job, std::string_view location) const {
    const auto fail = [](int code, std::string text) {
        return tl::unexpected(ifl::Error{code, std::move(text)});
    };
    if (auto few = ifl::check_tested_places(std::ranges::count(location, '+') + 1); !few)
        return tl::unexpected(few.error());
    const auto shares = cluster::parse_exec_vnode(location);
    if (!shares) return tl::unexpected(shares.error());
    bool bare = true;
    for (const cluster::Share& share : *shares) {
        if (vnode(share.vnode) == 0) return fail(PBSE_UNKNODE, fmt::format("Unknown node {}", share.vnode));
        for (const std::string_view text : share.amounts) {
            const std::string_view name = cluster::amount_in(text).resource;
            if (!resource(name)) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", name));
        }
        bare = bare && share.amounts.empty();
    }
    std::vector<Place> places = cluster::places_of(location, *this);
    if (!bare) return places;
    if (auto few = ifl::check_tested_places(cluster::chunk_count(job.chunks)); !few)
        return tl::unexpected(few.error());
    return cluster::deal_chunks(job.chunks, places, *this);
}

std::vector<std::pair<std::string, std::int64_t>> Records::extend(std::int64_t now) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    for (auto& [id, known] : soft_) {
        const Job& job = jobs_.at(id);
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

JobCount Records::count(const std::string& queue) const {
    const auto found = in_queues_.find(queue);
    if (found == in_queues_.end()) return {};
    return {static_cast<std::int64_t>(found->second.running.size()),
            static_cast<std::int64_t>(found->second.waiting.size())};
}

bool Records::has_arrays(const std::string& queue) const {
    const auto found = in_queues_.find(queue);
    return found != in_queues_.end() && found->second.arrays > 0;
}

std::vector<std::string> Records::missing(const std::string& queue,
                                          const std::optional<std::set<std::string>>& running,
                                          const std::optional<std::set<std::string>>& waiting) const {
    std::vector<std::string> out;
    const auto found = in_queues_.find(queue);
    if (found == in_queues_.end()) return out;
    const auto add = [&](const std::unordered_set<std::string>& known,
                         const std::optional<std::set<std::string>>& there) {
        if (there)
            std::ranges::copy_if(known, std::back_inserter(out),
                                 [&](const std::string& id) { return !there->contains(id); });
    };
    add(found->second.running, running);
    add(found->second.waiting, waiting);
    return out;
}

std::vector<std::string> Records::queues_with_jobs() const {
    std::vector<std::string> out;
    for (const auto& [name, queue] : in_queues_) out.push_back(name);
    return out;
}

const Job* Records::job(const std::string& id) const {
    return values::find_in(jobs_, id);
}

std::uint64_t Records::handle(const std::string& job) const {
    const auto found = job_handles_.find(job);
    return found == job_handles_.end() ? 0 : found->second;
}

// ---- Translation of decisions.

std::vector<std::string> Records::exec_vnodes_of(std::span<const Place> places,
                                                 std::string_view chunks) const {
    const auto write = [this](std::uint32_t id, std::int64_t amount) -> std::pair<std::string, std::string> {
        const auto known = resource(id);
        if (!known) return {};
        return {std::string(known->name), cluster::amount_text(known->kind, amount)};
    };
    std::vector<std::string> all;
    do {
        // A place may begin another occurrence. The places before it belong to one occurrence.
        const auto next = std::find_if(places.begin() + (places.empty() ? 0 : 1), places.end(),
                                       [](const Place& place) { return place.next_occurrence; });
        const auto count = static_cast<std::size_t>(next - places.begin());
        all.push_back(cluster::exec_vnode_text(places.first(count), write, chunks));
        places = places.subspan(count);
    } while (!places.empty());
    return all;
}

std::string Records::exec_vnode(const Job& job, std::span<const Place> places) const {
    return exec_vnodes_of(places, job.chunks).front();
}

Decision Records::decision(const cluster::Decision& in) const {
    Decision out;
    out.kind = in.kind;
    out.job = name_of(job_names_, in.job);
    const Job* known = job(out.job);
    out.queue = name_of(queue_names_, in.queue);
    if (known != nullptr && known->queue == out.queue) out.queue.clear();
    out.text = in.text;
    for (const auto& [id, value] : in.set_resources)
        out.set_resources.emplace_back(resource_names_[id], value);
    const auto reserved = reservations_.find(out.job);
    out.exec_vnodes = exec_vnodes_of(in.places, known != nullptr                  ? known->chunks
                                                : reserved != reservations_.end() ? reserved->second.chunks
                                                                                  : std::string());
    out.exec_vnode = out.exec_vnodes.front();
    out.start = in.start;
    out.for_job = name_of(job_names_, in.for_job);
    out.methods = in.methods;
    out.after_preemptions = in.after_preemptions;
    out.together = in.together;
    out.accrue_type = in.accrue_type;
    return out;
}

std::vector<Decision> Records::decisions(const client::Decisions& in) const {
    std::vector<Decision> out;
    out.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) out.push_back(decision(in.at(i, *this)));
    return out;
}

}  // namespace pbs::openpbs
