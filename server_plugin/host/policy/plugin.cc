#include "server_plugin/host/policy/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/plugin_records.h"
#include "server_plugin/plugin/pbs_plugin.h"

// The reply that the plugin fills through the callbacks of struct pbs_host.
struct pbs_reply {
    int code = 0;
    std::string text;
    std::string warning;
    // In the order of the calls: once one is encoded, so are those behind it.
    std::vector<pbs::ifl::ObjectStatus> objects;
    pbs::ifl::StatusParts encoded;
    pbs::ifl::Attributes attributes;
};

namespace pbs::host {
namespace {

ifl::Attribute attribute_of(const pbs_attr& attr) {
    ifl::Attribute out;
    out.name = as_view(attr.name);
    out.resource = as_view(attr.resource);
    out.value = as_view(attr.value);
    return out;
}

// Point into what they are made of.
std::vector<pbs_attr> attr_records(const ifl::Attributes& attributes) {
    std::vector<pbs_attr> out;
    for (const ifl::Attribute& attribute : attributes)
        out.push_back({as_pbs_str(attribute.name), as_pbs_str(attribute.resource),
                       as_pbs_str(attribute.value), static_cast<int32_t>(attribute.op), 0});
    return out;
}

void add_line(std::string& lines, std::string_view line) {
    if (!lines.empty() && !line.empty()) lines += '\n';
    lines += line;
}

LogEvent event_of(int32_t level) {
    switch (level) {
        case PBS_LOG_ERROR:
            return LogEvent::error;
        case PBS_LOG_DEBUG:
            return LogEvent::debug2;
        default:
            return LogEvent::sched;
    }
}

// What the plugin's calls reach.
struct HostContext {
    Log* log = nullptr;
    std::function<void()> cycle_finished;
    std::function<void()> work_finished;
};

void cycle_finished(void* context) {
    static_cast<HostContext*>(context)->cycle_finished();
}

void work_finished(void* context) {
    static_cast<HostContext*>(context)->work_finished();
}

void log_callback(void* context, int32_t level, pbs_str object, pbs_str message) {
    static_cast<HostContext*>(context)->log->write(event_of(level), LogClass::sched, as_view(object),
                                                   as_view(message));
}

void reply_error(pbs_reply* reply, int32_t code, pbs_str text) {
    reply->code = code;
    reply->text = as_view(text);
}

void reply_warning(pbs_reply* reply, pbs_str text) {
    add_line(reply->warning, as_view(text));
}

void reply_object(pbs_reply* reply, int32_t object_type, pbs_str name, const pbs_attr* attrs, size_t count) {
    ifl::ObjectStatus object;
    object.type = static_cast<uint32_t>(object_type);
    object.name = as_view(name);
    object.attributes.reserve(count);
    for (size_t i = 0; i < count; ++i) object.attributes.push_back(attribute_of(attrs[i]));
    if (reply->encoded.empty()) {
        reply->objects.push_back(std::move(object));
    } else {
        reply->encoded.add(object.type, object.name, object.attributes);
    }
}

void reply_encoded(pbs_reply* reply, pbs_str object) {
    reply->encoded.add_encoded(as_view(object));
}

void reply_attr(pbs_reply* reply, const pbs_attr* attr) {
    reply->attributes.push_back(attribute_of(*attr));
}

// The changes as the plugin takes them; points into its own texts and into what it was made from.
class ChangeRecords {
  public:
    explicit ChangeRecords(const HostRecord& record) {
        std::span<const ChangeText> texts = record.texts;
        if (texts.empty()) {
            for (const ConfigChange& change : record.changes)
                texts_.push_back({to_json(change.before), to_json(change.after)});
            texts = texts_;
        }
        for (size_t i = 0; i < record.changes.size(); ++i) {
            pbs_host_change out{};
            out.object_type = record.changes[i].object.type;
            out.name = as_pbs_str(record.changes[i].object.name);
            out.before = as_pbs_str(texts[i].before);
            out.after = as_pbs_str(texts[i].after);
            records_.push_back(out);
        }
    }
    const std::vector<pbs_host_change>& records() const { return records_; }

