#include "server_plugin/host/state/state.h"

#include "server_plugin/host/state/preemption.h"
#include "values/find.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {
namespace {

void add_to(Usage& usage, const Job& job, const Amounts& amounts, int64_t by) {
    for (const auto& [resource, amount] : amounts) usage.assigned[resource] += by * amount;
    if (by > 0) {
        usage.jobs.insert(job.handle);
    } else {
        usage.jobs.erase(job.handle);
    }
}

void index(Handles& set, const Job& job, bool in) {
    if (in) {
        set.insert(set.end(), job.handle);  // a new job's handle is the largest
    } else {
        set.erase(job.handle);
    }
}

}  // namespace

Amounts counted_amounts(const Attributes& attributes, const ResourceTable& resources) {
    Amounts amounts;
    for (const AttributeValue& value : attributes.all_of("Resource_List")) {
        const Resource* resource = resources.find(value.resource());
        if (resource == nullptr || !is_amount(resource->type)) continue;
        if (resource->consumable() || (resource->flags & resource_queue_sum) != 0)
            amounts[resource->id] = amount_of(resource->type, value.value());
    }
    return amounts;
}

bool State::is_this_host(std::string_view name) const {
    return same_name(name, host_name) || same_name(name, short_host_name());
}

bool State::is_this_server(std::string_view name) const {
    name = name.substr(0, name.find(':'));
    const auto is = [&](std::string_view own) {
        return same_name(name, own) ||
               same_name(name.substr(0, name.find('.')), own.substr(0, own.find('.')));
    };
    return is(server_name) || is(host_name) || same_name(name, "localhost");
}

std::optional<JobName> State::job_name(std::string_view id) const {
    auto name = parse_job_name(id);
    const bool dot = id.substr(0, id.find('@')).find('.') != std::string_view::npos;
    if (name && dot && !is_this_server(name->server)) return std::nullopt;
    return name;
}

std::optional<uint64_t> State::sequence_in(std::string_view id) const {
    const auto name = job_name(id);
    if (!name || !name->indices.empty()) return std::nullopt;
    return name->kind == JobName::Kind::array ? array_number(name->number) : name->number;
}

std::string State::job_id(uint64_t sequence) const {
    return host::job_id(sequence, server_name);
}

const Job* State::job(std::string_view id) const {
    const auto name = job_name(id);
    if (!name) return foreign_job(id);
    if (name->kind == JobName::Kind::subjobs) return nullptr;
    if (name->kind == JobName::Kind::job) return job_of_sequence(name->number);
    const uint64_t array = array_number(name->number);
    return name->kind == JobName::Kind::array ? job_of_sequence(array)
                                              : subjob(array, name->indices.front().first);
}

const Job* State::foreign_job(std::string_view id) const {
    if (foreign_.empty()) return nullptr;
    const auto at = foreign_.find(values::lowered(std::string(id.substr(0, id.find('@')))));
    return at == foreign_.end() ? nullptr : job(at->second);
}

const Job* State::job_of_sequence(uint64_t sequence) const {
    const auto at = handle_of_sequence_.find(sequence);
    return at == handle_of_sequence_.end() ? nullptr : job(at->second);
}

const Job* State::job(uint64_t handle) const {
    return values::find_in(jobs_, handle);
}

const Job* State::job_told_as(uint64_t handle) const {
    if (const auto other = told_.find(handle); other != told_.end()) return job(other->second);
    const Job* known = job(handle);
    return known != nullptr && known->told_as() == handle ? known : nullptr;
}

const Job* State::subjob(uint64_t array, int64_t index) const {
    const auto& all = subjobs(array);
    const auto at = all.find(index);
    return at == all.end() ? nullptr : job(at->second);
}

const std::map<int64_t, uint64_t>& State::subjobs(uint64_t array) const {
    static const std::map<int64_t, uint64_t> none;
    const auto at = subjobs_.find(array);
    return at == subjobs_.end() ? none : at->second;
}

const Queue* State::queue(std::string_view name) const {
    return values::find_in(queues_, name.substr(0, name.find('@')));
}
const Queue* State::queue(uint64_t handle) const {
    const auto at = queue_names_.find(handle);
    return at == queue_names_.end() ? nullptr : queue(at->second);
}
const Node* State::node(std::string_view name) const {
    return values::find_in(nodes_, name);
}
const Node* State::node(uint64_t handle) const {
    const auto at = node_names_.find(handle);
    return at == node_names_.end() ? nullptr : node(at->second);
}
const Sched* State::sched(std::string_view name) const {
    return values::find_in(scheds_, name);
}

std::string State::reservation_id(uint64_t number) const {
    return "R" + host::job_id(number, server_name);
}

