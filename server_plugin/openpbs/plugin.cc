#include "server_plugin/openpbs/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/loadable.h"

// The reply that the plugin fills through the functions of struct pbs_host.
struct pbs_reply {
    int code = 0;
    std::string text;
    std::string warning;
    pbs::ifl::StatusParts objects;
    pbs::ifl::Attributes attributes;
};

namespace pbs::openpbs {
namespace {

pbs_str str(std::string_view text) {
    return {text.data(), text.size()};
}
std::string_view view(pbs_str text) {
    return {text.ptr, text.len};
}

ifl::Attribute attribute_of(const pbs_attr& attr) {
    return {std::string(view(attr.name)), std::string(view(attr.resource)), std::string(view(attr.value)),
            ifl::Op::set};
}

void reply_error(pbs_reply* reply, int32_t code, pbs_str text) {
    reply->code = code;
    reply->text = view(text);
}
void reply_warning(pbs_reply* reply, pbs_str text) {
    if (!reply->warning.empty() && text.len != 0) reply->warning += '\n';
    reply->warning += view(text);
}
void reply_object(pbs_reply* reply, int32_t type, pbs_str name, const pbs_attr* attrs, size_t count) {
    ifl::Attributes attributes;
    for (size_t i = 0; i < count; ++i) attributes.push_back(attribute_of(attrs[i]));
    reply->objects.add(static_cast<std::uint32_t>(type), view(name), attributes);
}
void reply_attr(pbs_reply* reply, const pbs_attr* attr) {
    reply->attributes.push_back(attribute_of(*attr));
}
void reply_encoded(pbs_reply* reply, pbs_str object) {
    reply->objects.add_encoded(view(object));
}

pbs_identity identity_of(const Identity& who) {
    return {str(who.user), str(who.host), who.privilege, 1};
}

// The table without the members that came later and may be missing.
constexpr std::size_t kNeeded = offsetof(pbs_plugin, not_acted_on);

}  // namespace

class Plugin::Impl {
  public:
    PluginOptions options;  // the host struct points into it
    pbs_host host{};
    pbs_plugin table{};
    bool initialised = false;
    std::optional<Records> records;
    std::uint32_t last_tick = PBS_WANT_NOTHING;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (initialised) table.stop(table.self, options.now);
    }

    bool has(std::size_t end) const { return table.size >= end; }
};

Plugin::Plugin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plugin::~Plugin() = default;

tl::expected<std::unique_ptr<Plugin>, std::string> Plugin::load(const PluginOptions& options) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    std::array<char, 1024> error{};
    if (pbs_loadable(options.path.c_str(), error.data(), error.size()) != 0)
        return tl::unexpected(std::string(error.data()));
    void* library = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return tl::unexpected(fmt::format("{}: {}", options.path, dlerror()));
    auto* entry = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(library, PBS_PLUGIN_ENTRY));
    if (entry == nullptr)
        return tl::unexpected(
            fmt::format("{} is no policy plugin: it has no {}", options.path, PBS_PLUGIN_ENTRY));
    pbs_host& host = impl->host;
    host.size = sizeof host;
    host.abi_version = PBS_PLUGIN_ABI_VERSION;
    host.context = impl.get();
    host.home = str(impl->options.home);
    host.server_name = str(impl->options.server_name);
    host.now = options.now;
    host.log = [](void* context, int32_t level, pbs_str object, pbs_str message) {
        if (level >= PBS_LOG_DEBUG) return;
        static_cast<Impl*>(context)->options.log(object.len == 0
                                                     ? std::string(view(message))
                                                     : fmt::format("{}: {}", view(object), view(message)));
    };
    host.reply_error = reply_error;
    host.reply_warning = reply_warning;
    host.reply_object = reply_object;
    host.reply_attr = reply_attr;
    host.reply_encoded = reply_encoded;
    host.cycle_finished = [](void* context) {
        if (const auto& told = static_cast<Impl*>(context)->options.cycle_finished) told();
    };
    host.work_finished = [](void* context) {
        if (const auto& told = static_cast<Impl*>(context)->options.work_finished) told();
    };
    host.has_pbs_sched = 1;
    impl->table.size = sizeof impl->table;
    if (entry(&host, &impl->table, error.data(), error.size()) != 0)
        return tl::unexpected(fmt::format("{}: {}", options.path, error.data()));
    impl->initialised = true;
    if (impl->table.abi_version != PBS_PLUGIN_ABI_VERSION || impl->table.size < kNeeded)
        return tl::unexpected(fmt::format("{}: its interface is older than this program's", options.path));
    impl->records.emplace(impl->table);
    return std::unique_ptr<Plugin>(new Plugin(std::move(impl)));
}

tl::expected<void, std::string> Plugin::start(std::int64_t now) {
    std::array<char, 1024> error{};
    impl_->options.now = now;
    if (impl_->table.start(impl_->table.self, now, error.data(), error.size()) != 0)
        return tl::unexpected(std::string(error.data()));
    return {};
}

Records& Plugin::records() {
    return *impl_->records;
}

ifl::Reply Plugin::manager(std::int64_t now, const ManagerRequest& asked, const Identity& who,
                           std::uint64_t ticket) {
    std::vector<pbs_attr> attrs;
    for (const ifl::Attribute& attribute : asked.attributes)
        attrs.push_back({str(attribute.name), str(attribute.resource), str(attribute.value),
                         static_cast<int32_t>(attribute.op), 0});
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = now;
    request.command = asked.command;
    request.object_type = static_cast<int32_t>(asked.object_type);
    request.object_name = str(asked.object);
    request.attrs = attrs.data();
    request.attr_count = attrs.size();
    request.who = identity_of(who);
    request.extend = str(asked.extend);
    request.ticket = ticket;
    request.check_only = asked.check_only ? 1 : 0;
    pbs_reply reply;
    const pbs_plugin& table = impl_->table;
    const int32_t code = table.manager(table.self, &request, &reply);
    if (code != 0 || reply.code != 0)
        return ifl::Reply::error(reply.code != 0 ? reply.code : code, reply.text);
    std::array<char, 1024> error{};
    if (const int32_t lost = asked.check_only ? 0 : table.commit(table.self, now, error.data(), error.size());
        lost != 0)
        return ifl::Reply::error(lost, error.data());
    return reply.warning.empty() ? ifl::Reply::ok() : ifl::Reply::warning(reply.warning);
}

