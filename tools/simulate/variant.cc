#include "tools/simulate/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ifl/attributes/built_in_resources.h"
#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "objects/config_json.h"
#include "objects/restore.h"
#include "objects/store.h"
#include "objects/unsupported.h"
#include "objects/value.h"
#include "values/number.h"
#include "values/temporary_folder.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

using objects::ObjectType;

const objects::Identity kManager{"pbs_simulate", "localhost", objects::manager_privilege};

// Joins the lines of a text by "; ".
std::string in_one_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at))
        text.replace(at, 1, "; ");
    return text;
}

// A configuration that is being changed: the machine as texts, the policies in a store.
class Draft {
  public:
    static Result<Draft> of(const Site& site, bool by_program);

    Result<void> assign_policies(const std::string& list);
    Result<void> apply(const ChangeText& changes);
    // Sets the algorithm of the policies of the sched default to external.
    Result<void> leave_to_program();
    Result<Variant> finish(std::string title) &&;
    const objects::Snapshot& snapshot() const { return *store_.snapshot(); }

  private:
    Draft(values::TemporaryFolder folder, objects::Store store, const Site& site,
          objects::ServerAbilities abilities)
        : folder_(std::move(folder)),
          store_(std::move(store)),
          machine_(site.machine),
          trace_queues_(site.trace_queues),
          bare_(site.machine.queues.empty()),
          abilities_(abilities) {}

    Result<void> import(const std::string& document, const std::string& name, bool replace);
    Result<void> apply_document(const ChangeText& changes);
    Result<void> apply_directives(const ChangeText& changes);
    Result<void> apply_directive(std::string_view text);
    Result<void> change_object(const cmds::Directive& directive, const std::string& name);
    Result<void> change_machine(const cmds::Directive& directive, const std::string& name);
    Result<void> change_store(const cmds::Directive& directive, const std::string& name);
    Result<void> add_named_queue(const std::string& name);
    Values* machine_values(cmds::ObjectType type, const std::string& name);
    Objects* machine_objects(cmds::ObjectType type);
    Result<void> execute(const objects::Command& command);
    bool is_assigned(const std::string& policy) const;
    // Remembers an object that the changes name. `assigns`: whether they assign a policy to a sched.
    void note(ObjectType type, const std::string& name, bool assigns);

    values::TemporaryFolder folder_;  // declared first: the store's file is in it
    objects::Store store_;
    Machine machine_;
    const std::vector<std::string>& trace_queues_;
    bool bare_;  // the site has no queues
    std::set<std::string> created_queues_;
    objects::ServerAbilities abilities_;
    std::set<std::string> named_policies_;
    bool assigned_ = false;
    std::vector<std::string> notes_;
};

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

Result<Draft> Draft::of(const Site& site, bool by_program) {
    auto folder = values::TemporaryFolder::make("pbs_simulate");
    if (!folder) return tl::unexpected(folder.error());
    objects::StoreOptions options;
    options.time_zone = site.zone.name();
    options.keeps_execution_types = true;
    if (by_program) options.abilities.pbs_sched = objects::PbsSched::program;
    for (const auto& [name, values] : site.machine.resources) options.resources.push_back({name});
    for (const ifl::BuiltInResource& resource : ifl::built_in_resources())
        if (resource.for_policies) options.resources.push_back({std::string(resource.name)});
    auto store = objects::Store::open(folder->file("policy.db"), options, now());
    if (!store) return tl::unexpected(store.error().message);
    Draft draft(*std::move(folder), *std::move(store), site, options.abilities);
    if (!site.document.empty())
        if (auto done = draft.import(site.document, site.name, true); !done)
            return tl::unexpected(done.error());
    for (const auto& [name, values] : draft.machine_.queues)
        if (auto done = draft.execute({objects::CommandKind::create, ObjectType::queue, name}); !done)
            return tl::unexpected(done.error());
    return draft;
}

