#include "server_plugin/host/requests/describe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/version.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/values.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

void add(ifl::Attributes& out, std::string_view name, std::string value, std::string_view resource = {}) {
    ifl::Attribute attribute;
    attribute.name = name;
    attribute.resource = resource;
    attribute.value = std::move(value);
    out.push_back(std::move(attribute));
}

void add_time(ifl::Attributes& out, std::string_view name, int64_t instant) {
    if (instant != 0) add(out, name, fmt::format("{}", instant));
}

void add_text(ifl::Attributes& out, std::string_view name, std::string_view text) {
    if (!text.empty()) add(out, name, std::string(text));
}

void add_stored(ifl::Attributes& out, const Attributes& attributes, const AttributeDef& def,
                const State& state, uint32_t rights) {
    for (const AttributeValue& value : attributes.all_of(def)) {
        if (def.type == Type::resources) {
            const Resource* resource = state.resources.find(value.resource());
            const bool hidden = resource != nullptr && (resource->flags & resource_invisible) != 0;
            if (hidden && (rights & (read_operator | read_manager)) == 0) continue;
        }
        if (def.type == Type::limits || def.type == Type::resource_limits) {
            // Show each limit as an attribute of its own. The first one has the operation set, all others
            // have incr, as in OpenPBS.
            bool first = true;
            for (std::string& limit : split_list(value.value())) {
                add(out, def.name, std::move(limit), value.resource());
                out.back().op = std::exchange(first, false) ? ifl::Op::set : ifl::Op::incr;
            }
            continue;
        }
        // This attribute has the port at which a qsub listens. Show nobody the port's number.
        const bool port = def.name == "interactive" || def.name == "block";
        add(out, def.name, std::string(port ? "True" : value.value()), value.resource());
    }
}

void add_amounts(ifl::Attributes& out, std::string_view name, const Amounts& amounts, const State& state) {
    std::map<std::string, std::string> by_name;
    for (const auto& [id, amount] : amounts)
        if (const Resource* resource = state.resources.by_id(id))
            by_name[resource->name] = amount_text(resource->type, amount);
    for (auto& [resource, value] : by_name) add(out, name, std::move(value), resource);
}

// Shows the rows of the table, in its order. For a computed row, calls `compute(name, out)`; for any other,
// shows the stored values.
template <typename Compute>
ifl::Attributes describe_by_table(const AttributeTable& table, const Attributes& stored, const State& state,
                                  const View& view, Compute&& compute) {
    ifl::Attributes out;
    for (const AttributeDef* row : view.rows(table)) {
        if ((row->flags & computed) != 0) {
            compute(row->name, out);
        } else {
            add_stored(out, stored, *row, state, view.rights());
        }
    }
    return out;
}

void compute_job(const Job& job, const State& state, int64_t now, std::string_view name,
                 ifl::Attributes& out) {
    if (name == "job_state") add(out, name, std::string(1, shown_state(job, state)));
    if (name == "queue") add_text(out, name, job.queue_name.text());
    if (name == "server") add_text(out, name, state.server_name);
    if (name == "ctime") add_time(out, name, job.ctime);
    if (name == "depend") add_text(out, name, shown_depend(job, state));
    if (name == "exec_host") add_text(out, name, job.exec_host.text());
    if (name == "exec_vnode") add_text(out, name, job.exec_vnode.text());
    if (name == "mtime") add_time(out, name, job.mtime);
    if (name == "qtime") add_time(out, name, job.qtime);
    if (name == "stime") add_time(out, name, job.stime);
    if (name == "obittime") add_time(out, name, job.obittime);
    if (name == "substate") add(out, name, fmt::format("{}", job.substate));
    if (name == "queue_rank") add(out, name, fmt::format("{}", job.queue_rank));
    if (name == "etime") add_time(out, name, job.etime);
    if (name == "estimated") {
        if (const Estimate* estimate = state.estimate(job.handle)) {
            if (!estimate->exec_vnode.empty()) add(out, name, estimate->exec_vnode, "exec_vnode");
            add(out, name, fmt::format("{}", estimate->start), "start_time");
        }
    }
    if (name == "reserve_ID")
        if (const Reservation* reservation = state.reservation_of_queue(job.queue))
            add(out, name, reservation->id);
    if (name == "array" && job.is_array()) add(out, name, "True");
    if (name == "array_state_count" && job.is_array()) add(out, name, array_state_count(job));
    if (name == "queue_type") {
        const Queue* queue = state.queue(job.queue);
        if (queue != nullptr) add(out, name, queue->execution() ? "E" : "R");
    }
    if (!counts_eligible_time(state.server)) return;
    if (name == "eligible_time") add(out, name, amount_text(Type::duration, eligible_time(job, state, now)));
    if (name == "accrue_type") add(out, name, fmt::format("{}", static_cast<int>(accrue_type(job))));
}

