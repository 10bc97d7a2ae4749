#include "tools/simulate/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "ifl/attributes/built_in_resources.h"
#include "ifl/attributes/entity_limits.h"
#include "objects/value.h"
#include "text/json_document.h"
#include "values/find.h"
#include "values/number.h"

namespace pbs::simulate {
namespace {

using sched::Amount;
using sched::ResourceKind;

struct BuiltIn {
    std::string_view name;
    ResourceKind kind;
    bool consumable;
};

// Resources that every server has without a definition.
constexpr std::array kBuiltIn = {
    BuiltIn{"ncpus", ResourceKind::integer, true},
    BuiltIn{"mem", ResourceKind::size, true},
    BuiltIn{"walltime", ResourceKind::duration, false},
    BuiltIn{"ssinodes", ResourceKind::integer, true},
    BuiltIn{"select", ResourceKind::string, false},
    BuiltIn{"place", ResourceKind::string, false},
    BuiltIn{"host", ResourceKind::string, false},
    BuiltIn{"vnode", ResourceKind::string, false},
    BuiltIn{"vmem", ResourceKind::size, true},
    BuiltIn{"naccelerators", ResourceKind::integer, true},
    BuiltIn{"cput", ResourceKind::duration, false},
    BuiltIn{"min_walltime", ResourceKind::duration, false},
    BuiltIn{"max_walltime", ResourceKind::duration, false},
    BuiltIn{"nodes", ResourceKind::string, false},
    BuiltIn{"nodect", ResourceKind::integer, true},
    BuiltIn{"arch", ResourceKind::string, false},
    BuiltIn{"mpiprocs", ResourceKind::integer, true},
    BuiltIn{"ompthreads", ResourceKind::integer, false},
    BuiltIn{"file", ResourceKind::size, false},
    BuiltIn{"pmem", ResourceKind::size, false},
    BuiltIn{"pvmem", ResourceKind::size, false},
    BuiltIn{"nice", ResourceKind::integer, false},
    BuiltIn{"pcput", ResourceKind::duration, false},
    BuiltIn{"hpm", ResourceKind::integer, true},
    BuiltIn{"software", ResourceKind::string, false},
    BuiltIn{"site", ResourceKind::string, false},
};

struct TypeWord {
    std::string_view word;
    ResourceKind kind;
};
constexpr std::array kTypes = {
    TypeWord{"long", ResourceKind::integer},  TypeWord{"float", ResourceKind::real},
    TypeWord{"size", ResourceKind::size},     TypeWord{"boolean", ResourceKind::boolean},
    TypeWord{"string", ResourceKind::string}, TypeWord{"string_array", ResourceKind::string_array},
};

std::string_view value_of(const Values& values, std::string_view key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
}

// Reads a number from an attribute; `otherwise` if it isn't set.
Result<std::int64_t> integer_of(const Values& values, std::string_view key, std::string_view object,
                                std::int64_t otherwise) {
    const std::string_view text = value_of(values, key);
    if (text.empty()) return otherwise;
    if (const auto number = values::number<std::int64_t>(text)) return *number;
    return tl::unexpected(fmt::format("{}: {}: found '{}', expected a whole number", object, key, text));
}

Result<bool> boolean_of(const Values& values, std::string_view key, std::string_view object, bool otherwise) {
    const std::string_view text = value_of(values, key);
    if (text.empty()) return otherwise;
    if (const auto value = objects::parse_boolean(key, text)) return *value;
    return tl::unexpected(fmt::format("{}: {}: found '{}', expected True or False", object, key, text));
}

// Returns whether jobs may start on the vnode with these attributes: it isn't offline. Other states, such as
// down, don't count.
bool is_free(const Values& node) {
    return value_of(node, "state").find("offline") == std::string_view::npos;
}

std::string host_name(const std::string& node, const Values& values) {
    for (const std::string_view key : {"resources_available.host", "Mom"})
        if (const std::string_view host = value_of(values, key); !host.empty()) return std::string(host);
    return node;
}

std::vector<std::string> list_of(const Values& values, std::string_view key) {
    const auto list = objects::split_list(key, value_of(values, key));
    return list ? *list : std::vector<std::string>();
}

sched::ExecutionType execution_type(std::string_view text) {
    if (text == "execution_prime") return sched::ExecutionType::prime;
    if (text == "execution_non_prime") return sched::ExecutionType::non_prime;
    if (text == "execution_dedicated") return sched::ExecutionType::dedicated;
    return sched::ExecutionType::any;
}

// Reads the amounts of one attribute with resources, such as resources_available.
Result<std::vector<Amount>> amounts_of(const Cluster& cluster, const Values& values,
                                       std::string_view attribute, std::string_view object) {
    std::vector<Amount> amounts;
    const std::string prefix = std::string(attribute) + '.';
    for (auto at = values.lower_bound(prefix); at != values.end() && at->first.starts_with(prefix); ++at) {
        const auto amount = cluster.amount(std::string_view(at->first).substr(prefix.size()), at->second);
        if (!amount) return tl::unexpected(fmt::format("{}: {}: {}", object, attribute, amount.error()));
        amounts.push_back(*amount);
    }
    return amounts;
}

// The limits of an object: max_run and the similar attributes. If an entity has several limits, the last one
// counts, as if they were set one after the other.
struct EntityLimits {
    std::map<std::tuple<std::string, char, std::string>, sched::EntityLimitRecord> by_entity;
    std::vector<sched::EntityLimitRecord> records;
};
Result<void> read_limits(const Cluster& cluster, const Values& values, std::string_view object,
                         EntityLimits& limits) {
    constexpr std::string_view kLetters = "ougp";  // in the order of EntityKind
    for (const auto& value : values) {
        const std::string& key = value.first;
        const std::string& text = value.second;
        const std::string_view name = std::string_view(key).substr(0, key.find('.'));
        const bool of_resource = name == "max_run_res" || name == "max_run_res_soft";
        if (!of_resource && name != "max_run" && name != "max_run_soft") continue;
        const auto bad = [&](std::string_view what) {
            return tl::unexpected(fmt::format("{}: {}: found '{}', expected {}", object, key, text, what));
        };
        const auto parsed = ifl::parse_entity_limits(text);
        if (!parsed) return bad(parsed.error().expected);
        for (const ifl::EntityLimit& limit : *parsed) {
            if (!limit.most) return bad("limits such as [u:NAME=3]");
            const auto amount =
                cluster.amount(of_resource ? key.substr(name.size() + 1) : "ncpus", *limit.most);
            if (!amount) return tl::unexpected(fmt::format("{}: {}: {}", object, key, amount.error()));
            const auto at =
                limits.by_entity.insert_or_assign({key, limit.kind, limit.name}, sched::EntityLimitRecord{});
            const std::string& entity = std::get<2>(at.first->first);
            const bool each = entity == ifl::kGenericEntity || entity == ifl::kAllEntity;
            at.first->second = {static_cast<sched::EntityKind>(kLetters.find(limit.kind)),
                                each ? std::string_view() : std::string_view(entity),
                                of_resource ? amount->resource : UINT32_MAX, amount->number,
                                name.ends_with("_soft")};
        }
    }
    for (const auto& [entity, limit] : limits.by_entity) limits.records.push_back(limit);
    return {};
}

Result<void> read_values(const nlohmann::json& json, const std::string& place, Values& values) {
    if (!json.is_object())
        return tl::unexpected(
            fmt::format("{}: found {}, expected an object of attributes", place, json.type_name()));
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string())
            return tl::unexpected(
                fmt::format("{}: {}: found {}, expected a string", place, key, value.type_name()));
        values[key] = value.get<std::string>();
    }
    return {};
}