Result<void> Draft::import(const std::string& document, const std::string& name, bool replace) {
    const auto done = objects::import(store_, {document, replace},
                                      {[](ObjectType, std::string_view) { return true; }}, kManager, now());
    if (!done) return tl::unexpected(fmt::format("{}: {}", name, in_one_line(done.error().message)));
    for (const std::string& warning : done->reply.warnings) notes_.push_back(warning);
    // Take execution_type from the store's queues: if the server is one of OpenPBS, the plugin keeps it
    // there.
    for (const objects::ObjectPtr& queue : snapshot().objects(ObjectType::queue))
        if (const auto there = machine_.queues.find(queue->name());
            there != machine_.queues.end() && queue->is_set("execution_type"))
            there->second["execution_type"] = queue->text("execution_type");
    return {};
}

Result<void> Draft::execute(const objects::Command& command) {
    const auto done = store_.execute(command, kManager, now());
    if (!done) return tl::unexpected(done.error().message);
    for (const std::string& warning : done->warnings) notes_.push_back(warning);
    return {};
}

Result<void> Draft::assign_policies(const std::string& list) {
    return execute({objects::CommandKind::set,
                    ObjectType::sched,
                    "default",
                    {{"policy", list, objects::Operation::set}}});
}

Result<void> Draft::leave_to_program() {
    const objects::PolicySlots slots = snapshot().policy_slots("default");
    for (const std::string& name : slots.names()) {
        const objects::Command external{objects::CommandKind::set,
                                        ObjectType::policy,
                                        name,
                                        {{"algorithm", "external", objects::Operation::set}}};
        if (auto done = execute(external); !done) return done;
    }
    return {};
}

void Draft::note(ObjectType type, const std::string& name, bool assigns) {
    if (type == ObjectType::policy) named_policies_.insert(name);
    assigned_ = assigned_ || assigns;
}

Result<void> Draft::apply(const ChangeText& changes) {
    const auto first = changes.text.find_first_not_of(" \t\r\n");
    const bool document = first != std::string::npos && changes.text[first] == '{';
    if (auto done = document ? apply_document(changes) : apply_directives(changes); !done) return done;
    if (assigned_ || named_policies_.size() != 1) return {};
    const std::string& name = *named_policies_.begin();
    if (snapshot().policy(name) == nullptr || is_assigned(name)) return {};
    notes_.push_back(fmt::format("{} assigns no policy: policy {} is in force", changes.name, name));
    return assign_policies(name);
}

bool Draft::is_assigned(const std::string& policy) const {
    return std::ranges::any_of(snapshot().objects(ObjectType::sched), [&](const objects::ObjectPtr& sched) {
        const objects::PolicySlots slots = snapshot().policy_slots(sched->name());
        return policy == slots.all_time || policy == slots.prime || policy == slots.non_prime;
    });
}

Result<void> Draft::apply_document(const ChangeText& changes) {
    const auto objects = objects::from_document(changes.text);
    if (!objects)
        return tl::unexpected(fmt::format("{}: {}", changes.name, in_one_line(objects.error().message)));
    for (const objects::ObjectText& object : *objects)
        note(object.type, object.name,
             object.type == ObjectType::sched &&
                 std::ranges::find(object.attributes, "policy", &objects::AttributeText::name) !=
                     object.attributes.end());
    auto machine = read_machine(changes.text, changes.name);
    if (!machine) return tl::unexpected(machine.error());
    for (const auto& [name, values] : machine->queues)
        if (auto done = add_named_queue(name); !done) return done;
    for (auto& [key, value] : machine->server) machine_.server[key] = value;
    for (auto part : {&Machine::queues, &Machine::nodes, &Machine::resources, &Machine::scheds})
        for (auto& [name, values] : (*machine).*part)
            for (auto& [key, value] : values) (machine_.*part)[name][key] = value;
    return import(changes.text, changes.name, false);
}