int64_t cpus(const Amounts& amounts, const State& state) {
    const auto at = amounts.find(state.resources.find("ncpus")->id);
    return at == amounts.end() ? 0 : at->second;
}

// Makes the text of a vnode's `jobs`: "12.server/0, 12.server/1, 13.server/2", with one entry for each CPU in
// use.
std::string node_jobs_text(const Node& node, const State& state) {
    std::string out;
    int64_t cpu = 0;
    for (uint64_t handle : state.node_usage(node.handle).jobs) {
        const Job& job = *state.job(handle);
        int64_t count = 0;
        for (const Place& place : job.places)
            if (place.node == node.handle) count += std::max<int64_t>(1, cpus(place.amounts, state));
        for (int64_t i = 0; i < count; ++i)
            out += fmt::format("{}{}/{}", out.empty() ? "" : ", ", job.id, cpu++);
    }
    return out;
}

// Adds a zero for each of PBS's resources of vnodes of which nothing is assigned, as PBS does. Otherwise
// PBS's pbsnodes -Sj would show no free memory.
Amounts with_what_is_free(Amounts assigned, const State& state) {
    for (const Resource* resource : state.resources.all())
        if (resource->built_in && (resource->flags & resource_node_sum) != 0)
            assigned.try_emplace(resource->id, 0);
    return assigned;
}

// Makes the text of a vnode's `resv`: "R12.server, R13.server".
std::string node_reservations_text(const Node& node, const State& state) {
    std::string text;
    for (const uint64_t number : state.reservations_on(node.handle))
        text += (text.empty() ? "" : ", ") + state.reservations().at(number).id;
    return text;
}

bool has_place_on(const Reservation& reservation, const Node& node) {
    return std::ranges::any_of(reservation.places,
                               [&](const Place& place) { return place.node == node.handle; });
}

// Returns the reservations that have begun and hold the vnode now.
std::vector<const Reservation*> reservations_begun_on(const Node& node, const State& state, int64_t now) {
    std::vector<const Reservation*> begun;
    for (const uint64_t number : state.reservations_on(node.handle)) {
        const Reservation& reservation = state.reservations().at(number);
        if (holds_vnodes(reservation, now) && has_place_on(reservation, node)) begun.push_back(&reservation);
    }
    return begun;
}

// Returns the amounts that are assigned on the vnode. A reservation that has begun counts with its whole
// share of the vnode, in place of the jobs in it, as in PBS.
Amounts assigned_of(const Node& node, const State& state, int64_t now) {
    const Usage& usage = state.node_usage(node.handle);
    Amounts sum = usage.assigned;
    const auto add = [&](const std::vector<Place>& places, int64_t by) {
        for (const Place& place : places) {
            if (place.node != node.handle) continue;
            for (const auto& [id, amount] : place.amounts) sum[id] += by * amount;
        }
    };
    for (const Reservation* reservation : reservations_begun_on(node, state, now)) {
        add(reservation->places, 1);
        const Queue* queue = state.queue(reservation->queue_name());
        for (const uint64_t handle : usage.jobs)
            if (const Job& job = *state.job(handle); queue != nullptr && job.queue == queue->handle)
                add(is_preempted(job) ? held_places(job, state.resources) : job.places, -1);
    }
    return sum;
}

Amounts assigned_of_server(const State& state, int64_t now) {
    Amounts sum = state.server_usage().assigned;
    for (const auto& [number, reservation] : state.reservations()) {
        if (!holds_vnodes(reservation, now)) continue;
        for (const auto& [id, amount] : counted_amounts(reservation.attributes, state.resources))
            sum[id] += amount;
        const Queue* queue = state.queue(reservation.queue_name());
        if (queue == nullptr) continue;
        for (const auto& [id, amount] : state.queue_usage(queue->handle).assigned) sum[id] -= amount;
    }
    return sum;
}

bool is_exclusive(const Attributes& attributes) {
    return std::ranges::any_of(values::split(attributes.text("Resource_List", "place"), ':'),
                               [](std::string_view word) { return word == "excl" || word == "exclhost"; });
}