Result<void> read_objects(const nlohmann::json& json, const std::string& place, Objects& objects) {
    if (!json.is_object())
        return tl::unexpected(fmt::format("{}: found {}, expected an object with the name of each as a key",
                                          place, json.type_name()));
    for (const auto& [name, object] : json.items())
        if (auto done = read_values(object, fmt::format("{} {}", place, name), objects[name]); !done)
            return done;
    return {};
}

ResourceKind kind_of(ifl::AttributeType type) {
    switch (type) {
        case ifl::AttributeType::integer:
            return ResourceKind::integer;
        case ifl::AttributeType::real:
            return ResourceKind::real;
        default:
            return ResourceKind::string;
    }
}

}  // namespace

Result<Machine> read_machine(std::string_view document, std::string_view name) {
    const nlohmann::json json = text::parse_json(document);
    if (!json.is_object())
        return tl::unexpected(
            fmt::format("{}: not JSON, expected a document as pbs_config export writes it", name));
    Machine machine;
    const auto host = json.find("host");
    if (host == json.end()) return machine;
    if (!host->is_object())
        return tl::unexpected(fmt::format("{}: host: found {}, expected an object", name, host->type_name()));
    const std::map<std::string, Objects*, std::less<>> sections = {{"queue", &machine.queues},
                                                                   {"node", &machine.nodes},
                                                                   {"resource", &machine.resources},
                                                                   {"sched", &machine.scheds}};
    for (const auto& [key, section] : host->items()) {
        const std::string place = fmt::format("{}: host: {}", name, key);
        Result<void> done;
        if (key == "server") {
            done = read_values(section, place, machine.server);
        } else if (const auto known = sections.find(key); known != sections.end()) {
            done = read_objects(section, place, *known->second);
        } else {
            done = tl::unexpected(
                fmt::format("{}: unknown key, expected server, queue, node, resource or sched", place));
        }
        if (!done) return tl::unexpected(done.error());
    }
    return machine;
}