Result<void> Draft::apply_directives(const ChangeText& changes) {
    cmds::DirectiveReader reader;
    std::string_view rest = changes.text;
    std::size_t line = 0;
    const auto take = [&]() -> Result<void> {
        while (const auto directive = reader.next())
            if (auto done = apply_directive(*directive); !done)
                return tl::unexpected(
                    fmt::format("{}: line {}: {}", changes.name, line, in_one_line(done.error())));
        return {};
    };
    while (!rest.empty()) {
        ++line;
        std::string_view text = values::take_line(rest);
        if (text.ends_with('\r')) text.remove_suffix(1);
        reader.add_line(text);
        if (auto done = take(); !done) return done;
    }
    reader.end_of_input();
    return take();
}

Result<void> Draft::apply_directive(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == text.npos) return {};
    auto directive = cmds::parse_directive(text, cmds::is_attribute);
    if (!directive) return tl::unexpected(fmt::format("'{}': {}", text, directive.error().message));
    if (directive->command != cmds::Command::create && directive->command != cmds::Command::remove &&
        directive->command != cmds::Command::set && directive->command != cmds::Command::unset)
        return tl::unexpected(fmt::format("'{}': expected create, delete, set or unset", text));
    if (directive->names.empty()) directive->names.emplace_back();
    for (const cmds::ObjectName& name : directive->names)
        if (auto done = change_object(*directive, name.name); !done)
            return tl::unexpected(fmt::format("'{}': {}", text, done.error()));
    return {};
}

bool of_the_store(const cmds::Assignment& attribute, cmds::ObjectType type) {
    // execution_type of a queue is kept with the machine and not in the store, as the bundled server keeps it
    if (type == cmds::ObjectType::queue && values::same_word(attribute.name, "execution_type")) return false;
    return objects::find_attribute(static_cast<ObjectType>(type), attribute.name) != nullptr;
}

Result<void> Draft::change_object(const cmds::Directive& directive, const std::string& name) {
    const auto type = static_cast<ObjectType>(directive.type);
    if (name.empty() && type != ObjectType::server)
        return tl::unexpected(fmt::format("no name, expected the name of a {}", objects::type_name(type)));
    note(type, name, type == ObjectType::sched && std::ranges::any_of(directive.attributes, [&](auto& one) {
                         return of_the_store(one, directive.type);
                     }));
    if (auto done = change_machine(directive, name); !done) return done;
    return change_store(directive, name);
}

Objects* Draft::machine_objects(cmds::ObjectType type) {
    switch (type) {
        case cmds::ObjectType::queue:
            return &machine_.queues;
        case cmds::ObjectType::node:
            return &machine_.nodes;
        case cmds::ObjectType::resource:
            return &machine_.resources;
        case cmds::ObjectType::sched:
            return &machine_.scheds;
        default:
            return nullptr;
    }
}

Values* Draft::machine_values(cmds::ObjectType type, const std::string& name) {
    if (type == cmds::ObjectType::server) return &machine_.server;
    Objects* const objects = machine_objects(type);
    if (objects == nullptr) return nullptr;
    if (const auto found = objects->find(name); found != objects->end()) return &found->second;
    if (type == cmds::ObjectType::sched && name == "default") return &(*objects)[name];
    return nullptr;
}

// Adds a queue that a change names to a site without queues, as add_named_queues() would do afterwards:
// enabled and started. Does nothing if the trace and the policies don't name it.
Result<void> Draft::add_named_queue(const std::string& name) {
    if (!bare_ || machine_.queues.contains(name)) return {};
    Machine named;
    named.queues = machine_.queues;
    named.server = machine_.server;
    add_named_queues(snapshot(), trace_queues_, named);
    const auto queue = named.queues.find(name);
    if (queue == named.queues.end()) return {};
    machine_.queues.insert(*queue);
    return execute({objects::CommandKind::create, ObjectType::queue, name});
}

