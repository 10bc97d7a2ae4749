#include "server_plugin/host/policy/plugin_records.h"

#include <tuple>

#include "ifl/attributes/entity_limits.h"
#include "ifl/attributes/execution_type.h"
#include "ifl/attributes/reservation_start.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/reservation_select.h"

namespace pbs::host {
namespace {

static_assert(ifl::execution_type_of("execution_prime") == PBS_EXECUTION_PRIME &&
              ifl::execution_type_of("execution_non_prime") == PBS_EXECUTION_NON_PRIME &&
              ifl::execution_type_of("execution_dedicated") == PBS_EXECUTION_DEDICATED);

// Rows of the table of jobs: values are found by them more quickly than by their names, and a start tells of
// all jobs.
struct ToldRows {
    static const AttributeDef& row(std::string_view name) { return *job_table().find(name); }
    const AttributeDef& euser = row("euser");
    const AttributeDef& egroup = row("egroup");
    const AttributeDef& account = row("Account_Name");
    const AttributeDef& project = row("project");
    const AttributeDef& priority = row("Priority");
    const AttributeDef& interactive = row("interactive");
    const AttributeDef& rerunable = row("Rerunable");
    const AttributeDef& comment = row("comment");
    const AttributeDef& not_preemptable = row("not_preemptable");
    const AttributeDef& sched_preempted = row("sched_preempted");
    const AttributeDef& accrues_as = row("accrues_as");
    const AttributeDef& eligible_before = row("eligible_before");
    const AttributeDef& accrues_since = row("accrues_since");
};

}  // namespace

pbs_resource_record resource_record(const Resource& resource) {
    pbs_resource_record record{};
    record.size = sizeof record;
    record.id = resource.id;
    record.kind = static_cast<int32_t>(resource.type);
    record.name = as_pbs_str(resource.name);
    record.consumable = resource.consumable() || (resource.flags & resource_queue_sum) != 0 ? 1 : 0;
    record.host_level = (resource.flags & resource_host) != 0 ? 1 : 0;
    return record;
}

void RecordBuilder::clear() {
    lists_.clear();
    texts_.clear();
    acl_.clear();
    places_.clear();
    occurrences_.clear();
    limits_.clear();
}

std::string_view RecordBuilder::keep(std::string text) {
    return texts_.emplace_back(std::move(text));
}

std::pair<const pbs_amount*, size_t> RecordBuilder::amounts(const Attributes& attributes,
                                                            std::string_view name) {
    auto& list = lists_.emplace_back();
    for (const AttributeValue& value : attributes.all_of(name)) {
        const Resource* resource = state_.resources.find(value.resource());
        if (resource == nullptr) continue;
        pbs_amount amount{};
        amount.resource = resource->id;
        amount.number = amount_of(resource->type, value.value());
        if (resource->type == Type::text || resource->type == Type::list)
            amount.text = as_pbs_str(value.value());
        list.push_back(amount);
    }
    return {list.data(), list.size()};
}

std::pair<const pbs_amount*, size_t> RecordBuilder::amounts(const Amounts& amounts) {
    auto& list = lists_.emplace_back();
    for (const auto& [id, number] : amounts) {
        pbs_amount amount{};
        amount.resource = id;
        amount.number = number;
        list.push_back(amount);
    }
    return {list.data(), list.size()};
}

std::pair<const pbs_amount*, size_t> RecordBuilder::requested(const Attributes& attributes) {
    const auto all = amounts(attributes, "Resource_List");
    const Resource* select = state_.resources.find("select");
    const std::string_view chunks = attributes.text("schedselect");
    for (pbs_amount& amount : lists_.back())
        if (select != nullptr && amount.resource == select->id && !chunks.empty())
            amount.text = as_pbs_str(chunks);
    return all;
}

void RecordBuilder::add_places(const std::vector<Place>& places) {
    for (const Place& place : places) {
        pbs_place out{};
        out.vnode = place.node;
        std::tie(out.amounts, out.amount_count) = amounts(place.amounts);
        places_.push_back(out);
    }
}

// Of what is set in either way: as limits on entities, or on each user and group.
void RecordBuilder::add_limits(const Attributes& attributes) {
    static constexpr std::string_view kLetters = "ougp";  // in the order of enum pbs_entity_kind
    const auto add = [&](char letter, std::string_view name, const AttributeValue& value, int64_t most,
                         bool soft) {
        pbs_entity_limit limit{};
        limit.entity = static_cast<int32_t>(kLetters.find(letter));
        limit.name = as_pbs_str(name);
        const Resource* resource = state_.resources.find(value.resource());
        limit.resource = resource == nullptr ? PBS_LIMIT_ON_JOBS : resource->id;
        limit.most = most;
        limit.soft = soft ? 1 : 0;
        limits_.push_back(limit);
    };
    for (const std::string_view name : {"max_run", "max_run_res", "max_run_soft", "max_run_res_soft"})
        for (const AttributeValue& value : attributes.all_of(name)) {
            const Resource* resource = state_.resources.find(value.resource());
            const Type type = resource == nullptr ? Type::integer : resource->type;
            for (const ifl::EntityLimit& limit :
                 ifl::parse_entity_limits(value.value()).value_or(std::vector<ifl::EntityLimit>())) {
                const bool each = limit.name == ifl::kGenericEntity || limit.name == ifl::kAllEntity;
                add(limit.kind, each ? std::string_view() : keep(limit.name), value,
                    amount_of(type, limit.most.value_or("")), name.ends_with("_soft"));
            }
        }
    for (const auto& [name, letter] :
         {std::pair("max_user_res", 'u'), std::pair("max_group_res", 'g'),
          std::pair("max_user_run_soft", 'u'), std::pair("max_group_run_soft", 'g'),
          std::pair("max_user_res_soft", 'u'), std::pair("max_group_res_soft", 'g')})
        for (const AttributeValue& value : attributes.all_of(name)) {
            const Resource* resource = state_.resources.find(value.resource());
            const Type type = resource == nullptr ? Type::integer : resource->type;
            add(letter, {}, value, amount_of(type, value.value()), std::string_view(name).ends_with("_soft"));
        }
}

const pbs_server_record& RecordBuilder::server() {
    clear();
    const Attributes& attributes = state_.server;
    server_ = {};
    server_.size = sizeof server_;
    server_.name = as_pbs_str(state_.server_name);
    server_.host_name = as_pbs_str(state_.host_name);
    server_.max_running = attributes.integer("max_running", -1);
    server_.max_user_run = attributes.integer("max_user_run", -1);
    server_.max_group_run = attributes.integer("max_group_run", -1);
    std::tie(server_.resources_max, server_.resources_max_count) = amounts(attributes, "resources_max");
    std::tie(server_.resources_available, server_.resources_available_count) =
        amounts(attributes, "resources_available");
    server_.backfill_depth = attributes.integer("backfill_depth", -1);
    server_.job_sort_formula = as_pbs_str(attributes.text("job_sort_formula"));
    server_.suspend_releases = as_pbs_str(attributes.text("restrict_res_to_release_on_suspend"));
    server_.node_group_key = as_pbs_str(attributes.text("node_group_key"));
    server_.node_group_enable = attributes.boolean("node_group_enable", false) ? 1 : 0;
    add_limits(attributes);
    server_.limits = limits_.data();
    server_.limit_count = limits_.size();
    server_.counts_eligible_time = counts_eligible_time(state_.server) ? 1 : 0;
    server_.eligible_since = eligible_since(state_);
    return server_;
}

const pbs_sched_record& RecordBuilder::sched(const Sched& sched) {
    clear();
    sched_ = {};
    sched_.size = sizeof sched_;
    sched_.name = as_pbs_str(sched.name);
    sched_.scheduling = sched.attributes.boolean("scheduling", false) ? 1 : 0;
    sched_.partition = as_pbs_str(sched.attributes.text("partition"));
    sched_.sched_priv = as_pbs_str(sched.attributes.text("sched_priv"));
    return sched_;
}

const pbs_queue_record& RecordBuilder::queue(const Queue& queue) {
    clear();
    const Attributes& attributes = queue.attributes;
    queue_ = {};
    queue_.size = sizeof queue_;
    queue_.queue = queue.handle;
    queue_.name = as_pbs_str(queue.name);
    if (queue.execution()) queue_.flags |= PBS_QUEUE_EXECUTION;
    if (queue.started()) queue_.flags |= PBS_QUEUE_STARTED;
    if (queue.enabled()) queue_.flags |= PBS_QUEUE_ENABLED;
    if (attributes.boolean("acl_user_enable", false)) queue_.flags |= PBS_QUEUE_USER_ACL;
    queue_.priority = static_cast<int32_t>(attributes.integer("Priority", 0));
    queue_.max_running = attributes.integer("max_running", -1);
    queue_.max_user_run = attributes.integer("max_user_run", -1);
    queue_.max_group_run = attributes.integer("max_group_run", -1);
    std::tie(queue_.resources_max, queue_.resources_max_count) = amounts(attributes, "resources_max");
    std::tie(queue_.resources_min, queue_.resources_min_count) = amounts(attributes, "resources_min");
    std::tie(queue_.resources_available, queue_.resources_available_count) =
        amounts(attributes, "resources_available");
    for (std::string& entry : attributes.list("acl_users"))
        acl_.push_back(as_pbs_str(keep(std::move(entry))));
    queue_.acl_users = acl_.data();
    queue_.acl_user_count = acl_.size();
    queue_.partition = as_pbs_str(attributes.text("partition"));
    queue_.backfill_depth = attributes.integer("backfill_depth", -1);
    queue_.execution_type = ifl::execution_type_of(attributes.text("execution_type"));
    queue_.node_group_key = as_pbs_str(attributes.text("node_group_key"));
    add_limits(attributes);
    queue_.limits = limits_.data();
    queue_.limit_count = limits_.size();
    return queue_;
}

const pbs_vnode_record& RecordBuilder::node(const Node& node, const MachineLoad& load) {
    clear();
    node_ = {};
    node_.size = sizeof node_;
    node_.vnode = node.handle;
    node_.name = as_pbs_str(node.name);
    node_.host = as_pbs_str(node.attributes.text("Mom"));
    node_.state = node.state;
    node_.priority = static_cast<int32_t>(node.attributes.integer("Priority", 0));
    const Queue* queue = state_.queue(node.attributes.text("queue"));
    node_.queue = queue == nullptr ? 0 : queue->handle;
    node_.partition = as_pbs_str(node.attributes.text("partition"));
    std::tie(node_.resources_available, node_.resources_available_count) =
        amounts(node.attributes, "resources_available");
    node_.load_thousandths = load.average;
    node_.system_time_thousandths = load.system_time;
    node_.load_at = load.at;
    node_.max_load_thousandths = load.max;
    if (load.busy) node_.state |= PBS_VNODE_BUSY;
    return node_;
}

const pbs_job_record& RecordBuilder::job(const Job& job) {
    clear();
    const Attributes& attributes = job.attributes;
    static const ToldRows rows;
    const auto has = [&](const AttributeDef& row) { return !attributes.all_of(row).empty(); };
    const auto text = [&](const AttributeDef& row) {
        const auto values = attributes.all_of(row);
        return values.empty() ? std::string_view() : values.front().value();
    };
    const auto number = [&](const AttributeDef& row, int64_t otherwise) {
        const auto values = attributes.all_of(row);
        return values.empty() ? otherwise : amount_of(row.type, values.front().value());
    };
    job_ = {};
    job_.size = sizeof job_;
    job_.job = job.told_as();
    job_.sequence = job.number();
    job_.id = as_pbs_str(job.id);
    job_.owner = as_pbs_str(has(rows.euser) ? text(rows.euser) : job.owner());
    job_.group = as_pbs_str(text(rows.egroup));
    job_.account = as_pbs_str(text(rows.account));
    job_.project = as_pbs_str(text(rows.project));
    job_.origin_queue = as_pbs_str(keep(environment_value(job, "PBS_O_QUEUE")));
    job_.run_host = as_pbs_str(attributes.text("Resource_List", "host"));
    job_.queue = job.queue;
    job_.state = static_cast<unsigned char>(state_for_plugin(job));
    job_.priority = static_cast<int32_t>(number(rows.priority, 0));
    if (has(rows.interactive)) job_.flags |= PBS_JOB_INTERACTIVE;
    if ((!has(rows.rerunable) || text(rows.rerunable) == "True")) job_.flags |= PBS_JOB_RERUNNABLE;
    if (has(rows.comment)) job_.flags |= PBS_JOB_HAS_COMMENT;
    if (state_.checkpoints && attributes.text("Checkpoint") != "n") job_.flags |= PBS_JOB_CHECKPOINTABLE;
    if (is_preempted(job)) job_.flags |= PBS_JOB_PREEMPTED;
    if (job.elsewhere) job_.flags |= PBS_JOB_ELSEWHERE | PBS_JOB_NOT_PREEMPTABLE;
    if (text(rows.not_preemptable) == "True" || is_preempting(job)) job_.flags |= PBS_JOB_NOT_PREEMPTABLE;
    job_.preempted_at = job.running() && !is_preempted(job) ? 0 : number(rows.sched_preempted, 0);
    job_.elapsed = elapsed_seconds(job);
    job_.ctime = job.ctime;
    job_.qtime = job.qtime;
    job_.etime = job.etime;
    job_.accrue_type = static_cast<int32_t>(number(rows.accrues_as, PBS_ACCRUE_INITIAL));
    job_.eligible_time = number(rows.eligible_before, 0);
    job_.accrues_since = number(rows.accrues_since, 0);
    job_.stime = job.stime == 0 ? 0 : job.stime + suspended_seconds(job);
    job_.mtime = job.mtime;
    const AttributeValue* walltime = attributes.find("Resource_List", "walltime");
    job_.walltime = walltime == nullptr ? -1 : amount_of(Type::duration, walltime->value());
    std::tie(job_.requested, job_.requested_count) = requested(attributes);
    if (job.running()) std::tie(job_.used, job_.used_count) = amounts(attributes, "resources_used");
    if (is_preempted(job))
        add_places(released_places(job, state_.resources));
    else
        add_places(job.places);
    job_.place_count = places_.size();
    if (is_preempted(job)) add_places(held_places(job, state_.resources));
    job_.kept_count = places_.size() - job_.place_count;
    job_.places = places_.data();
    job_.kept = places_.data() + job_.place_count;
    return job_;
}

const pbs_reservation_record& RecordBuilder::reservation(const Reservation& reservation) {
    clear();
    const Attributes& attributes = reservation.attributes;
    const Queue* queue = state_.queue(reservation.queue_name());
    reservation_ = {};
    reservation_.size = sizeof reservation_;
    reservation_.reservation = reservation.handle;
    reservation_.id = as_pbs_str(reservation.id);
    reservation_.queue = queue == nullptr ? 0 : queue->handle;
    reservation_.state = awaits_answer(reservation) ? PBS_RESERVATION_ASKED : PBS_RESERVATION_CONFIRMED;
    reservation_.start = attributes.integer("asked_start", reservation.start());
    reservation_.end = attributes.integer("asked_end", reservation.end());
    reservation_.held_start = reservation.start();
    reservation_.held_end = reservation.end();
    altered_ = reservation;
    if (attributes.has("asked_select")) (void)set_select(altered_, attributes.text("asked_select"), state_);
    std::tie(reservation_.requested, reservation_.requested_count) = requested(altered_.attributes);
    add_places(reservation.places);
    for (const Reservation::Occurrence& one : reservation.later) {
        pbs_reservation_occurrence out{};
        out.start = one.start;
        out.end = one.end;
        out.place_count = one.places.size();
        out.asked = one.asked ? 1 : 0;
        occurrences_.push_back(out);
        add_places(one.places);
    }
    // Only now do the places stay where they are.
    reservation_.places = places_.data();
    reservation_.place_count = reservation.places.size();
    const pbs_place* next = places_.data() + reservation_.place_count;
    for (pbs_reservation_occurrence& one : occurrences_) {
        one.places = next;
        next += one.place_count;
    }
    reservation_.later = occurrences_.data();
    reservation_.later_count = occurrences_.size();
    reservation_.keeps_first = reservation.keeps_first ? 1 : 0;
    reservation_.soonest = reservation.start() == ifl::kAsSoonAsPossible && attributes.has("qmove") ? 1 : 0;
    return reservation_;
}

}  // namespace pbs::host