void add_nodes(Machine& machine, std::int64_t nodes, std::int64_t cpus, std::int64_t mem) {
    const auto width = std::to_string(nodes).size();
    for (std::int64_t i = 0; i < nodes; ++i) {
        // Give the names equal lengths, so that their alphabetical order is that of the numbers.
        Values& values = machine.nodes[fmt::format("n{:0{}}", i + 1, width)];
        values["resources_available.ncpus"] = std::to_string(cpus / nodes + (i < cpus % nodes ? 1 : 0));
        if (mem > 0) values["resources_available.mem"] = std::to_string(mem) + "b";
    }
}

void add_queue(Machine& machine, const std::string& name) {
    if (machine.queues.contains(name)) return;
    machine.queues[name] = {{"queue_type", "Execution"}, {"enabled", "True"}, {"started", "True"}};
}

const std::uint32_t* Cluster::resource(std::string_view name) const {
    return values::find_in(resource_ids_, name);
}

Result<Amount> Cluster::amount(std::string_view name, std::string_view text) const {
    const auto* id = resource(name);
    if (id == nullptr) return tl::unexpected(fmt::format("unknown resource {}", name));
    Amount amount{*id, 0, {}};
    const auto bad = [&](std::string_view expected) {
        return tl::unexpected(fmt::format("{}: found '{}', expected {}", name, text, expected));
    };
    switch (resources_[*id].kind) {
        case ResourceKind::integer: {
            const auto number = values::number<std::int64_t>(text);
            if (!number) return bad("a whole number");
            amount.number = *number;
            break;
        }
        case ResourceKind::real: {
            const auto number = values::decimal(text);
            if (!number || std::fabs(*number) >= 1e12) return bad("a number");
            amount.number = static_cast<std::int64_t>(*number * 1e6);
            break;
        }
        case ResourceKind::size: {
            const auto size = objects::parse_size(name, text);
            if (!size) return bad("a size such as 4gb");
            amount.number = size->bytes;
            break;
        }
        case ResourceKind::duration: {
            const auto duration = objects::parse_duration(name, text);
            if (!duration) return bad("HH:MM:SS or seconds");
            amount.number = duration->count();
            break;
        }
        case ResourceKind::boolean: {
            const auto value = objects::parse_boolean(name, text);
            if (!value) return bad("True or False");
            amount.number = *value ? 1 : 0;
            break;
        }
        case ResourceKind::string:
        case ResourceKind::string_array:
            amount.text = text;
            break;
    }
    return amount;
}