// Makes the text of a vnode's `state`: "free", or words such as "offline,job-busy" in OpenPBS's order.
std::string node_state_text(const Node& node, const State& state, int64_t now) {
    const Usage& usage = state.node_usage(node.handle);
    const AttributeValue* available = node.attributes.find("resources_available", "ncpus");
    const int64_t used = cpus(usage.assigned, state);
    std::string words = node_state_words(node.state);
    const auto say = [&](std::string_view word) { words.append(words.empty() ? "" : ",").append(word); };
    if (std::ranges::any_of(usage.jobs,
                            [&](uint64_t job) { return is_exclusive(state.job(job)->attributes); }))
        say("job-exclusive");
    else if (available != nullptr && used > 0 && used >= amount_of(Type::integer, available->value()))
        say("job-busy");
    if (std::ranges::any_of(reservations_begun_on(node, state, now), [](const Reservation* reservation) {
            return is_exclusive(reservation->attributes);
        }))
        say("resv-exclusive");
    return words.empty() ? "free" : words;
}

void compute_node(const Node& node, const State& state, int64_t now, std::string_view name,
                  ifl::Attributes& out) {
    const Usage& usage = state.node_usage(node.handle);
    if (name == "pbs_version") add(out, name, std::string(server_version()));
    if (name == "ntype") add(out, name, "PBS");
    if (name == "pcpus") add(out, name, fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN)));
    if (name == "jobs") add_text(out, name, node_jobs_text(node, state));
    if (name == "resources_assigned")
        add_amounts(out, name, with_what_is_free(assigned_of(node, state, now), state), state);
    if (name == "sharing") add(out, name, "default_shared");
    if (name == "resv") add_text(out, name, node_reservations_text(node, state));
    if (name == "last_state_change_time") add_time(out, name, node.last_state_change);
    if (name != "last_used_time") return;
    int64_t last = 0;
    for (uint64_t handle : usage.jobs) last = std::max(last, state.job(handle)->stime);
    add_time(out, name, last);
}

// Adds the attributes that the plugin has for an object of the server.
void add_plugin_attributes(Context& context, int object_type, std::string_view object, const View& view,
                           ifl::Attributes& out) {
    if (context.server.parts.plugin == nullptr) return;
    ifl::Attributes more;
    context.server.parts.plugin->status_attributes(context.now, object_type, object, more);
    for (ifl::Attribute& attribute : more)
        if (view.wants(attribute.name)) out.push_back(std::move(attribute));
}

}  // namespace

View::View(const ifl::Attributes& wanted, uint32_t rights) : rights_(rights) {
    // Collect the names in a set, because a request may name the same attributes many times.
    std::set<std::string> names;
    for (const ifl::Attribute& attribute : wanted) names.insert(values::lowered(attribute.name));
    names_.assign(names.begin(), names.end());
}

bool View::wants(std::string_view name) const {
    return names_.empty() ||
           std::ranges::any_of(names_, [&](const std::string& one) { return same_name(one, name); });
}

const std::vector<const AttributeDef*>& View::rows(const AttributeTable& table) const {
    if (table_ == &table) return rows_;
    table_ = &table;
    rows_.clear();
    for (const AttributeDef& row : table.rows())
        if ((row.flags & rights_) != 0 && wants(row.name)) rows_.push_back(&row);
    return rows_;
}

View view_of(const Context& context) {
    return {std::get<ifl::Status>(context.request.body).wanted, read_rights(context.who)};
}

ifl::Reply one_object(uint32_t type, std::string_view name, ifl::Attributes attributes) {
    ifl::Reply reply;
    reply.body = ifl::StatusReply{{{type, std::string(name), std::move(attributes)}}, {}};
    return reply;
}

std::optional<ifl::Reply> unknown_attribute(const Context& context, int object_type,
                                            const ifl::Attributes& wanted) {
    const AttributeTable& table = *attribute_table(object_type);
    Plugin* plugin = context.server.parts.plugin;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const std::string& name = wanted[i].name;
        if (table.find(name) != nullptr || table.is_openpbs_only(name)) continue;
        if (object_type != PBS_OBJ_JOB && plugin != nullptr && plugin->owns(object_type, name)) continue;
        return refuse_attribute(Error{PBSE_NOATTR, {}}, wanted[i], i);
    }
    return std::nullopt;
}

ifl::Attributes describe(const Job& job, const State& state, int64_t now, const View& view) {
    return describe_by_table(
        job_table(), job.attributes, state, view,
        [&](std::string_view name, ifl::Attributes& out) { compute_job(job, state, now, name, out); });
}

ifl::Attributes describe_subjob(const Job& array, int64_t index, const State& state, int64_t now,
                                const View& view) {
    const char letter = subjob_state(array, index, state);
    const bool ended = letter != job_state::kQueued;
    auto all = describe(array, state, now, view);
    ifl::Attributes out;
    for (ifl::Attribute& attribute : all) {
        if (view.wants_all() && attribute.name == "array") break;
        if (attribute.name == "comment" && ended) continue;
        if (attribute.name == "job_state") attribute.value = std::string(1, letter);
        if (attribute.name == "substate")
            attribute.value = std::to_string(ended ? substate::kFinished : substate::kQueued);
        out.push_back(std::move(attribute));
    }
    if (ended && view.wants("comment")) add(out, "comment", "Subjob finished");
    return out;
}