// Finds a reservation by "R12", "R12.server" or "R12@server"; a standing one has an S in place of the R.
const Reservation* State::reservation(std::string_view id) const {
    if (id.empty()) return nullptr;
    std::string_view rest = id.substr(1, id.find('@') - 1);
    const auto number = values::take_number<uint64_t>(rest);
    if (!number || (!rest.empty() && (rest.front() != '.' || !is_this_server(rest.substr(1)))))
        return nullptr;
    const auto at = reservations_.find(*number);
    const bool is_it = at != reservations_.end() && same_name(at->second.id.substr(0, 1), id.substr(0, 1));
    return is_it ? &at->second : nullptr;
}

const Reservation* State::reservation(uint64_t handle) const {
    for (const auto& [number, reservation] : reservations_)
        if (reservation.handle == handle) return &reservation;
    return nullptr;
}

const Reservation* State::reservation_of_queue(uint64_t queue_handle) const {
    if (reservations_.empty()) return nullptr;
    const Queue* const of = queue(queue_handle);
    if (of == nullptr) return nullptr;
    for (const auto& [number, reservation] : reservations_)
        if (reservation.queue_name() == of->name) return &reservation;
    return nullptr;
}

void State::put(Reservation reservation) {
    handle_in_use(reservation.handle);
    std::string_view id = std::string_view(reservation.id).substr(1);
    const uint64_t number = values::take_number<uint64_t>(id).value_or(0);
    if (const auto at = reservations_.find(number); at != reservations_.end())
        index_nodes(number, at->second, false);
    index_nodes(number, reservation, true);
    reservations_.insert_or_assign(number, std::move(reservation));
}

void State::erase_reservation(uint64_t handle) {
    std::erase_if(reservations_, [&](const auto& one) {
        if (one.second.handle != handle) return false;
        index_nodes(one.first, one.second, false);
        return true;
    });
}

void State::index_nodes(uint64_t number, const Reservation& reservation, bool in) {
    const auto index = [&](uint64_t node) {
        if (in) {
            reservations_on_[node].insert(number);
        } else if (const auto at = reservations_on_.find(node); at != reservations_on_.end()) {
            at->second.erase(number);
            if (at->second.empty()) reservations_on_.erase(at);
        }
    };
    for (const Place& place : reservation.places) index(place.node);
    for (const uint64_t node : reservation.later_nodes) index(node);
}

const std::set<uint64_t>& State::reservations_on(uint64_t node) const {
    static const std::set<uint64_t> none;
    const auto at = reservations_on_.find(node);
    return at == reservations_on_.end() ? none : at->second;
}

void State::count(const Job& job, int64_t by) {
    index(queue_jobs_[job.queue], job, by > 0);
    index(waiting_, job, by > 0 && job.state == job_state::kWaiting);
    index(running_, job, by > 0 && job.running());
    index(finished_, job, by > 0 && job.history());
    counts_.add(job.state, by);
    queue_counts_[job.queue].add(job.state, by);
    entity_counts_.count(job, resources, by);
    index(awaiting_, job, by > 0 && is_awaiting(job));
    const std::vector<Place> kept = is_preempted(job) ? held_places(job, resources) : std::vector<Place>();
    const std::vector<Place>& held = is_preempted(job) ? kept : job.places;
    if (held.empty()) return;
    Amounts total = is_preempted(job) ? Amounts() : counted_amounts(job.attributes, resources);
    for (const Place& place : held) {
        add_to(node_usage_[place.node], job, place.amounts, by);
        if (!is_preempted(job)) continue;
        for (const auto& [resource, amount] : place.amounts) total[resource] += amount;
    }
    add_to(queue_usage_[job.queue], job, total, by);
    add_to(server_usage_, job, total, by);
}

void State::index_names(const Job& job, bool in) {
    if (job.is_subjob()) {
        auto& all = subjobs_[job.array];
        if (in) {
            all[job.index] = job.handle;
        } else {
            all.erase(job.index);
            if (all.empty()) subjobs_.erase(job.array);
        }
    } else if (is_foreign(job.sequence)) {
        if (in) {
            foreign_[values::lowered(job.id)] = job.handle;
        } else {
            foreign_.erase(values::lowered(job.id));
        }
    }
    if (job.told == 0) return;
    // When a subjob starts, it takes over the handle by which the plugin knows its array, and the array gets
    // another one. The two jobs may be indexed in either order. So remove the handle's entry only if it leads
    // to this job.
    if (in) {
        told_[job.told] = job.handle;
    } else if (const auto at = told_.find(job.told); at != told_.end() && at->second == job.handle) {
        told_.erase(at);
    }
}

void State::set_comment(uint64_t handle, std::string_view comment, int64_t mtime) {
    static const AttributeDef& def = *job_table().find("comment");
    const auto at = jobs_.find(handle);
    if (at == jobs_.end()) return;
    at->second.mtime = mtime;
    if (comment.empty())
        at->second.attributes.unset(def, {});
    else
        at->second.attributes.put(AttributeValue(def, {}, comment, texts_));
}

