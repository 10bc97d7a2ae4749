#include "server_plugin/client/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "ifl/pbs_error.h"
#include "values/object_types.h"

using pbs::cluster::c_str;
using pbs::cluster::view;

// The reply to a call, which the plugin fills through functions of struct pbs_host.
struct pbs_reply {
    int code = 0;
    std::string text;
    std::string warning;
    // Objects in the order of the calls. When the plugin has once given an object in encoded form, it gives
    // all later ones so, too.
    std::vector<pbs::ifl::ObjectStatus> objects;
    pbs::ifl::StatusParts encoded;
    pbs::ifl::Attributes attributes;

    pbs::ifl::Error error_of(std::int32_t result) { return {code != 0 ? code : result, std::move(text)}; }
    bool failed(std::int32_t result) const { return result != 0 || code != 0; }
};

namespace pbs::client {
namespace {

using ErrorLine = std::array<char, 1024>;

tl::unexpected<ifl::Error> fail(int code, std::string message) {
    return tl::unexpected(ifl::Error{code, std::move(message)});
}

ifl::Attribute attribute_of(const pbs_attr& attr) {
    return {std::string(view(attr.name)), std::string(view(attr.resource)), std::string(view(attr.value)),
            ifl::Op::set};
}

// Makes records that point to the texts of the attributes.
std::vector<pbs_attr> attr_records(std::span<const ifl::Attribute> attributes) {
    std::vector<pbs_attr> out;
    for (const ifl::Attribute& attribute : attributes)
        out.push_back({c_str(attribute.name), c_str(attribute.resource), c_str(attribute.value),
                       static_cast<std::int32_t>(attribute.op), 0});
    return out;
}

pbs_identity identity_of(const Identity& who) {
    return {c_str(who.user), c_str(who.host), who.privilege, 1};
}

void reply_error(pbs_reply* reply, std::int32_t code, pbs_str text) {
    reply->code = code;
    reply->text = view(text);
}

void reply_warning(pbs_reply* reply, pbs_str text) {
    if (!reply->warning.empty() && text.len != 0) reply->warning += '\n';
    reply->warning += view(text);
}

void reply_object(pbs_reply* reply, std::int32_t type, pbs_str name, const pbs_attr* attrs,
                  std::size_t count) {
    ifl::ObjectStatus object{static_cast<std::uint32_t>(type), std::string(view(name)), {}};
    object.attributes.reserve(count);
    for (const pbs_attr& attr : std::span(attrs, count)) object.attributes.push_back(attribute_of(attr));
    if (reply->encoded.empty())
        reply->objects.push_back(std::move(object));
    else
        reply->encoded.add(object.type, object.name, object.attributes);
}

void reply_encoded(pbs_reply* reply, pbs_str object) {
    reply->encoded.add_encoded(view(object));
}

void reply_attr(pbs_reply* reply, const pbs_attr* attr) {
    reply->attributes.push_back(attribute_of(*attr));
}

const Options& options_of(void* context) {
    return *static_cast<const Options*>(context);
}

void call(const std::function<void()>& function) {
    if (function) function();
}

// Asks the plugin for the status of objects, and fills `reply`. Returns the error code.
std::int32_t ask_status(const pbs_plugin& table, std::int64_t now, int object_type, std::string_view name,
                        const ifl::Attributes& wanted, const Identity& who, std::string_view extend,
                        std::uint64_t ticket, pbs_reply& reply) {
    std::vector<pbs_str> names;
    for (const ifl::Attribute& attribute : wanted) names.push_back(c_str(attribute.name));
    pbs_status_request request{};
    request.size = sizeof request;
    request.now = now;
    request.object_type = object_type;
    request.object_name = c_str(name);
    request.wanted = names.data();
    request.wanted_count = names.size();
    request.who = identity_of(who);
    request.extend = c_str(extend);
    request.ticket = ticket;
    return table.status(table.self, &request, &reply);
}

// Returns whether the plugin has set all functions of its table.
bool is_complete(const pbs_plugin& table) {
    constexpr std::size_t kFirst = offsetof(pbs_plugin, start);
    std::array<void*, (sizeof table - kFirst) / sizeof(void*)> functions{};
    std::memcpy(functions.data(), reinterpret_cast<const char*>(&table) + kFirst, sizeof functions);
    return std::ranges::find(functions, nullptr) == functions.end();
}

}  // namespace

bool is_plugin_type(std::uint32_t object_type) {
    return values::is_own_type(static_cast<values::ObjectType>(object_type));
}

pbs_host Plugin::host_table() {
    pbs_host host{};
    host.size = sizeof host;
    host.abi_version = PBS_PLUGIN_ABI_VERSION;
    host.context = &options_;
    host.home = c_str(options_.home);
    host.server_name = c_str(options_.server_name);
    host.time_zone = c_str(options_.time_zone);
    host.now = options_.now;
    host.first_change = options_.first_change;
    host.log = [](void* context, std::int32_t level, pbs_str object, pbs_str message) {
        if (const auto& log = options_of(context).log) log(level, view(object), view(message));
    };
    host.reply_error = reply_error;
    host.reply_warning = reply_warning;
    host.reply_object = reply_object;
    host.reply_attr = reply_attr;
    host.reply_encoded = reply_encoded;
    host.cycle_finished = [](void* context) { call(options_of(context).cycle_finished); };
    if (options_.work_finished)
        host.work_finished = [](void* context) { call(options_of(context).work_finished); };
    host.has_pbs_sched = options_.has_pbs_sched ? 1 : 0;
    host.pulls = options_.pulls ? 1 : 0;
    host.weighs = options_.weighs ? 1 : 0;
    return host;
}

ifl::Result<void> Plugin::load(Options options) {
    options_ = std::move(options);
    const std::string& path = options_.path;
    // Keep the library loaded for the life of the process: libraries that it uses have data, such as time
    // zones, that must stay.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr)
        return fail(PBSE_SYSTEM, fmt::format("can not load the plugin {}: {}", path, dlerror()));
    auto* entry = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(library, PBS_PLUGIN_ENTRY));
    if (entry == nullptr)
        return fail(PBSE_SYSTEM, fmt::format("{} is no policy plugin: it has no {}", path, PBS_PLUGIN_ENTRY));
    host_ = host_table();
    table_.size = sizeof table_;
    ErrorLine error{};
    if (const std::int32_t code = entry(&host_, &table_, error.data(), error.size()); code != 0)
        return fail(code, fmt::format("the plugin {} refused to start: {}", path, error.data()));
    if (table_.abi_version != PBS_PLUGIN_ABI_VERSION || table_.size != sizeof table_ || !is_complete(table_))
        return fail(
            PBSE_SYSTEM,
            fmt::format("the plugin {} has interface version {} with a table of {} bytes, this program "
                        "needs version {} with {} bytes: install both from the same release",
                        path, table_.abi_version, table_.size, PBS_PLUGIN_ABI_VERSION, sizeof table_));
    return {};
}