// Applies a directive to the attributes that the server stores. Ignores the directive's other attributes.
Result<void> Draft::change_machine(const cmds::Directive& directive, const std::string& name) {
    if (directive.type == cmds::ObjectType::queue && directive.command == cmds::Command::create)
        created_queues_.insert(name);
    else if (directive.type == cmds::ObjectType::queue && directive.command != cmds::Command::remove)
        if (auto done = add_named_queue(name); !done) return done;
    Objects* const objects = machine_objects(directive.type);
    if (objects == nullptr && directive.type != cmds::ObjectType::server) return {};
    if (directive.command == cmds::Command::create && !(*objects).try_emplace(name).second)
        return tl::unexpected(std::string("there is one of this name already"));
    if (directive.command == cmds::Command::remove) {
        if (objects->erase(name) == 0) return tl::unexpected(std::string("there is none of this name"));
        const ifl::BuiltInResource* built_in = ifl::find_built_in_resource(name);
        const bool stays = built_in != nullptr && built_in->for_policies;
        if (directive.type == cmds::ObjectType::resource && !stays) store_.forget_resource(name);
        return {};
    }
    if (directive.command == cmds::Command::create && directive.type == cmds::ObjectType::resource)
        store_.define_resource(name);
    Values* const values = machine_values(directive.type, name);
    if (values == nullptr) return tl::unexpected(std::string("there is none of this name"));
    for (const cmds::Assignment& attribute : directive.attributes) {
        if (of_the_store(attribute, directive.type)) continue;
        const cmds::HostAttribute* const known = cmds::find_host_attribute(directive.type, attribute.name);
        if (known == nullptr) return tl::unexpected(fmt::format("unknown attribute {}", attribute.name));
        std::string key(known->name);
        if (!attribute.resource.empty()) key += '.' + attribute.resource;
        if (directive.command == cmds::Command::unset) {
            std::erase_if(*values, [&](const auto& value) {
                return value.first == key ||
                       (attribute.resource.empty() && value.first.starts_with(key + '.'));
            });
        } else if (attribute.op == cmds::Operator::set) {
            (*values)[key] = attribute.value;
        } else if (attribute.op == cmds::Operator::increment && known->type >= cmds::HostType::list) {
            std::string& list = (*values)[key];
            list += list.empty() ? attribute.value : ',' + attribute.value;
        } else {
            return tl::unexpected(
                fmt::format("{}: only = is understood here (and += for lists)", attribute.name));
        }
    }
    return {};
}

// Applies a directive to the attributes in the store of the plugin. Ignores the directive's other attributes.
Result<void> Draft::change_store(const cmds::Directive& directive, const std::string& name) {
    const auto type = static_cast<ObjectType>(directive.type);
    objects::Command command{objects::CommandKind::set, type, name};
    for (const cmds::Assignment& attribute : directive.attributes)
        if (objects::is_own_type(type) || of_the_store(attribute, directive.type))
            command.changes.push_back({attribute.name, attribute.value,
                                       static_cast<objects::Operation>(attribute.op), attribute.resource});
    const bool follows = type == ObjectType::queue || type == ObjectType::sched;
    switch (directive.command) {
        case cmds::Command::create:
            command.kind = objects::CommandKind::create;
            if (follows) {
                if (auto done = execute({objects::CommandKind::create, type, name}); !done) return done;
                command.kind = objects::CommandKind::set;
            }
            break;
        case cmds::Command::remove:
            command.kind = objects::CommandKind::remove;
            if (follows) return execute(command);
            break;
        case cmds::Command::unset:
            command.kind = objects::CommandKind::unset;
            break;
        default:
            break;
    }
    if (!objects::is_own_type(type) && command.changes.empty()) return {};
    return execute(command);
}

// Returns the settings of a policy on which a simulation doesn't act.
std::vector<std::string> unsupported_of(const objects::Object& policy, objects::ServerAbilities abilities) {
    std::vector<std::string> lines = objects::unsupported_lines(policy);
    for (objects::UnsupportedSetting& setting : objects::unsupported_by_server(policy, abilities))
        lines.push_back(std::move(setting.text));
    return lines;
}

