#include "server_plugin/openpbs/plugin.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "server_plugin/openpbs/loadable.h"

namespace pbs::openpbs {
namespace {

constexpr std::uint64_t kTakes =
    PBS_TAKES_ESTIMATES | PBS_TAKES_PIECES | PBS_TAKES_PREEMPTIONS | PBS_TAKES_RESERVATIONS;

client::Requester requester(const Identity& who) {
    return {who.user, who.host, who.privilege};
}

ifl::Reply refusal(const ifl::Error& error) {
    return ifl::Reply::error(error.code, error.message);
}

}  // namespace

Plugin::~Plugin() {
    if (loaded_) client_.stop(now_);
}

tl::expected<std::unique_ptr<Plugin>, std::string> Plugin::load(const PluginOptions& options) {
    std::array<char, 1024> error{};
    if (pbs_loadable(options.path.c_str(), error.data(), error.size()) != 0)
        return tl::unexpected(std::string(error.data()));
    client::Options asked;
    asked.path = options.path;
    asked.home = options.home;
    asked.server_name = options.server_name;
    asked.now = options.now;
    asked.log = [log = options.log](std::int32_t level, std::string_view object, std::string_view line) {
        if (level < PBS_LOG_DEBUG)
            log(object.empty() ? std::string(line) : fmt::format("{}: {}", object, line));
    };
    asked.cycle_finished = options.cycle_finished;
    asked.work_finished = options.work_finished;
    asked.has_pbs_sched = true;
    asked.takes = kTakes;
    asked.takes_of_place_job = kTakes | PBS_TAKES_ROOM_MADE;
    std::unique_ptr<Plugin> plugin(new Plugin);
    if (auto loaded = plugin->client_.load(std::move(asked)); !loaded)
        return tl::unexpected(loaded.error().message);
    plugin->loaded_ = true;
    plugin->now_ = options.now;
    return plugin;
}

tl::expected<void, std::string> Plugin::start(std::int64_t now) {
    now_ = now;
    if (auto started = client_.start(now); !started) return tl::unexpected(started.error().message);
    return {};
}

ifl::Reply Plugin::manager(std::int64_t now, const ManagerRequest& asked, const Identity& who,
                           std::uint64_t ticket) {
    client::ManagerRequest request;
    request.command = asked.command;
    request.object_type = static_cast<int>(asked.object_type);
    request.object = asked.object;
    request.attributes = asked.attributes;
    request.extend = asked.extend;
    request.ticket = ticket;
    request.check_only = asked.check_only;
    const auto warning = client_.manager(now, request, requester(who));
    if (!warning) return refusal(warning.error());
    if (const auto done = client_.commit(now); !done) return refusal(done.error());
    return warning->empty() ? ifl::Reply::ok() : ifl::Reply::warning(*warning);
}

ifl::Reply Plugin::status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                          const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                          std::uint64_t ticket, ifl::StatusParts& out, std::string& next) {
    auto part = client_.status_part(now, static_cast<int>(object_type), name, wanted, requester(who), extend,
                                    ticket, out);
    next = part.value_or(std::string());
    return part ? ifl::Reply::ok() : refusal(part.error());
}

void Plugin::tick(std::int64_t now) {
    now_ = now;
    client_.tick(now);
}

tl::expected<bool, int> Plugin::start_cycle(std::int64_t now, const std::string& sched, int trigger) {
    now_ = now;
    const auto running = client_.start_cycle(now, sched, trigger);
    if (!running) return tl::unexpected(running.error().code);
    return *running;
}

tl::expected<std::vector<Decision>, int> Plugin::finish_cycle(std::int64_t now) {
    const auto decisions = client_.finish_cycle(now);
    if (!decisions) return tl::unexpected(decisions.error().code);
    return records_.decisions(*decisions);
}

tl::expected<std::vector<Decision>, int> Plugin::place_job(std::int64_t now, const std::string& job) {
    const auto decisions = client_.place_job(now, records_.handle(job));
    if (!decisions) return tl::unexpected(decisions.error().code);
    return records_.decisions(*decisions);
}

}  // namespace pbs::openpbs