ifl::Result<void> Plugin::start(std::int64_t now) {
    ErrorLine error{};
    if (const std::int32_t code = table_.start(table_.self, now, error.data(), error.size()); code != 0)
        return fail(code, error.data());
    return {};
}

void Plugin::stop(std::int64_t now) {
    table_.stop(table_.self, now);
}

bool Plugin::owns(int object_type, std::string_view attribute) const {
    return table_.owns_attribute(table_.self, object_type, c_str(attribute)) != 0;
}

ifl::Result<std::string> Plugin::manager(std::int64_t now, const ManagerRequest& asked, const Identity& who) {
    const std::vector<pbs_attr> attrs = attr_records(asked.attributes);
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = now;
    request.command = asked.command;
    request.object_type = static_cast<std::int32_t>(asked.object_type);
    request.object_name = c_str(asked.object);
    request.attrs = attrs.data();
    request.attr_count = attrs.size();
    request.who = identity_of(who);
    request.extend = c_str(asked.extend);
    request.text = c_str(asked.text);
    request.host_changes = asked.changes.data();
    request.host_change_count = asked.changes.size();
    request.ticket = asked.ticket;
    request.check_only = asked.check_only ? 1 : 0;
    if (is_plugin_type(asked.object_type) && !asked.check_only) uncommitted_ = true;
    pbs_reply reply;
    const std::int32_t code = table_.manager(table_.self, &request, &reply);
    if (reply.failed(code)) return tl::unexpected(reply.error_of(code));
    return std::move(reply.warning);
}

void Plugin::abandon(std::uint64_t ticket) {
    table_.abandon(table_.self, ticket);
}

bool Plugin::busy() const {
    return table_.busy(table_.self) != 0;
}

ifl::Result<void> Plugin::commit(std::int64_t now) {
    if (!std::exchange(uncommitted_, false)) return {};
    ErrorLine error{};
    if (const std::int32_t code = table_.commit(table_.self, now, error.data(), error.size()); code != 0)
        return fail(code, error.data());
    return {};
}

ifl::Reply Plugin::status(std::int64_t now, int object_type, std::string_view name,
                          const ifl::Attributes& wanted, const Identity& who, std::string_view extend,
                          std::string* next) {
    pbs_reply reply;
    const std::int32_t code = ask_status(table_, now, object_type, name, wanted, who, extend, 0, reply);
    if (reply.failed(code)) {
        const ifl::Error error = reply.error_of(code);
        return ifl::Reply::error(error.code, error.message);
    }
    if (next != nullptr) {
        next->clear();
        for (ifl::Attribute& attribute : reply.attributes)
            if (attribute.name == "after") *next = std::move(attribute.value);
    }
    ifl::Reply out;
    out.body = ifl::StatusReply{std::move(reply.objects), reply.encoded.take()};
    return out;
}