ifl::Attributes describe(const Queue& queue, Context& context, const View& view) {
    const State& state = context.state();
    const StateCounts& counts = state.queue_counts(queue.handle);
    auto out = describe_by_table(
        queue_table(), queue.attributes, state, view, [&](std::string_view name, ifl::Attributes& to) {
            if (name == "total_jobs") add(to, name, fmt::format("{}", counts.total()));
            if (name == "state_count") add(to, name, counts.text());
            if (name == "resources_assigned")
                add_amounts(to, name, state.queue_usage(queue.handle).assigned, state);
            if (name != "hasnodes") return;
            for (const auto& [node_name, node] : state.nodes())
                if (node.attributes.text("queue") == queue.name) {
                    add(to, name, "True");
                    return;
                }
        });
    add_plugin_attributes(context, PBS_OBJ_QUEUE, queue.name, view, out);
    return out;
}

// Describes a reservation. Its `interactive` is shown as a number, which is the time that the client waits.
// (A job's `interactive` is a port, and isn't shown.)
ifl::Attributes describe(const Reservation& reservation, const State& state, const View& view) {
    ifl::Attributes out;
    for (const AttributeDef& row : reservation_table().rows()) {
        if ((row.flags & view.rights()) == 0 || !view.wants(row.name)) continue;
        if (row.name == "interactive")
            add_text(out, row.name, reservation.attributes.text(row.name));
        else
            add_stored(out, reservation.attributes, row, state, view.rights());
    }
    return out;
}

ifl::Attributes describe(const Node& node, Context& context, const View& view) {
    const State& state = context.state();
    ifl::Attributes out;
    for (const AttributeDef& row : node_table().rows()) {
        if ((row.flags & view.rights()) == 0 || !view.wants(row.name)) continue;
        if (row.name == "state") {
            add(out, row.name, node_state_text(node, state, context.now));
        } else if ((row.flags & computed) != 0) {
            compute_node(node, state, context.now, row.name, out);
        } else {
            add_stored(out, node.attributes, row, state, view.rights());
        }
    }
    return out;
}

namespace {

// Returns the state of a scheduler in PBS's words. A scheduler other than `default` that has no partition
// serves no queue. Its state is `down`, as if it didn't run.
std::string sched_state(const Sched& sched, const Server& server) {
    if (sched.name != "default" && !sched.attributes.has("partition")) return "down";
    return server.cycle_wanted(sched.name) && sched.attributes.boolean("scheduling", false) ? "scheduling"
                                                                                            : "idle";
}

// If an external program schedules in place of the plugin, adds the attribute scheduled_by with its name.
void add_program(ifl::Attributes& to, const std::string& sched, const Context& context) {
    const Plugin* plugin = context.server.parts.plugin;
    if (plugin == nullptr || plugin->scheduled_by(context.now, sched) == PBS_BY_PLUGIN) return;
    add(to, "scheduled_by", context.server.registrations.text_of(sched));
}

}  // namespace

ifl::Attributes describe(const Sched& sched, Context& context, const View& view) {
    const State& state = context.state();
    auto out = describe_by_table(sched_table(), sched.attributes, state, view,
                                 [&](std::string_view name, ifl::Attributes& to) {
                                     if (name == "sched_host") add(to, name, state.host_name);
                                     if (name == "state") add(to, name, sched_state(sched, context.server));
                                     if (name == "scheduled_by") add_program(to, sched.name, context);
                                 });
    add_plugin_attributes(context, PBS_OBJ_SCHED, sched.name, view, out);
    return out;
}

ifl::Attributes describe_server(Context& context, const View& view) {
    const State& state = context.state();
    const StateCounts& counts = state.counts();
    auto out = describe_by_table(server_table(), state.server, state, view,
                                 [&](std::string_view name, ifl::Attributes& to) {
                                     if (name == "server_state") add(to, name, context.server.state_text());
                                     if (name == "server_host") add(to, name, state.host_name);
                                     if (name == "total_jobs")
                                         add(to, name, fmt::format("{}", counts.total()));
                                     if (name == "state_count") add(to, name, counts.text());
                                     if (name == "resources_assigned")
                                         add_amounts(to, name, assigned_of_server(state, context.now), state);
                                     if (name == "pbs_version") add(to, name, std::string(server_version()));
                                 });
    add_plugin_attributes(context, PBS_OBJ_SERVER, {}, view, out);
    return out;
}

}  // namespace pbs::host