// Removes notes on unsupported attributes, except those of policies that schedulers use. The store has warned
// of all policies.
void add_unsupported(const objects::Snapshot& snapshot, objects::ServerAbilities abilities,
                     std::vector<std::string>& notes) {
    for (const objects::ObjectPtr& policy : snapshot.objects(ObjectType::policy))
        for (const std::string& line : unsupported_of(*policy, abilities)) std::erase(notes, line);
    for (const objects::ObjectPtr& sched : snapshot.objects(ObjectType::sched)) {
        const objects::PolicySlots slots = snapshot.policy_slots(sched->name());
        for (const std::string& name : slots.names()) {
            const objects::Object* policy = snapshot.policy(name);
            if (policy == nullptr) continue;
            for (std::string& line : unsupported_of(*policy, abilities))
                if (std::ranges::find(notes, line) == notes.end()) notes.push_back(std::move(line));
        }
    }
}

// Returns whether jobs can have different preemption levels under the policy.
bool has_levels(const objects::Object& policy, const Machine& machine) {
    if (objects::unsupported_preemption(policy).empty()) return false;
    const std::string_view levels = policy.text("preempt_prio");
    const auto names = [&](std::string_view level) { return levels.find(level) != std::string_view::npos; };
    if (names("starving_jobs") && policy.boolean("help_starving_jobs")) return true;
    if (names("fairshare") && policy.boolean("fairshare")) return true;
    if (names("softlimits")) return true;
    if (!names("express_queue")) return false;
    const std::int64_t express = policy.integer("preempt_queue_prio");
    return std::ranges::any_of(machine.queues, [&](const auto& queue) {
        const auto priority = queue.second.find("Priority");
        return priority != queue.second.end() &&
               values::number<std::int64_t>(priority->second).value_or(0) >= express;
    });
}

// Adds a note on each policy in force for which `tell` returns one, about a part that isn't simulated.
template <class Tell>
void add_notes(const Variant& variant, std::vector<std::string>& notes, const Tell& tell) {
    std::set<std::string> named;
    for (const objects::ObjectPtr& sched : variant.snapshot->objects(ObjectType::sched)) {
        const objects::PolicySlots slots = variant.snapshot->policy_slots(sched->name());
        for (const std::string& name : slots.names()) {
            const objects::Object* policy = variant.snapshot->policy(name);
            if (policy == nullptr || !named.insert(name).second) continue;
            if (std::string note = tell(*policy); !note.empty())
                notes.push_back(fmt::format("policy {}: {}", name, note));
        }
    }
}

// Returns whether the order checkpoints jobs before it suspends them.
bool checkpoints(std::string_view preempt_order) {
    while (!preempt_order.empty()) {
        const std::string_view step = preempt_order.substr(0, preempt_order.find(' '));
        if (const auto c = step.find('C'); c < step.find('S')) return true;
        preempt_order.remove_prefix(std::min(step.size() + 1, preempt_order.size()));
    }
    return false;
}

void add_checkpoints(const Variant& variant, std::vector<std::string>& notes) {
    add_notes(variant, notes, [&](const objects::Object& policy) -> std::string {
        if (!has_levels(policy, variant.machine) || !checkpoints(policy.text("preempt_order"))) return {};
        return "preempt_order has C: jobs can be checkpointed only with --checkpoint";
    });
}

void add_programs(const Variant& variant, std::vector<std::string>& notes) {
    add_notes(variant, notes, [&](const objects::Object& policy) -> std::string {
        if (policy.list("server_dyn_res").empty() || policy.text("algorithm") == "origin") return {};
        return "the programs of server_dyn_res are not run; there is what resources_available of the server "
               "says, or enough";
    });
}