  private:
    std::vector<ChangeText> texts_;
    std::vector<pbs_host_change> records_;
};

pbs_identity identity_record(const Identity& who) {
    pbs_identity out{};
    out.user = as_pbs_str(who.user);
    out.host = as_pbs_str(who.host);
    out.privilege = who.privilege;
    out.authenticated = 1;
    return out;
}

}  // namespace

bool is_plugin_type(uint32_t object_type) {
    return object_type == PBS_OBJ_POLICY || object_type == PBS_OBJ_TIME_WINDOW ||
           object_type == PBS_OBJ_FS_GROUP;
}

class Plugin::Impl {
  public:
    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (library != nullptr) dlclose(library);
    }

    PluginOptions options;  // the host struct points into it
    MachineLoad load;
    void* library = nullptr;
    pbs_host host{};
    pbs_plugin table{};
    bool uncommitted = false;
    HostContext context;
    pbs_cycle_result last_cycle{};  // of a plugin whose cycles are over at once

    // Can a request be asked again?
    bool has_tickets() const {
        return table.size >= offsetof(pbs_plugin, abandon) + sizeof(pbs_plugin::abandon) &&
               table.abandon != nullptr;
    }
    bool places_jobs() const {
        return table.size >= offsetof(pbs_plugin, place_job) + sizeof(pbs_plugin::place_job) &&
               table.place_job != nullptr;
    }
    bool knows_reservations() const {
        return table.size >=
                   offsetof(pbs_plugin, reservation_removed) + sizeof(pbs_plugin::reservation_removed) &&
               table.reservation_changed != nullptr && table.reservation_removed != nullptr;
    }
    // Can its cycles run in a thread?
    bool has_threads() const {
        return table.size >= offsetof(pbs_plugin, finish_cycle) + sizeof(pbs_plugin::finish_cycle) &&
               table.start_cycle != nullptr && table.finish_cycle != nullptr && options.cycle_finished;
    }
};

Plugin::Plugin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plugin::~Plugin() = default;

std::string_view Plugin::name() const {
    return as_view(impl_->table.name);
}
std::string_view Plugin::version() const {
    return as_view(impl_->table.version);
}

namespace {

pbs_host host_table(const PluginOptions& options, HostContext& context) {
    pbs_host host{};
    host.size = sizeof host;
    host.abi_version = PBS_PLUGIN_ABI_VERSION;
    host.context = &context;
    host.home = as_pbs_str(options.home);
    host.server_name = as_pbs_str(options.server_name);
    host.time_zone = as_pbs_str(options.time_zone);
    host.now = options.now;
    host.log = log_callback;
    host.reply_error = reply_error;
    host.reply_warning = reply_warning;
    host.reply_object = reply_object;
    host.reply_attr = reply_attr;
    host.reply_encoded = reply_encoded;
    if (context.cycle_finished) host.cycle_finished = cycle_finished;
    if (context.work_finished) host.work_finished = work_finished;
    host.pulls = 1;
    return host;
}

// The table without the members that came later and may be missing.
constexpr size_t kFirstTable = offsetof(pbs_plugin, resource_removed);

bool complete(const pbs_plugin& table) {
    return table.size >= kFirstTable && table.start != nullptr && table.stop != nullptr &&
           table.owns_attribute != nullptr && table.manager != nullptr && table.status != nullptr &&
           table.status_attrs != nullptr && table.resource_defined != nullptr &&
           table.server_changed != nullptr && table.sched_changed != nullptr &&
           table.sched_removed != nullptr && table.queue_changed != nullptr &&
           table.queue_removed != nullptr && table.vnode_changed != nullptr &&
           table.vnode_removed != nullptr && table.job_changed != nullptr && table.job_removed != nullptr &&
           table.next_deadline != nullptr && table.tick != nullptr && table.cycle != nullptr &&
           table.wanted != nullptr;
}

}  // namespace