ifl::Reply Plugin::status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                          const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                          std::uint64_t ticket, ifl::StatusParts& out, std::string& next) {
    std::vector<pbs_str> names;
    for (const ifl::Attribute& attribute : wanted) names.push_back(str(attribute.name));
    pbs_status_request request{};
    request.size = sizeof request;
    request.now = now;
    request.object_type = static_cast<int32_t>(object_type);
    request.object_name = str(name);
    request.wanted = names.data();
    request.wanted_count = names.size();
    request.who = identity_of(who);
    request.extend = str(extend);
    request.ticket = ticket;
    pbs_reply reply;
    std::swap(reply.objects, out);
    const int32_t code = impl_->table.status(impl_->table.self, &request, &reply);
    std::swap(reply.objects, out);
    next.clear();
    if (code != 0 || reply.code != 0)
        return ifl::Reply::error(reply.code != 0 ? reply.code : code, reply.text);
    for (const ifl::Attribute& attribute : reply.attributes)
        if (attribute.name == "after" || attribute.name == "offset")
            next = fmt::format("{}={}", attribute.name, attribute.value);
    return ifl::Reply::ok();
}

void Plugin::abandon(std::uint64_t ticket) {
    const pbs_plugin& table = impl_->table;
    if (table.size >= offsetof(pbs_plugin, abandon) + sizeof table.abandon && table.abandon != nullptr)
        table.abandon(table.self, ticket);
}

ifl::Attributes Plugin::shown(std::int64_t now, std::uint32_t object_type, const std::string& name) {
    pbs_reply reply;
    impl_->table.status_attrs(impl_->table.self, now, static_cast<int32_t>(object_type), str(name), &reply);
    return std::move(reply.attributes);
}

std::int64_t Plugin::next_deadline(std::int64_t now) {
    return impl_->table.next_deadline(impl_->table.self, now);
}

void Plugin::tick(std::int64_t now) {
    impl_->options.now = now;
    impl_->last_tick = impl_->table.tick(impl_->table.self, now);
}

int Plugin::wanted(const std::string& sched) {
    if ((impl_->last_tick & PBS_WANT_CYCLE) == 0) return 0;
    const std::uint32_t wanted = impl_->table.wanted(impl_->table.self, str(sched));
    if ((wanted & PBS_WANT_CYCLE) == 0) return 0;
    return (wanted & PBS_WANT_POLICY_SWITCH) != 0 ? PBS_SCH_POLICY_SWITCH : PBS_SCH_SCHEDULE_TIME;
}

bool Plugin::schedules(const std::string& sched) {
    const pbs_plugin& table = impl_->table;
    return impl_->has(offsetof(pbs_plugin, schedules) + sizeof table.schedules) &&
           table.schedules != nullptr && table.schedules(table.self, str(sched)) != 0;
}

// ---- Cycles.

namespace {

// The elements of the array are as large as the plugin's struct.
std::vector<Decision> decisions_in(const pbs_cycle_result& result, const Records& records) {
    std::vector<Decision> out;
    out.reserve(result.decision_count);
    const auto* first = reinterpret_cast<const char*>(result.decisions);
    for (std::size_t i = 0; i < result.decision_count; ++i)
        out.push_back(
            records.decision(*reinterpret_cast<const pbs_decision*>(first + i * result.decisions[0].size)));
    return out;
}

constexpr std::uint64_t kTakes =
    PBS_TAKES_ESTIMATES | PBS_TAKES_PIECES | PBS_TAKES_PREEMPTIONS | PBS_TAKES_RESERVATIONS;

}  // namespace

tl::expected<bool, int> Plugin::start_cycle(std::int64_t now, const std::string& sched, int trigger) {
    pbs_cycle_request request{};
    request.size = sizeof request;
    request.now = now;
    request.sched = str(sched);
    request.trigger = trigger;
    request.takes = kTakes;
    int32_t running = 0;
    impl_->options.now = now;
    const int32_t code = impl_->table.start_cycle(impl_->table.self, &request, &running);
    if (code != 0) return tl::unexpected(code);
    return running != 0;
}

tl::expected<std::vector<Decision>, int> Plugin::finish_cycle(std::int64_t now) {
    pbs_cycle_result result{};
    result.size = sizeof result;
    if (const int32_t code = impl_->table.finish_cycle(impl_->table.self, now, &result); code != 0)
        return tl::unexpected(code);
    return decisions_in(result, *impl_->records);
}

tl::expected<std::vector<Decision>, int> Plugin::place_job(std::int64_t now, const std::string& job) {
    const pbs_place_request request{sizeof(pbs_place_request), now, impl_->records->handle(job),
                                    kTakes | PBS_TAKES_ROOM_MADE};
    pbs_cycle_result result{};
    result.size = sizeof result;
    if (const int32_t code = impl_->table.place_job(impl_->table.self, &request, &result); code != 0)
        return tl::unexpected(code);
    std::vector<Decision> decisions = decisions_in(result, *impl_->records);
    if (decisions.empty()) return tl::unexpected(PBSE_INTERNAL);
    return decisions;
}

}  // namespace pbs::openpbs