void State::put(Job job) {
    job.shrink(texts_);
    if (job.state != job_state::kQueued && job.state != job_state::kBegun) estimates_.erase(job.handle);
    const bool is_last = jobs_.empty() || jobs_.rbegin()->first < job.handle;
    const auto at = is_last ? jobs_.end() : jobs_.find(job.handle);
    if (at != jobs_.end()) {
        count(at->second, -1);
        index_names(at->second, false);
        count(job, 1);
        index_names(job, true);
        at->second = std::move(job);
        return;
    }
    enter(job);
    jobs_.emplace_hint(at, job.handle, std::move(job));
}

void State::put_loaded(std::map<uint64_t, Job>::node_type job) {
    enter(job.mapped());
    job.key() = job.mapped().handle;
    jobs_.insert(jobs_.end(), std::move(job));
}

// Enters a job into the counts and indexes, but not into the table of jobs itself.
void State::enter(const Job& job) {
    count(job, 1);
    index_names(job, true);
    handle_in_use(job.handle);
    if (job.is_subjob()) last_subjob_ = std::max(last_subjob_, job.sequence);
    if (is_foreign(job.sequence)) last_foreign_ = std::max(last_foreign_, job.sequence);
    handle_of_sequence_.insert_or_assign(handle_of_sequence_.end(), job.sequence, job.handle);
}

void State::put(Queue queue) {
    setup_changed();
    handle_in_use(queue.handle);
    queue_names_[queue.handle] = queue.name;
    const std::string name = queue.name;
    queues_.insert_or_assign(name, std::move(queue));
}

void State::put(Node node) {
    setup_changed();
    handle_in_use(node.handle);
    node_names_[node.handle] = node.name;
    const std::string name = node.name;
    const auto at = nodes_.find(name);
    if (at != nodes_.end()) --node_counts_.at(at->second.state);
    ++node_counts_.at(node.state);
    nodes_.insert_or_assign(name, std::move(node));
}

void State::put(Sched sched) {
    const std::string name = sched.name;
    scheds_.insert_or_assign(name, std::move(sched));
}

void State::erase_job(uint64_t handle) {
    const auto at = jobs_.find(handle);
    if (at == jobs_.end()) return;
    count(at->second, -1);
    index_names(at->second, false);
    handle_of_sequence_.erase(at->second.sequence);
    estimates_.erase(handle);
    jobs_.erase(at);
}

void State::set_estimate(uint64_t job, Estimate estimate) {
    const auto at = jobs_.find(job);
    if (at == jobs_.end() || !at->second.expects_start() || estimate.start == 0) {
        estimates_.erase(job);
    } else {
        estimates_.insert_or_assign(job, std::move(estimate));
    }
}

const Estimate* State::estimate(uint64_t job) const {
    return values::find_in(estimates_, job);
}

void State::exchange(Tables& tables) {
    setup_changed();
    std::swap(server, tables.server);
    std::swap(resources, tables.resources);
    queues_.swap(tables.queues);
    queue_names_.swap(tables.queue_names);
    nodes_.swap(tables.nodes);
    node_names_.swap(tables.node_names);
    scheds_.swap(tables.scheds);
    node_counts_.swap(tables.node_counts);
    exchanged_ = !exchanged_;
}

void State::forget_queue(uint64_t handle) {
    queue_counts_.erase(handle);
    queue_usage_.erase(handle);
    queue_jobs_.erase(handle);
}
void State::forget_node(uint64_t handle) {
    node_usage_.erase(handle);
}

void State::erase_queue(std::string_view name) {
    setup_changed();
    const auto at = queues_.find(name);
    if (at == queues_.end()) return;
    queue_names_.erase(at->second.handle);
    if (!exchanged_) forget_queue(at->second.handle);
    queues_.erase(at);
}

void State::erase_node(std::string_view name) {
    setup_changed();
    const auto at = nodes_.find(name);
    if (at == nodes_.end()) return;
    node_names_.erase(at->second.handle);
    if (!exchanged_) forget_node(at->second.handle);
    --node_counts_.at(at->second.state);
    nodes_.erase(at);
}

void State::erase_sched(std::string_view name) {
    const auto at = scheds_.find(name);
    if (at != scheds_.end()) scheds_.erase(at);
}

const StateCounts& State::queue_counts(uint64_t queue) const {
    static const StateCounts none;
    const auto at = queue_counts_.find(queue);
    return at == queue_counts_.end() ? none : at->second;
}

const Usage& State::node_usage(uint64_t node) const {
    static const Usage none;
    const auto at = node_usage_.find(node);
    return at == node_usage_.end() ? none : at->second;
}

const Usage& State::queue_usage(uint64_t queue) const {
    static const Usage none;
    const auto at = queue_usage_.find(queue);
    return at == queue_usage_.end() ? none : at->second;
}

const Handles& State::queue_jobs(uint64_t queue) const {
    static const Handles none;
    const auto at = queue_jobs_.find(queue);
    return at == queue_jobs_.end() ? none : at->second;
}

}  // namespace pbs::host
