// Manager requests about queues. A request for queue "" or "@server" is for all queues.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/host/requests/not_acted_on.h"
#include "server_plugin/host/state/limits.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr size_t kLongestQueueName = 15;

constexpr size_t kMostNamed = 5;

// Lists the queue's jobs that aren't in the history: "2 jobs: 12.svr, 13.svr"; empty: there are none.
std::string live_jobs(const State& state, const Queue& queue) {
    std::string names;
    size_t count = 0;
    for (uint64_t handle : state.queue_jobs(queue.handle)) {
        const Job& job = *state.job(handle);
        if (!job.history() && ++count <= kMostNamed) names += (count == 1 ? "" : ", ") + job.id;
    }
    if (count == 0) return {};
    if (count > kMostNamed) names += fmt::format(" and {} more", count - kMostNamed);
    return fmt::format("{}: {}", values::counted(count, "job"), names);
}

constexpr std::string_view kTimedTypes[] = {"execution_prime", "execution_non_prime", "execution_dedicated"};

bool is_timed(std::string_view type) {
    return std::ranges::find(kTimedTypes, type) != std::end(kTimedTypes);
}

bool names(const Management& request, std::string_view attribute) {
    return std::ranges::any_of(request.own,
                               [&](const ifl::Attribute& one) { return same_name(one.name, attribute); });
}

// Checks that a request's queue_type and execution_type don't name different types of execution queues.
Managed<> check_words(const Management& request) {
    std::string said;
    if (request.command == PBS_CMD_UNSET) return {};
    for (size_t i = 0; i < request.own.size(); ++i) {
        const ifl::Attribute& attribute = request.own[i];
        const std::string word = values::lowered(attribute.value);
        const bool says = same_name(attribute.name, "execution_type") ||
                          (same_name(attribute.name, "queue_type") && is_timed(word));
        if (!says || word.empty()) continue;
        if (!said.empty() && said != word)
            return tl::unexpected(
                Refusal{{PBSE_BADATVAL, fmt::format("Illegal {} \"{}\": the same request says {}",
                                                    attribute.name, attribute.value, said)},
                        i});
        said = word;
    }
    return {};
}

// Called when a request sets queue_type to Execution or Route: unsets the execution_type if it is a time or
// the other type. (In qmgr's print, execution_type comes after queue_type, and so is set again.)
void drop_execution_type(Queue& queue, std::string_view type) {
    const std::string_view execution = queue.attributes.text("execution_type");
    if (is_timed(execution) || (!execution.empty() && (execution == "route") != (type == "Route")))
        queue.attributes.unset(*queue_table().find("execution_type"), {});
}

// Checks queue_type, and sets its canonical value. The given value has to be "Execution" or "Route", or a
// beginning of one of these words. A value of execution_type is permitted, too, and sets both attributes.
Result<void> check_type(const Management& request, Queue& queue, const Queue* before) {
    const State& state = request.context.state();
    std::string given = values::lowered(queue.attributes.text("queue_type"));
    const bool plain = !is_timed(given) && !names(request, "execution_type");
    if (is_timed(given)) {
        queue.attributes.set(*queue_table().find("execution_type"), {}, given);
        given = "execution";
    }
    std::string type;
    for (std::string_view word : {"Execution", "Route"})
        if (!given.empty() && values::lowered(word).starts_with(given)) type = word;
    if (type.empty())
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal queue_type \"{}\": expected Execution, Route, execution_prime, "
                                "execution_non_prime or execution_dedicated",
                                given));
    if (before != nullptr && before->attributes.has("queue_type") &&
        before->attributes.text("queue_type") != type)
        if (const std::string jobs = live_jobs(state, queue); !jobs.empty())
            return fail(PBSE_OBJBUSY,
                        fmt::format("Cannot change the type of queue {}: it has {}", queue.name, jobs));
    queue.attributes.set(*queue_table().find("queue_type"), {}, type);
    if (plain) drop_execution_type(queue, type);
    return {};
}

Result<void> check_execution_type(Queue& queue) {
    if (!queue.attributes.has("execution_type")) return {};
    const std::string type = values::lowered(queue.attributes.text("execution_type"));
    if (type != "execution" && type != "route" && !is_timed(type))
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal execution_type \"{}\": expected execution, execution_prime, "
                                "execution_non_prime, execution_dedicated or route",
                                type));
    queue.attributes.set(*queue_table().find("execution_type"), {}, type);
    return {};
}