Result<void> Cluster::read_resources() {
    for (const BuiltIn& resource : kBuiltIn)
        resources_.push_back({std::string(resource.name), resource.kind, resource.consumable,
                              resource.name != "nodect" && resource.name != "ssinodes"});
    for (const auto& [name, values] : machine_.resources) {
        const std::string_view word = value_of(values, "type");
        const auto* const type = std::ranges::find(kTypes, word.empty() ? "string" : word, &TypeWord::word);
        if (type == kTypes.end())
            return tl::unexpected(fmt::format(
                "resource {}: type: found '{}', expected long, float, size, boolean, string or string_array",
                name, word));
        const std::string_view flags = value_of(values, "flag");
        const bool amounts = type->kind <= ResourceKind::duration;
        resources_.push_back({name, type->kind, amounts && flags.find_first_of("nfq") != flags.npos,
                              flags.find('h') != flags.npos});
    }
    // The bundled server has these without a definition; a site's definition takes their place.
    for (const ifl::BuiltInResource& resource : ifl::built_in_resources()) {
        const std::string name(resource.name);
        if (resource.for_policies && !machine_.resources.contains(name))
            resources_.push_back(
                {name, kind_of(resource.type), false, resource.flags.find('h') != resource.flags.npos});
    }
    for (std::uint32_t id = 0; id < resources_.size(); ++id) resource_ids_.emplace(resources_[id].name, id);
    return {};
}

Result<void> Cluster::read_queues() {
    for (const auto& [name, values] : machine_.queues) {
        std::string type(value_of(values, "queue_type"));
        Queue& queue = queues_.emplace_back();
        queue.name = name;
        queue.execution = type.empty() || type.front() == 'E' || type.front() == 'e';
        for (const std::string& entry : list_of(values, "route_destinations"))
            queue.destinations.push_back(entry.substr(0, entry.find('@')));
    }
    default_queue_ = value_of(machine_.server, "default_queue");
    if (const auto at = default_queue_.find('@'); at != default_queue_.npos) default_queue_.resize(at);
    if (default_queue_.empty() && queues_.size() == 1) default_queue_ = queues_.front().name;
    return {};
}

Result<void> Cluster::read_nodes() {
    std::map<std::int64_t, std::size_t> sizes;
    for (const auto& [name, values] : machine_.nodes) {
        if (!is_free(values)) continue;
        const auto cpus = integer_of(values, "resources_available.ncpus", "node " + name, 0);
        if (!cpus) return tl::unexpected(cpus.error());
        cpus_ += *cpus;
        ++vnodes_;
        ++sizes[*cpus];
        has_memory_ = has_memory_ || values.contains("resources_available.mem");
    }
    std::size_t most = 0;
    for (const auto& [cpus, count] : sizes) {
        if (count < most) continue;
        most = count;
        cpus_of_a_vnode_ = cpus;
    }
    return {};
}

Result<void> Cluster::read_scheds() {
    for (const auto& [name, values] : machine_.scheds) {
        const std::string_view text = value_of(values, "scheduler_iteration");
        auto iteration = Result<std::int64_t>(600);
        if (!text.empty()) {
            const auto duration = objects::parse_duration("scheduler_iteration", text);
            if (!duration)
                return tl::unexpected(fmt::format(
                    "sched {}: scheduler_iteration: found '{}', expected HH:MM:SS or seconds", name, text));
            iteration = std::max<std::int64_t>(1, duration->count());
        }
        scheds_.push_back({name, *iteration});
    }
    return {};
}

Result<void> Cluster::read_server() {
    const auto counts = boolean_of(machine_.server, "eligible_time_enable", "server", false);
    if (!counts) return tl::unexpected(counts.error());
    counts_eligible_time_ = *counts;
    suspend_releases_ =
        fmt::format("{}", fmt::join(list_of(machine_.server, "restrict_res_to_release_on_suspend"), ","));
    return {};
}