Result<std::unique_ptr<Plugin>> Plugin::load(const PluginOptions& options, Log& log) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    // Never unloaded: libraries in it keep what they made (time zones) for the life of the process.
    impl->library = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (impl->library == nullptr)
        return fail(PBSE_SYSTEM, fmt::format("can not load the plugin {}: {}", options.path, dlerror()));
    auto* entry = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(impl->library, PBS_PLUGIN_ENTRY));
    if (entry == nullptr)
        return fail(PBSE_SYSTEM,
                    fmt::format("{} is no policy plugin: it has no {}", options.path, PBS_PLUGIN_ENTRY));
    impl->context = {&log, options.cycle_finished, options.work_finished};
    impl->host = host_table(impl->options, impl->context);
    impl->table.size = sizeof impl->table;
    std::array<char, 1024> error{};
    const int32_t code = entry(&impl->host, &impl->table, error.data(), error.size());
    if (code != 0)
        return fail(code, fmt::format("the plugin {} refused to start: {}", options.path, error.data()));
    if (impl->table.abi_version != PBS_PLUGIN_ABI_VERSION || !complete(impl->table))
        return fail(PBSE_SYSTEM, fmt::format("the plugin {} has interface version {}, this server needs {}",
                                             options.path, impl->table.abi_version, PBS_PLUGIN_ABI_VERSION));
    return std::unique_ptr<Plugin>(new Plugin(std::move(impl)));
}

Result<void> Plugin::start(int64_t now) {
    std::array<char, 1024> error{};
    const int32_t code = impl_->table.start(impl_->table.self, now, error.data(), error.size());
    if (code != 0) return fail(code, error.data());
    return {};
}

void Plugin::stop(int64_t now) {
    impl_->table.stop(impl_->table.self, now);
}

bool Plugin::owns(int object_type, std::string_view attribute) const {
    return impl_->table.owns_attribute(impl_->table.self, object_type, as_pbs_str(attribute)) != 0;
}

Result<void> Plugin::manager(int64_t now, int command, int object_type, std::string_view name,
                             const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                             std::string& warning, const HostRecord& record, uint64_t ticket) {
    const ChangeRecords changes(record);
    const std::vector<pbs_attr> attrs = attr_records(attributes);
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = now;
    request.command = command;
    request.object_type = object_type;
    request.object_name = as_pbs_str(name);
    request.attrs = attrs.data();
    request.attr_count = attrs.size();
    request.who = identity_record(who);
    request.extend = as_pbs_str(extend);
    request.text = as_pbs_str(record.text);
    request.host_changes = changes.records().data();
    request.host_change_count = changes.records().size();
    request.ticket = impl_->has_tickets() ? ticket : 0;
    pbs_reply reply;
    if (is_plugin_type(static_cast<uint32_t>(object_type)))
        impl_->uncommitted = impl_->table.commit != nullptr;
    const int32_t code = impl_->table.manager(impl_->table.self, &request, &reply);
    if (code != 0 || reply.code != 0) return fail(reply.code != 0 ? reply.code : code, std::move(reply.text));
    add_line(warning, reply.warning);
    return {};
}

void Plugin::abandon(uint64_t ticket) {
    if (impl_->has_tickets()) impl_->table.abandon(impl_->table.self, ticket);
}

bool Plugin::busy() const {
    const pbs_plugin& table = impl_->table;
    return table.size >= offsetof(pbs_plugin, busy) + sizeof(pbs_plugin::busy) && table.busy != nullptr &&
           table.busy(table.self) != 0;
}

bool Plugin::takes_tickets() const {
    return impl_->has_tickets();
}

bool Plugin::uncommitted() const {
    return impl_->uncommitted;
}

Result<void> Plugin::commit(int64_t now) {
    if (!std::exchange(impl_->uncommitted, false)) return {};
    std::array<char, 1024> error{};
    const int32_t code = impl_->table.commit(impl_->table.self, now, error.data(), error.size());
    if (code != 0) return fail(code, error.data());
    return {};
}

namespace {

int32_t ask_status(const pbs_plugin& table, int64_t now, int object_type, std::string_view name,
                   const ifl::Attributes& wanted, const Identity& who, std::string_view extend,
                   uint64_t ticket, pbs_reply& reply) {
    std::vector<pbs_str> names;
    for (const ifl::Attribute& attribute : wanted) names.push_back(as_pbs_str(attribute.name));
    pbs_status_request request{};
    request.size = sizeof request;
    request.now = now;
    request.object_type = object_type;
    request.object_name = as_pbs_str(name);
    request.wanted = names.data();
    request.wanted_count = names.size();
    request.who = identity_record(who);
    request.extend = as_pbs_str(extend);
    request.ticket = ticket;
    const int32_t code = table.status(table.self, &request, &reply);
    return reply.code != 0 ? reply.code : code;
}

}  // namespace