// Checks that all vnodes that serve only this queue have the queue's partition.
Result<void> check_partition(const Queue& queue, const State& state) {
    const std::string_view partition = queue.attributes.text("partition");
    if (partition.empty()) return {};
    if (auto ok = check_partition_name(partition); !ok) return ok;
    for (const auto& [name, node] : state.nodes()) {
        const std::string_view other = node.attributes.text("partition");
        if (node.attributes.text("queue") == queue.name && !other.empty() && other != partition)
            return fail(PBSE_INVALID_PARTITION_QUE,
                        fmt::format("Invalid partition {} for queue {}: its node {} is in partition {}",
                                    partition, queue.name, name, other));
    }
    return {};
}

Result<void> check_destinations(const Queue& queue, const State& state) {
    for (const std::string& name : queue.attributes.list("route_destinations")) {
        const auto at = name.find('@');
        if (at != std::string::npos && !same_name(name.substr(at + 1), state.server_name))
            return fail(
                PBSE_NOSUP,
                fmt::format("No support for requested service: routing to another server ({})", name));
    }
    return {};
}

Result<void> check(const Management& request, Queue& queue, const Queue* before, const AttributeDef& def) {
    const State& state = request.context.state();
    const Attributes& attributes = queue.attributes;
    if (auto ok = check_limit_styles(def.name, attributes, state); !ok) return ok;
    if (def.name == "queue_type") {
        if (attributes.has("queue_type")) return check_type(request, queue, before);
        return fail(PBSE_NEEDQUET);
    }
    if (def.name == "execution_type") return check_execution_type(queue);
    if (def.name == "partition") return check_partition(queue, state);
    if (def.name == "route_destinations") return check_destinations(queue, state);
    if (def.name == "Priority") {
        const int64_t priority = attributes.integer("Priority", 0);
        if (priority < -1024 || priority > 1023)
            return fail(PBSE_BADATVAL, fmt::format("Illegal Priority {}: expected -1024 to 1023", priority));
    }
    if (def.name == "max_array_size" && attributes.integer("max_array_size", 1) < 1)
        return fail(PBSE_BADATVAL, "Illegal max_array_size: expected 1 or more");
    if (def.name == "backfill_depth" && attributes.integer("backfill_depth", 0) < 0)
        return fail(PBSE_BADATVAL, "Illegal backfill_depth: expected 0 or more");
    return {};
}

// Checks the conditions that concern several of a queue's attributes together.
Result<void> check_whole(const Queue& queue) {
    const std::string_view type = queue.attributes.text("execution_type");
    if (!type.empty() && queue.attributes.has("queue_type") && queue.route() != (type == "route"))
        return fail(PBSE_BADATVAL, fmt::format("Illegal execution_type \"{}\" for queue {} of queue_type {}",
                                               type, queue.name, queue.attributes.text("queue_type")));
    const bool enabled = queue.enabled();
    if (enabled && !queue.attributes.has("queue_type")) return fail(PBSE_QUENOEN);
    if (enabled && queue.route() && !queue.attributes.has("route_destinations")) return fail(PBSE_QUENOEN);
    if (queue.route() && queue.attributes.has("partition")) return fail(PBSE_ROUTE_QUE_NO_PARTITION);
    return {};
}

Managed<> apply(Management& request, Queue& queue, const Queue* before) {
    if (auto ok = check_words(request); !ok) return ok;
    auto done = apply_own(
        request, queue_table(), queue.attributes,
        [&](const AttributeDef& def, const ifl::Attribute&) { return check(request, queue, before, def); });
    if (!done) return done;
    if (auto ok = check_whole(queue); !ok) return tl::unexpected(Refusal{ok.error(), Refusal::kNpos});
    return {};
}

ifl::Reply create_queue(Management& request) {
    Server& server = request.context.server;
    const std::string& name = request.body.object;
    if (name.size() > kLongestQueueName)
        return ifl::Reply::error(PBSE_QUENBIG,
                                 fmt::format("Queue name is too long: {} characters, at most {} are allowed",
                                             name.size(), kLongestQueueName));
    if (!legal_object_name(name, kLongestQueueName))
        return ifl::Reply::error(
            PBSE_IVAL_OBJ_NAME,
            fmt::format("Invalid object name \"{}\": expected a letter, then letters, digits, -, _ or .",
                        name));
    if (server.state.queue(name) != nullptr) return ifl::Reply::error(PBSE_QUEEXIST);
    Queue queue;
    queue.handle = server.state.new_handle();
    queue.name = name;
    Change change(server, request.context.now);
    if (auto done = apply(request, queue, nullptr); !done) return refuse(request, done.error());
    warn_of_not_acted_on(request, queue.attributes, name);
    change.add(std::move(queue));
    return finish(request, change, name);
}