bool Cluster::is_released(std::uint32_t resource) const {
    return suspend_releases_.empty() ||
           fmt::format(",{},", suspend_releases_).find(fmt::format(",{},", resources_[resource].name)) !=
               std::string::npos;
}

Result<Cluster> Cluster::make(const Machine& machine) {
    Cluster cluster;
    cluster.machine_ = machine;
    cluster.machine_.scheds.try_emplace("default");
    for (auto read : {&Cluster::read_resources, &Cluster::read_queues, &Cluster::read_nodes,
                      &Cluster::read_scheds, &Cluster::read_server})
        if (auto done = (cluster.*read)(); !done) return tl::unexpected(done.error());
    return cluster;
}

const Cluster::Queue* Cluster::entry(std::string_view name) const {
    std::string_view next = name.empty() ? std::string_view(default_queue_) : name;
    // Limit the number of steps: routes may form a circle.
    for (std::size_t steps = 0; steps <= queues_.size(); ++steps) {
        const auto found = std::ranges::find(queues_, next, &Queue::name);
        if (found == queues_.end()) return nullptr;
        if (found->execution) return &*found;
        if (found->destinations.empty()) return nullptr;
        next = found->destinations.front();
    }
    return nullptr;
}

Result<void> Cluster::tell(sched::Scheduler& scheduler) const {
    for (std::uint32_t id = 0; id < resources_.size(); ++id)
        scheduler.resource_defined({id, resources_[id].kind, resources_[id].name, resources_[id].consumable});

    sched::ServerRecord server;
    server.name = server.host_name = "simulation";
    const auto server_number = [&](std::string_view key, std::int64_t& to) -> Result<void> {
        const auto number = integer_of(machine_.server, key, "server", -1);
        if (!number) return tl::unexpected(number.error());
        to = *number;
        return {};
    };
    for (const auto& [key, to] : {std::pair{"max_running", &server.max_running},
                                  {"max_user_run", &server.max_user_run},
                                  {"max_group_run", &server.max_group_run},
                                  {"backfill_depth", &server.backfill_depth}})
        if (auto done = server_number(key, *to); !done) return done;
    const auto server_max = amounts_of(*this, machine_.server, "resources_max", "server");
    if (!server_max) return tl::unexpected(server_max.error());
    const auto server_available = amounts_of(*this, machine_.server, "resources_available", "server");
    if (!server_available) return tl::unexpected(server_available.error());
    server.resources_max = *server_max;
    server.resources_available = *server_available;
    server.job_sort_formula = value_of(machine_.server, "job_sort_formula");
    server.suspend_releases = suspend_releases_;
    if (counts_eligible_time_) server.eligible_since = sched::Instant{};
    EntityLimits limits;
    if (auto done = read_limits(*this, machine_.server, "server", limits); !done) return done;
    server.limits = limits.records;
    if (auto done = scheduler.server_changed(server); !done) return tl::unexpected(done.error().message);

    for (const auto& [name, values] : machine_.scheds) {
        const auto scheduling = boolean_of(values, "scheduling", "sched " + name, true);
        if (!scheduling) return tl::unexpected(scheduling.error());
        scheduler.sched_changed({name, *scheduling, value_of(values, "partition"), ""});
    }
    for (const Queue& queue : queues_)
        if (auto done = tell_queue(scheduler, queue); !done) return done;
    std::uint64_t vnode = 0;
    for (const auto& [name, values] : machine_.nodes)
        if (auto done = tell_node(scheduler, ++vnode, name, values); !done) return done;
    return {};
}