namespace {

std::string page_after(ifl::Attributes& attributes) {
    for (ifl::Attribute& attribute : attributes)
        if (attribute.name == "after") return std::move(attribute.value);
    return {};
}

}  // namespace

ifl::Reply Plugin::status(int64_t now, int object_type, std::string_view name, const ifl::Attributes& wanted,
                          const Identity& who, std::string_view extend, std::string* next) {
    pbs_reply reply;
    const int32_t code = ask_status(impl_->table, now, object_type, name, wanted, who, extend, 0, reply);
    if (code != 0) return ifl::Reply::error(code, reply.text);
    if (next != nullptr) *next = page_after(reply.attributes);
    ifl::Reply out;
    out.body = ifl::StatusReply{std::move(reply.objects), reply.encoded.take()};
    return out;
}

Result<std::string> Plugin::status_part(int64_t now, int object_type, std::string_view name,
                                        const ifl::Attributes& wanted, const Identity& who,
                                        std::string_view extend, uint64_t ticket, ifl::StatusParts& out) {
    pbs_reply reply;
    std::swap(reply.encoded, out);
    const int32_t code = ask_status(impl_->table, now, object_type, name, wanted, who, extend,
                                    impl_->has_tickets() ? ticket : 0, reply);
    std::swap(reply.encoded, out);
    if (code != 0) return fail(code, std::move(reply.text));
    for (const ifl::ObjectStatus& object : reply.objects)
        out.add(object.type, object.name, object.attributes);
    for (const ifl::Attribute& attribute : reply.attributes)
        if (attribute.name == "after" || attribute.name == "offset")
            return fmt::format("{}={}", attribute.name, attribute.value);
    return std::string();
}

void Plugin::status_attributes(int64_t now, int object_type, std::string_view name,
                               ifl::Attributes& attributes) {
    pbs_reply reply;
    impl_->table.status_attrs(impl_->table.self, now, object_type, as_pbs_str(name), &reply);
    for (ifl::Attribute& attribute : reply.attributes) attributes.push_back(std::move(attribute));
}

void Plugin::not_acted_on(int64_t now, std::string_view queue, std::string_view partition,
                          const ifl::Attributes& attributes, std::string& warning) {
    const pbs_plugin& table = impl_->table;
    if (table.size < offsetof(pbs_plugin, not_acted_on) + sizeof(pbs_plugin::not_acted_on) ||
        table.not_acted_on == nullptr)
        return;
    const std::vector<pbs_attr> attrs = attr_records(attributes);
    pbs_reply reply;
    table.not_acted_on(table.self, now, PBS_OBJ_QUEUE, as_pbs_str(queue), as_pbs_str(partition), attrs.data(),
                       attrs.size(), &reply);
    add_line(warning, reply.warning);
}

std::vector<PeerQueue> Plugin::peer_queues(int64_t now, std::string_view sched) const {
    const pbs_plugin& table = impl_->table;
    if (table.size < offsetof(pbs_plugin, peer_queues) + sizeof(pbs_plugin::peer_queues) ||
        table.peer_queues == nullptr)
        return {};
    pbs_reply reply;
    table.peer_queues(table.self, now, as_pbs_str(sched), &reply);
    std::vector<PeerQueue> queues;
    for (const ifl::Attribute& attribute : reply.attributes) {
        const std::string_view value = attribute.value;
        const auto space = value.find(' ');
        const auto at = value.find('@');
        if (space == std::string_view::npos || at == std::string_view::npos || at < space) continue;
        queues.push_back({std::string(value.substr(0, space)),
                          std::string(value.substr(space + 1, at - space - 1)),
                          std::string(value.substr(at + 1))});
    }
    return queues;
}