Result<Variant> Draft::finish(std::string title) && {
    Variant variant;
    variant.title = std::move(title);
    variant.machine = std::move(machine_);
    variant.snapshot = store_.snapshot();
    variant.notes = std::move(notes_);
    for (const std::string& name : created_queues_)
        if (const auto queue = variant.machine.queues.find(name);
            queue != variant.machine.queues.end() && !queue->second.contains("started"))
            variant.notes.push_back(
                fmt::format("queue {} is created without started=True, so that its jobs don't start", name));
    add_unsupported(*variant.snapshot, abilities_, variant.notes);
    add_checkpoints(variant, variant.notes);
    add_programs(variant, variant.notes);
    return variant;
}

void add_queue_of(std::string_view spec, Machine& machine) {
    if (!spec.empty()) add_queue(machine, std::string(spec.substr(0, spec.find('@'))));
}

}  // namespace

Result<bool> names_policies(const Site& site, std::string_view list) {
    const auto names = objects::split_list("policy", list);
    if (!names) return false;
    const auto draft = Draft::of(site, false);
    if (!draft) return tl::unexpected(draft.error());
    const objects::PolicySlots slots = objects::slots_from_list(*names);
    for (const std::string& name : slots.names())
        if (draft->snapshot().policy(name) == nullptr) return false;
    return true;
}

Result<Variant> variant_of_policies(const Site& site, const std::string& list, bool by_program) {
    auto draft = Draft::of(site, by_program);
    if (!draft) return tl::unexpected(draft.error());
    if (!list.empty())
        if (auto done = draft->assign_policies(list); !done) return tl::unexpected(done.error());
    const objects::PolicySlots slots = draft->snapshot().policy_slots("default");
    std::string title = slots.all_time;
    if (!slots.prime.empty()) title += ",p:" + slots.prime;
    if (!slots.non_prime.empty()) title += ",np:" + slots.non_prime;
    if (title.empty())
        return tl::unexpected(std::string("no policy is assigned to sched default: --policy names one"));
    if (by_program)
        if (auto done = draft->leave_to_program(); !done) return tl::unexpected(done.error());
    return std::move(*draft).finish(std::move(title));
}

Result<Variant> variant_of_changes(const Site& site, const ChangeText& changes, bool by_program) {
    auto draft = Draft::of(site, by_program);
    if (!draft) return tl::unexpected(draft.error());
    if (auto done = draft->apply(changes); !done) return tl::unexpected(done.error());
    if (by_program)
        if (auto done = draft->leave_to_program(); !done) return tl::unexpected(done.error());
    return std::move(*draft).finish(changes.name);
}

void add_named_queues(const objects::Snapshot& snapshot, const std::vector<std::string>& of_trace,
                      Machine& machine) {
    for (const objects::ObjectPtr& policy : snapshot.objects(ObjectType::policy)) {
        for (const char* attribute : {"batch_queues", "dedicated_queues", "external_queues"})
            for (const std::string& spec : policy->list(attribute)) add_queue_of(spec, machine);
        for (const char* attribute : {"submit_queue", "special_queue"})
            add_queue_of(policy->text(attribute), machine);
    }
    for (const objects::ObjectPtr& queue : snapshot.objects(ObjectType::queue))
        add_queue(machine, queue->name());
    for (const std::string& name : of_trace) add_queue_of(name, machine);
    if (machine.queues.empty()) add_queue(machine, "workq");
    if (machine.server.contains("default_queue")) return;
    // Choose the queue for submissions: the one that an Origin policy names, else workq or the first queue.
    std::string entry = machine.queues.contains("workq") ? "workq" : machine.queues.begin()->first;
    const objects::Object* const policy = snapshot.policy(snapshot.policy_slots("default").all_time);
    if (policy != nullptr && !policy->text("submit_queue").empty()) entry = policy->text("submit_queue");
    machine.server["default_queue"] = entry;
}

}  // namespace pbs::simulate
