// Manager requests about vnodes, which are parts of this machine. A request for node "" or "@server" is for
// all vnodes.
#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr size_t kLongestNodeName = 64;

const AttributeDef& available() {
    static const AttributeDef& def = *node_table().find("resources_available");
    return def;
}

bool legal_node_name(std::string_view name) {
    constexpr std::string_view kMarks = "-_.[]@";
    return !name.empty() && name.front() != '@' && std::ranges::all_of(name, [&](char c) {
        return values::is_alnum(c) || kMarks.find(c) != std::string_view::npos;
    });
}

// Applies a change of a vnode's `state`, which consists of words. An administrator may set or remove some of
// the words; the others follow from events.
Result<void> apply_state(Node& node, const ifl::Attribute& change, int64_t now) {
    uint32_t state = change.op == ifl::Op::set ? uint32_t{node_free} : node.state;
    for (const std::string& word : split_list(change.value)) {
        uint32_t bit = 0;
        if (same_name(word, "offline")) {
            bit = node_offline;
        } else if (same_name(word, "down")) {
            bit = node_down;
        } else if (!same_name(word, "free")) {
            return fail(PBSE_BADNDATVAL,
                        fmt::format("Illegal value \"{}\" for state: expected free, offline or down", word));
        }
        if (bit == 0) state = node_free;
        state = change.op == ifl::Op::decr ? state & ~bit : state | bit;
    }
    if (change.op == ifl::Op::unset) state = node_free;
    if (state != node.state) node.last_state_change = now;
    node.state = state;
    node.attributes.unset(*node_table().find("state"), {});
    return {};
}

Result<void> check_mom(Node& node, const State& state) {
    const std::string mom(node.attributes.text("Mom"));
    if (!mom.empty() && !state.is_own_mom(mom))
        return fail(PBSE_BADNDATVAL,
                    fmt::format("Illegal Mom \"{}\": vnodes of this server are parts of its own host, {}",
                                mom, state.host_name));
    node.attributes.set(*node_table().find("Mom"), {}, state.host_name);
    return {};
}

// Checks a vnode's partition. If the vnode serves only one queue, the vnode and the queue must not have
// different partitions. The partition must not change while jobs run on the vnode.
Result<void> check_partition(const Node& node, const State& state, const AttributeDef& def) {
    const std::string_view partition = node.attributes.text("partition");
    const bool asked = def.name == "partition";
    if (auto ok = check_partition_name(partition); !ok) return ok;
    if (asked && !state.node_usage(node.handle).jobs.empty())
        return fail(PBSE_NODE_BUSY, fmt::format("Node {} is busy: its partition stays", node.name));
    const Queue* queue = state.queue(node.attributes.text("queue"));
    if (queue == nullptr || partition.empty() || !queue->attributes.has("partition")) return {};
    const std::string_view of_queue = queue->attributes.text("partition");
    if (of_queue == partition) return {};
    if (asked)
        return fail(PBSE_QUE_NOT_IN_PARTITION,
                    fmt::format("Queue {} is not part of partition for node {}", queue->name, node.name));
    return fail(PBSE_PARTITION_NOT_IN_QUE, fmt::format("Partition {} of node {} is not that of queue {}",
                                                       partition, node.name, queue->name));
}

Result<void> check(Node& node, const State& state, const AttributeDef& def) {
    if (def.name == "Mom") return check_mom(node, state);
    if (def.name == "queue" && node.attributes.has("queue")) {
        const Queue* queue = state.queue(node.attributes.text("queue"));
        if (queue == nullptr) return fail(PBSE_UNKQUE);
        if (!queue->execution())
            return fail(PBSE_ATTRTYPE,
                        fmt::format("Incompatible type: {} is no execution queue", queue->name));
    }
    if (def.name == "queue" || def.name == "partition") return check_partition(node, state, def);
    return {};
}

Managed<> apply(Management& request, Node& node) {
    const State& state = request.context.state();
    // Handle `state` apart from the ordinary attributes, because its words set and clear bits.
    Management rest = request;
    rest.own.clear();
    rest.own_index.clear();
    for (size_t i = 0; i < request.own.size(); ++i) {
        if (!same_name(request.own[i].name, "state")) {
            rest.own.push_back(request.own[i]);
            rest.own_index.push_back(i);
            continue;
        }
        ifl::Attribute change = request.own[i];
        if (request.command == PBS_CMD_UNSET) change.op = ifl::Op::unset;
        if (auto done = apply_state(node, change, request.context.now); !done)
            return tl::unexpected(Refusal{done.error(), i});
    }
    auto done =
        apply_own(rest, node_table(), node.attributes,
                  [&](const AttributeDef& def, const ifl::Attribute&) { return check(node, state, def); });
    if (!done && done.error().own != Refusal::kNpos) done.error().own = rest.own_index[done.error().own];
    return done;
}