void Plugin::resource_defined(const Resource& resource) {
    const pbs_resource_record record = resource_record(resource);
    impl_->table.resource_defined(impl_->table.self, &record);
}
void Plugin::resource_removed(std::string_view name) {
    if (impl_->table.resource_removed != nullptr)
        impl_->table.resource_removed(impl_->table.self, as_pbs_str(name));
}
void Plugin::server_changed(const State& state) {
    RecordBuilder builder(state);
    impl_->table.server_changed(impl_->table.self, &builder.server());
}
void Plugin::sched_changed(const Sched& sched, const State& state) {
    RecordBuilder builder(state);
    impl_->table.sched_changed(impl_->table.self, &builder.sched(sched));
}
void Plugin::sched_removed(std::string_view name) {
    impl_->table.sched_removed(impl_->table.self, as_pbs_str(name));
}
void Plugin::queue_changed(const Queue& queue, const State& state) {
    RecordBuilder builder(state);
    impl_->table.queue_changed(impl_->table.self, &builder.queue(queue));
}
void Plugin::queue_removed(uint64_t queue) {
    impl_->table.queue_removed(impl_->table.self, queue);
}
void Plugin::node_changed(const Node& node, const State& state) {
    RecordBuilder builder(state);
    impl_->table.vnode_changed(impl_->table.self, &builder.node(node, impl_->load));
}
void Plugin::set_machine_load(const MachineLoad& load) {
    impl_->load = load;
}
void Plugin::node_removed(uint64_t node) {
    impl_->table.vnode_removed(impl_->table.self, node);
}
void Plugin::job_changed(int64_t now, const Job& job, const State& state) {
    RecordBuilder builder(state);
    impl_->table.job_changed(impl_->table.self, now, &builder.job(job));
}
void Plugin::tell(int64_t now, const Job& job, const State& state) {
    if (job.history() || (job.is_subjob() && !job.running())) {
        job_removed(now, job.told_as());
    } else {
        job_changed(now, job, state);
    }
}
void Plugin::job_removed(int64_t now, uint64_t job) {
    impl_->table.job_removed(impl_->table.self, now, job);
}

void Plugin::reservation_changed(const Reservation& reservation, const State& state) {
    if (!impl_->knows_reservations()) return;
    RecordBuilder builder(state);
    impl_->table.reservation_changed(impl_->table.self, &builder.reservation(reservation));
}
void Plugin::reservation_removed(uint64_t reservation) {
    if (impl_->knows_reservations()) impl_->table.reservation_removed(impl_->table.self, reservation);
}

int64_t Plugin::next_deadline(int64_t now) {
    return impl_->table.next_deadline(impl_->table.self, now);
}
std::map<std::string, int> Plugin::tick(int64_t now, const State& state) {
    std::map<std::string, int> due;
    if ((impl_->table.tick(impl_->table.self, now) & PBS_WANT_CYCLE) == 0) return due;
    for (const auto& [name, sched] : state.scheds()) {
        const uint32_t wanted = impl_->table.wanted(impl_->table.self, as_pbs_str(name));
        if ((wanted & PBS_WANT_CYCLE) == 0) continue;
        due[name] = (wanted & PBS_WANT_POLICY_SWITCH) != 0 ? PBS_SCH_POLICY_SWITCH : PBS_SCH_SCHEDULE_TIME;
    }
    return due;
}

