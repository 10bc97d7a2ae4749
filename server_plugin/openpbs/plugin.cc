#include "server_plugin/openpbs/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "ifl/pbs_error.h"

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
constexpr std::size_t kNeeded = offsetof(pbs_plugin, start_cycle);

}  // namespace

class Plugin::Impl {
  public:
    PluginOptions options;  // the host struct points into it
    pbs_host host{};
    pbs_plugin table{};
    bool initialised = false;
    std::map<std::string, std::uint64_t, std::less<>> queues;     // handles
    std::map<std::string, std::uint32_t, std::less<>> resources;  // ids
    std::uint64_t last_queue = 0;
    std::uint32_t next_resource = 0;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (initialised) table.stop(table.self, options.now);
    }

    void tell(const SiteServer& server) const {
        pbs_server_record record{};
        record.size = sizeof record;
        record.name = str(server.name);
        record.host_name = str(server.host);
        record.max_running = record.max_user_run = record.max_group_run = -1;
        record.backfill_depth = server.backfill_depth;
        record.job_sort_formula = str(server.job_sort_formula);
        table.server_changed(table.self, &record);
    }
    void tell(const std::string& name, const SiteSched& sched) const {
        pbs_sched_record record{};
        record.size = sizeof record;
        record.name = str(name);
        record.scheduling = sched.scheduling ? 1 : 0;
        record.partition = str(sched.partition);
        record.sched_priv = str(sched.sched_priv);
        table.sched_changed(table.self, &record);
    }
    void tell(const std::string& name, const SiteQueue& queue) {
        std::uint64_t& handle = queues[name];
        if (handle == 0) handle = ++last_queue;
        pbs_queue_record record{};
        record.size = sizeof record;
        record.queue = handle;
        record.name = str(name);
        if (queue.execution) record.flags |= PBS_QUEUE_EXECUTION;
        if (queue.started) record.flags |= PBS_QUEUE_STARTED;
        if (queue.enabled) record.flags |= PBS_QUEUE_ENABLED;
        record.priority = queue.priority;
        record.max_running = record.max_user_run = record.max_group_run = -1;
        record.partition = str(queue.partition);
        record.backfill_depth = queue.backfill_depth;
        table.queue_changed(table.self, &record);
    }
    void tell(const std::string& name, const SiteResource& resource) {
        const auto [known, made] = resources.try_emplace(name, next_resource);
        if (made) ++next_resource;
        pbs_resource_record record{};
        record.size = sizeof record;
        record.id = known->second;
        record.kind = resource.kind;
        record.name = str(name);
        record.consumable = resource.consumable ? 1 : 0;
        table.resource_defined(table.self, &record);
    }
};

Plugin::Plugin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plugin::~Plugin() = default;

tl::expected<std::unique_ptr<Plugin>, std::string> Plugin::load(const PluginOptions& options) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
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
    // Tickets are asked again in some milliseconds: nobody has to be woken.
    host.work_finished = [](void*) {};
    host.has_pbs_sched = 1;
    impl->table.size = sizeof impl->table;
    std::array<char, 1024> error{};
    if (entry(&host, &impl->table, error.data(), error.size()) != 0)
        return tl::unexpected(fmt::format("{}: {}", options.path, error.data()));
    impl->initialised = true;
    if (impl->table.abi_version != PBS_PLUGIN_ABI_VERSION || impl->table.size < kNeeded)
        return tl::unexpected(fmt::format("{}: its interface is older than this program's", options.path));
    return std::unique_ptr<Plugin>(new Plugin(std::move(impl)));
}

tl::expected<void, std::string> Plugin::start(std::int64_t now) {
    std::array<char, 1024> error{};
    impl_->options.now = now;
    if (impl_->table.start(impl_->table.self, now, error.data(), error.size()) != 0)
        return tl::unexpected(std::string(error.data()));
    return {};
}

void Plugin::tell(const Site& before, const Site& site) {
    const pbs_plugin& table = impl_->table;
    const auto changed = [](const auto& old, const auto& entry) {
        const auto found = old.find(entry.first);
        return found == old.end() || !(found->second == entry.second);
    };
    for (const auto& entry : site.resources)
        if (changed(before.resources, entry)) impl_->tell(entry.first, entry.second);
    if (!(before.server == site.server)) impl_->tell(site.server);
    for (const auto& entry : site.scheds)
        if (changed(before.scheds, entry)) impl_->tell(entry.first, entry.second);
    for (const auto& entry : site.queues)
        if (changed(before.queues, entry)) impl_->tell(entry.first, entry.second);
    for (const auto& [name, queue] : before.queues) {
        if (site.queues.contains(name)) continue;
        table.queue_removed(table.self, impl_->queues[name]);
        impl_->queues.erase(name);
    }
    for (const auto& [name, sched] : before.scheds)
        if (!site.scheds.contains(name)) table.sched_removed(table.self, str(name));
    for (const auto& [name, resource] : before.resources)
        if (!site.resources.contains(name) && table.resource_removed != nullptr)
            table.resource_removed(table.self, str(name));
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

// The scheduler that runs is OpenPBS's own: that one of ours wants a cycle is nothing to it.
void Plugin::tick(std::int64_t now) {
    impl_->options.now = now;
    (void)impl_->table.tick(impl_->table.self, now);
}

}  // namespace pbs::openpbs