ifl::Reply remove_queue(Management& request) {
    Server& server = request.context.server;
    const Queue* queue = server.state.queue(request.body.object);
    if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
    if (const Reservation* reservation = server.state.reservation_of_queue(queue->handle))
        return ifl::Reply::error(PBSE_OBJBUSY, fmt::format("Cannot delete busy object: queue {} is that of "
                                                           "reservation {}: delete that one",
                                                           queue->name, reservation->id));
    if (const std::string jobs = live_jobs(server.state, *queue); !jobs.empty())
        return ifl::Reply::error(
            PBSE_OBJBUSY, fmt::format("Cannot delete busy object: queue {} has {}", queue->name, jobs));
    for (const auto& [name, node] : server.state.nodes())
        if (node.attributes.text("queue") == queue->name)
            return ifl::Reply::error(
                PBSE_OBJBUSY,
                fmt::format("Cannot delete busy object: node {} is set to queue {}", name, queue->name));
    Change change(server, request.context.now);
    change.remove(*queue);
    if (server.state.server.text("default_queue") == queue->name)
        change.server_attributes().unset(*server_table().find("default_queue"), {});
    return finish(request, change, std::string(queue->name));
}

// Sets the request's attributes on one queue, and adds warnings about attributes without effect.
Managed<> set_one(Management& request, Change& change, const Queue& queue) {
    if (request.own.empty()) {
        warn_of_not_acted_on(request, queue.attributes, queue.name);
        return {};
    }
    Queue& changed = change.queue(queue);
    if (auto done = apply(request, changed, &queue); !done) return done;
    warn_of_not_acted_on(request, changed.attributes, queue.name);
    return {};
}

// Sets the attributes of these queues, one after the other, in slices.
ifl::Reply set_queues(Management& request, std::vector<std::string> names) {
    const auto warnings = std::make_shared<std::string>();
    const auto some = [&body = request.body, names = std::move(names), warnings,
                       at = size_t{0}](Context& context) mutable -> tl::expected<bool, ifl::Reply> {
        if (at == names.size()) return false;
        Management one(context, body);
        Change change(context.server, context.now);
        if (auto done = set_one(one, change, *context.state().queue(names[at++])); !done)
            return tl::unexpected(refuse(one, done.error()));
        if (auto done = change.commit(); !done) return tl::unexpected(refuse(done.error()));
        if (!one.warning.empty()) *warnings += (warnings->empty() ? "" : "\n") + one.warning;
        return true;
    };
    return change_in_slices(request, "all queues", some, warnings);
}

ifl::Reply set_queue(Management& request) {
    Server& server = request.context.server;
    const std::string_view name = request.body.object;
    const bool all = name.empty() || name.front() == '@';
    std::vector<const Queue*> chosen;
    if (!all) {
        if (const Queue* queue = server.state.queue(name)) chosen.push_back(queue);
    } else {
        for (const auto& [queue_name, queue] : server.state.queues())
            if (server.state.reservation_of_queue(queue.handle) == nullptr) chosen.push_back(&queue);
    }
    if (chosen.empty()) return ifl::Reply::error(PBSE_UNKQUE);
    if (all && !request.plugins.empty())
        return ifl::Reply::error(PBSE_IVALREQ, fmt::format("{} has to be set on one queue at a time",
                                                           request.plugins.front().name));
    if (chosen.size() > kManyAtOnce && server.batch == nullptr) {
        std::vector<std::string> names;
        names.reserve(chosen.size());
        for (const Queue* queue : chosen) names.push_back(queue->name);
        return set_queues(request, std::move(names));
    }
    Change change(server, request.context.now);
    for (const Queue* queue : chosen)
        if (auto done = set_one(request, change, *queue); !done) return refuse(request, done.error());
    return finish(request, change, all ? std::string_view("all queues") : name);
}

}  // namespace

ifl::Reply manage_queue(Management& request) {
    if (request.command == PBS_CMD_CREATE) return create_queue(request);
    if (request.command == PBS_CMD_DELETE) return remove_queue(request);
    return set_queue(request);
}

}  // namespace pbs::host