namespace {

Decision decision_of(const pbs_decision& in, const State& state) {
    Decision out;
    out.kind = in.kind == PBS_DECIDE_RUN        ? Decision::Kind::run
               : in.kind == PBS_DECIDE_REJECT   ? Decision::Kind::reject
               : in.kind == PBS_DECIDE_MOVE     ? Decision::Kind::move
               : in.kind == PBS_DECIDE_ESTIMATE ? Decision::Kind::estimate
               : in.kind == PBS_DECIDE_PREEMPT  ? Decision::Kind::preempt
               : in.kind == PBS_DECIDE_ACCRUE   ? Decision::Kind::accrue
               : in.kind == PBS_DECIDE_CONFIRM  ? Decision::Kind::confirm
               : in.kind == PBS_DECIDE_DENY     ? Decision::Kind::deny
                                                : Decision::Kind::comment;
    if (out.kind == Decision::Kind::estimate || out.kind == Decision::Kind::confirm) out.start = in.start;
    out.job = in.job;
    out.queue = in.queue;
    out.text = as_view(in.text);
    for (size_t i = 0; i < in.set_resource_count; ++i) {
        const pbs_amount& amount = in.set_resources[i];
        const Resource* resource = state.resources.by_id(amount.resource);
        if (resource == nullptr) continue;
        const bool texts = resource->type == Type::text || resource->type == Type::list;
        out.set_resources.emplace_back(amount.resource, texts ? std::string(as_view(amount.text))
                                                              : amount_text(resource->type, amount.number));
    }
    // Later than the rest: a plugin may not have them.
    if (in.size >= offsetof(pbs_decision, after_preemptions) + sizeof in.after_preemptions) {
        out.for_job = in.for_job;
        for (const uint8_t method : in.methods)
            if (method != 0) out.methods += static_cast<char>(method);
        out.after_preemptions = in.after_preemptions != 0;
        out.accrue_type = in.accrue_type;
    }
    const bool has_joined = in.size >= offsetof(pbs_decision, joined) + sizeof in.joined;
    const uint8_t* const joined = has_joined ? in.joined : nullptr;
    for (size_t i = 0; i < in.place_count; ++i) {
        Place place;
        place.joined = joined != nullptr && joined[i] == 1;
        place.next_occurrence = joined != nullptr && joined[i] == 2;
        place.node = in.places[i].vnode;
        if (const Node* node = state.node(place.node)) place.node_name = node->name;
        for (size_t j = 0; j < in.places[i].amount_count; ++j) {
            // mpiprocs and the like are asked of a chunk, but nothing of a vnode is used up.
            const pbs_amount& amount = in.places[i].amounts[j];
            const Resource* resource = state.resources.by_id(amount.resource);
            if (resource == nullptr || !resource->consumable()) continue;
            place.amounts[amount.resource] += amount.number;
        }
        out.places.push_back(std::move(place));
    }
    return out;
}

// What of decisions that came later the server knows.
constexpr uint64_t kTakes =
    PBS_TAKES_ESTIMATES | PBS_TAKES_PIECES | PBS_TAKES_PREEMPTIONS | PBS_TAKES_RESERVATIONS;

}  // namespace

// The array's elements are as large as the plugin's struct, which may be larger than this server's.
Decisions::Decisions(const pbs_cycle_result& result)
    : first_(reinterpret_cast<const char*>(result.decisions)),
      count_(result.decision_count),
      stride_(result.decision_count == 0 ? 0 : result.decisions[0].size),
      considered_(result.jobs_considered),
      log_event_(result.log_event) {}

Decision Decisions::at(size_t i, const State& state) const {
    return decision_of(*reinterpret_cast<const pbs_decision*>(first_ + i * stride_), state);
}

Result<Decision> Plugin::place_job(int64_t now, uint64_t job, const State& state) {
    if (!impl_->places_jobs())
        return fail(PBSE_NOSUP, "The policy plugin doesn't place single jobs: name vnodes with -H");
    const pbs_place_request request{sizeof request, now, job, kTakes};
    pbs_cycle_result result{};
    result.size = sizeof result;
    const int32_t code = impl_->table.place_job(impl_->table.self, &request, &result);
    if (code != 0) return fail(code, {});
    const Decisions decisions(result);
    if (decisions.size() != 1) return fail(PBSE_INTERNAL, "the plugin gave no answer");
    return decisions.at(0, state);
}

Result<bool> Plugin::start_cycle(int64_t now, std::string_view sched, int trigger) {
    pbs_cycle_request request{};
    request.size = sizeof request;
    request.now = now;
    request.sched = as_pbs_str(sched);
    request.trigger = trigger;
    request.takes = kTakes;
    int32_t running = 0;
    int32_t code = 0;
    if (impl_->has_threads()) {
        code = impl_->table.start_cycle(impl_->table.self, &request, &running);
    } else {
        impl_->last_cycle = {};
        impl_->last_cycle.size = sizeof impl_->last_cycle;
        code = impl_->table.cycle(impl_->table.self, &request, &impl_->last_cycle);
    }
    if (code != 0) return fail(code, fmt::format("the cycle of scheduler {} failed", sched));
    return running != 0;
}

Result<Decisions> Plugin::finish_cycle(int64_t now) {
    if (!impl_->has_threads()) return Decisions(impl_->last_cycle);
    pbs_cycle_result result{};
    result.size = sizeof result;
    if (const int32_t code = impl_->table.finish_cycle(impl_->table.self, now, &result); code != 0)
        return fail(code, "the cycle failed");
    return Decisions(result);
}

}  // namespace pbs::host