Result<void> Cluster::tell_queue(sched::Scheduler& scheduler, const Queue& queue) const {
    const Values& values = machine_.queues.find(queue.name)->second;
    const std::string object = "queue " + queue.name;
    sched::QueueRecord record;
    record.queue = handle(queue);
    record.name = queue.name;
    record.execution = queue.execution;
    for (const auto& [key, to] : {std::pair{"started", &record.started},
                                  {"enabled", &record.enabled},
                                  {"acl_user_enable", &record.user_acl}}) {
        const auto value = boolean_of(values, key, object, false);
        if (!value) return tl::unexpected(value.error());
        *to = *value;
    }
    const auto priority = integer_of(values, "Priority", object, 0);
    if (!priority) return tl::unexpected(priority.error());
    record.priority = static_cast<std::int32_t>(*priority);
    for (const auto& [key, to] : {std::pair{"max_running", &record.max_running},
                                  {"max_user_run", &record.max_user_run},
                                  {"max_group_run", &record.max_group_run},
                                  {"backfill_depth", &record.backfill_depth}}) {
        const auto number = integer_of(values, key, object, -1);
        if (!number) return tl::unexpected(number.error());
        *to = *number;
    }
    std::array<std::vector<Amount>, 3> amounts;
    std::size_t next = 0;
    for (const auto& [key, to] : {std::pair{"resources_max", &record.resources_max},
                                  {"resources_min", &record.resources_min},
                                  {"resources_available", &record.resources_available}}) {
        auto list = amounts_of(*this, values, key, object);
        if (!list) return tl::unexpected(list.error());
        amounts[next] = *std::move(list);
        *to = amounts[next++];
    }
    const std::vector<std::string> acl = list_of(values, "acl_users");
    const std::vector<std::string_view> acl_views(acl.begin(), acl.end());
    record.acl_users = acl_views;
    record.partition = value_of(values, "partition");
    record.execution_type = execution_type(value_of(values, "execution_type"));
    EntityLimits limits;
    if (auto done = read_limits(*this, values, object, limits); !done) return done;
    record.limits = limits.records;
    scheduler.queue_changed(record);
    return {};
}

std::string Cluster::host_of(std::uint64_t vnode) const {
    const auto& [name, values] = *std::next(machine_.nodes.begin(), static_cast<std::ptrdiff_t>(vnode - 1));
    return host_name(name, values);
}

Result<void> Cluster::for_each_vnode(const std::function<void(const Vnode&)>& visit) const {
    for (const auto& [name, values] : machine_.nodes) {
        auto available = amounts_of(*this, values, "resources_available", "node " + name);
        if (!available) return tl::unexpected(available.error());
        visit({name, host_name(name, values), is_free(values), *std::move(available)});
    }
    return {};
}

Result<void> Cluster::tell_load(sched::Scheduler& scheduler, std::uint64_t vnode, std::int64_t load) const {
    const auto& [name, values] = *std::next(machine_.nodes.begin(), static_cast<std::ptrdiff_t>(vnode - 1));
    return tell_node(scheduler, vnode, name, values, load);
}

Result<void> Cluster::tell_node(sched::Scheduler& scheduler, std::uint64_t number, const std::string& name,
                                const Values& values, std::int64_t load) const {
    const std::string object = "node " + name;
    const auto priority = integer_of(values, "Priority", object, 0);
    if (!priority) return tl::unexpected(priority.error());
    const auto available = amounts_of(*this, values, "resources_available", object);
    if (!available) return tl::unexpected(available.error());
    sched::VnodeRecord record;
    record.vnode = sched::VnodeHandle(number);
    record.name = name;
    const std::string_view host = value_of(values, "Mom");
    record.host = host.empty() ? std::string_view(name) : host;
    record.free = is_free(values);
    record.priority = static_cast<std::int32_t>(*priority);
    if (const std::string_view queue = value_of(values, "queue"); !queue.empty()) {
        const auto found = std::ranges::find(queues_, queue, &Queue::name);
        if (found == queues_.end())
            return tl::unexpected(
                fmt::format("{}: queue: found '{}', expected a queue that is there", object, queue));
        record.queue = handle(*found);
    }
    record.partition = value_of(values, "partition");
    record.resources_available = *available;
    record.load_thousandths = load;
    scheduler.vnode_changed(record);
    return {};
}

}  // namespace pbs::simulate