// Sets the CPUs and the memory of a new vnode to those of this machine, unless the request sets them.
void add_defaults(Node& node, const State& state) {
    const auto set = [&](std::string_view name, std::string value) {
        if (!node.attributes.has("resources_available", name)) node.attributes.set(available(), name, value);
    };
    set("ncpus", fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN)));
    set("mem", fmt::format("{}kb", sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 1024)));
    set("arch", "linux");
    set("host", std::string(state.short_host_name()));
    set("vnode", node.name);
    node.attributes.set(*node_table().find("Mom"), {}, state.host_name);
}

ifl::Reply create_node(Management& request) {
    Server& server = request.context.server;
    const std::string& name = request.body.object;
    if (name.size() > kLongestNodeName)
        return ifl::Reply::error(PBSE_NODENBIG,
                                 fmt::format("Node name is too long: {} characters, at most {} are allowed",
                                             name.size(), kLongestNodeName));
    if (!legal_node_name(name))
        return ifl::Reply::error(PBSE_BADNDATVAL, fmt::format("Illegal value for node: name \"{}\"", name));
    if (server.state.node(name) != nullptr) return ifl::Reply::error(PBSE_NODEEXIST);
    Node node;
    node.handle = server.state.new_handle();
    node.name = name;
    node.last_state_change = request.context.now;
    if (auto done = apply(request, node); !done) return refuse(request, done.error());
    add_defaults(node, server.state);
    Change change(server, request.context.now);
    change.add(std::move(node));
    return finish(request, change, name);
}

ifl::Reply remove_node(Management& request) {
    Server& server = request.context.server;
    const Node* node = server.state.node(request.body.object);
    if (node == nullptr) return ifl::Reply::error(PBSE_UNKNODE);
    if (!server.state.node_usage(node->handle).jobs.empty()) return ifl::Reply::error(PBSE_OBJBUSY);
    Change change(server, request.context.now);
    change.remove(*node);
    return finish(request, change, std::string(node->name));
}

// Sets the attributes of these vnodes, one after the other, in slices.
ifl::Reply set_nodes(Management& request, std::vector<std::string> names) {
    return change_in_slices(request, "all nodes",
                            [&body = request.body, names = std::move(names),
                             at = size_t{0}](Context& context) mutable -> tl::expected<bool, ifl::Reply> {
                                if (at == names.size()) return false;
                                Management one(context, body);
                                Change change(context.server, context.now);
                                const Node* node = context.state().node(names[at++]);
                                if (auto done = apply(one, change.node(*node)); !done)
                                    return tl::unexpected(refuse(one, done.error()));
                                if (auto done = change.commit(); !done)
                                    return tl::unexpected(refuse(done.error()));
                                return true;
                            });
}

ifl::Reply set_node(Management& request) {
    Server& server = request.context.server;
    const std::string_view name = request.body.object;
    const bool of_host = request.body.object_type == MGR_OBJ_HOST && server.state.node(name) == nullptr &&
                         server.state.is_this_host(name);
    const bool all = name.empty() || name.front() == '@' || of_host;
    Change change(server, request.context.now);
    std::vector<const Node*> chosen;
    if (!all) {
        if (const Node* node = server.state.node(name)) chosen.push_back(node);
    } else {
        for (const auto& [node_name, node] : server.state.nodes()) chosen.push_back(&node);
    }
    if (chosen.empty()) return ifl::Reply::error(PBSE_UNKNODE);
    if (chosen.size() > kManyAtOnce && server.batch == nullptr) {
        std::vector<std::string> names;
        names.reserve(chosen.size());
        for (const Node* node : chosen) names.push_back(node->name);
        return set_nodes(request, std::move(names));
    }
    for (const Node* node : chosen)
        if (auto done = apply(request, change.node(*node)); !done) return refuse(request, done.error());
    return finish(request, change, all ? std::string_view("all nodes") : name);
}

}  // namespace

ifl::Reply manage_node(Management& request) {
    if (request.command == PBS_CMD_CREATE) return create_node(request);
    if (request.command == PBS_CMD_DELETE) return remove_node(request);
    return set_node(request);
}

}  // namespace pbs::host