ifl::Result<std::string> Plugin::status_part(std::int64_t now, int object_type, std::string_view name,
                                             const ifl::Attributes& wanted, const Identity& who,
                                             std::string_view extend, std::uint64_t ticket,
                                             ifl::StatusParts& out) {
    pbs_reply reply;
    std::swap(reply.encoded, out);
    const std::int32_t code = ask_status(table_, now, object_type, name, wanted, who, extend, ticket, reply);
    std::swap(reply.encoded, out);
    if (reply.failed(code)) return tl::unexpected(reply.error_of(code));
    for (const ifl::ObjectStatus& object : reply.objects)
        out.add(object.type, object.name, object.attributes);
    for (const ifl::Attribute& attribute : reply.attributes)
        if (attribute.name == "after" || attribute.name == "offset")
            return fmt::format("{}={}", attribute.name, attribute.value);
    return std::string();
}

ifl::Attributes Plugin::shown(std::int64_t now, int object_type, std::string_view name) const {
    pbs_reply reply;
    table_.status_attrs(table_.self, now, object_type, c_str(name), &reply);
    return std::move(reply.attributes);
}

std::string Plugin::not_acted_on(std::int64_t now, std::string_view queue, std::string_view partition,
                                 const ifl::Attributes& attributes) const {
    const std::vector<pbs_attr> attrs = attr_records(attributes);
    pbs_reply reply;
    table_.not_acted_on(table_.self, now, PBS_OBJ_QUEUE, c_str(queue), c_str(partition), attrs.data(),
                        attrs.size(), &reply);
    return std::move(reply.warning);
}

std::vector<std::string> Plugin::peer_queues(std::int64_t now, std::string_view sched) const {
    pbs_reply reply;
    table_.peer_queues(table_.self, now, c_str(sched), &reply);
    std::vector<std::string> queues;
    for (ifl::Attribute& attribute : reply.attributes) queues.push_back(std::move(attribute.value));
    return queues;
}

void Plugin::tick(std::int64_t now) {
    wants_cycle_ = (table_.tick(table_.self, now) & PBS_WANT_CYCLE) != 0;
}

int Plugin::wanted(std::string_view sched) const {
    const std::uint32_t wanted = wants_cycle_ ? table_.wanted(table_.self, c_str(sched)) : 0;
    if ((wanted & PBS_WANT_CYCLE) == 0) return 0;
    return (wanted & PBS_WANT_POLICY_SWITCH) != 0 ? PBS_SCH_POLICY_SWITCH : PBS_SCH_SCHEDULE_TIME;
}

ifl::Result<bool> Plugin::start_cycle(std::int64_t now, std::string_view sched, int trigger) {
    pbs_cycle_request request{};
    request.size = sizeof request;
    request.now = now;
    request.sched = c_str(sched);
    request.trigger = trigger;
    request.takes = options_.takes;
    std::int32_t running = 0;
    if (const std::int32_t code = table_.start_cycle(table_.self, &request, &running); code != 0)
        return fail(code, fmt::format("the cycle of scheduler {} failed", sched));
    has_cycle_ = true;
    return running != 0 && options_.cycle_finished;
}

ifl::Result<Decisions> Plugin::finish_cycle(std::int64_t now) {
    has_cycle_ = false;
    pbs_cycle_result result{};
    result.size = sizeof result;
    if (const std::int32_t code = table_.finish_cycle(table_.self, now, &result); code != 0)
        return fail(code, "the cycle failed");
    return Decisions(result);
}

ifl::Result<Decisions> Plugin::place_job(std::int64_t now, std::uint64_t job) {
    const pbs_place_request request{sizeof(pbs_place_request), now, job, options_.takes_of_place_job};
    pbs_cycle_result result{};
    result.size = sizeof result;
    if (const std::int32_t code = table_.place_job(table_.self, &request, &result); code != 0)
        return fail(code, {});
    if (result.decision_count == 0) return fail(PBSE_INTERNAL, "the plugin gave no answer");
    return Decisions(result);
}

ifl::Result<Decisions> Plugin::test_start(std::int64_t now, const AskedStart& asked,
                                          std::vector<ifl::ObjectStatus>* explanation) {
    pbs_start_request request{};
    request.size = sizeof request;
    request.now = now;
    request.job = asked.job;
    request.takes = options_.takes_of_place_job;
    request.places = asked.places.data();
    request.place_count = asked.places.size();
    request.joined = asked.joined.size() == asked.places.size() ? asked.joined.data() : nullptr;
    request.explains = explanation != nullptr ? 1 : 0;
    request.ticket = asked.ticket;
    request.user = c_str(asked.user);
    pbs_cycle_result result{};
    result.size = sizeof result;
    pbs_reply reply;
    const std::int32_t code = table_.test_start(table_.self, &request, &result, &reply);
    if (reply.failed(code)) return tl::unexpected(reply.error_of(code));
    if (result.decision_count == 0) return fail(PBSE_INTERNAL, "the plugin gave no answer");
    if (explanation != nullptr) *explanation = std::move(reply.objects);
    return Decisions(result);
}

}  // namespace pbs::client
