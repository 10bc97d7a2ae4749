#include "server_plugin/openpbs/plugin.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/loadable.h"

namespace pbs::openpbs {
namespace {

constexpr std::uint64_t kTakes =
    PBS_TAKES_ESTIMATES | PBS_TAKES_PIECES | PBS_TAKES_PREEMPTIONS | PBS_TAKES_RESERVATIONS;

ifl::Reply refusal(const ifl::Error& error) {
    return ifl::Reply::error(error.code, error.message);
}

}  // namespace

Plugin::~Plugin() {
    if (loaded_) stop(now_);
}

tl::expected<std::unique_ptr<Plugin>, std::string> Plugin::load(client::Options options,
                                                                std::function<void(const std::string&)> log) {
    std::array<char, 1024> error{};
    if (pbs_loadable(options.path.c_str(), error.data(), error.size()) != 0)
        return tl::unexpected(std::string(error.data()));
    options.log = [log = std::move(log)](std::int32_t level, std::string_view object, std::string_view line) {
        if (level < PBS_LOG_DEBUG)
            log(object.empty() ? std::string(line) : fmt::format("{}: {}", object, line));
    };
    options.has_pbs_sched = true;
    options.takes = kTakes;
    options.takes_of_place_job = kTakes | PBS_TAKES_ROOM_MADE;
    std::unique_ptr<Plugin> plugin(new Plugin);
    plugin->now_ = options.now;
    if (auto loaded = plugin->client::Plugin::load(std::move(options)); !loaded)
        return tl::unexpected(loaded.error().message);
    plugin->loaded_ = true;
    return plugin;
}

tl::expected<void, std::string> Plugin::start(std::int64_t now) {
    now_ = now;
    if (auto started = client::Plugin::start(now); !started) return tl::unexpected(started.error().message);
    return {};
}

ifl::Reply Plugin::manager(std::int64_t now, ManagerRequest request, const Identity& who,
                           std::uint64_t ticket) {
    request.ticket = ticket;
    const auto warning = client::Plugin::manager(now, request, who);
    if (!warning) return refusal(warning.error());
    if (const auto done = commit(now); !done) return refusal(done.error());
    return warning->empty() ? ifl::Reply::ok() : ifl::Reply::warning(*warning);
}

ifl::Reply Plugin::status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                          const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                          std::uint64_t ticket, ifl::StatusParts& out, std::string& next) {
    auto part = client::Plugin::status_part(now, static_cast<int>(object_type), name, wanted, who, extend,
                                            ticket, out);
    next = part.value_or(std::string());
    return part ? ifl::Reply::ok() : refusal(part.error());
}

void Plugin::tick(std::int64_t now) {
    now_ = now;
    client::Plugin::tick(now);
}

tl::expected<bool, int> Plugin::start_cycle(std::int64_t now, const std::string& sched, int trigger) {
    now_ = now;
    const auto running = client::Plugin::start_cycle(now, sched, trigger);
    if (!running) return tl::unexpected(running.error().code);
    return *running;
}

tl::expected<std::vector<Decision>, int> Plugin::finish_cycle(std::int64_t now) {
    const auto decisions = client::Plugin::finish_cycle(now);
    if (!decisions) return tl::unexpected(decisions.error().code);
    std::vector<Decision> own = records_.decisions(*decisions);
    forget_decisions();
    return own;
}

tl::expected<std::vector<Decision>, int> Plugin::place_job(std::int64_t now, const std::string& job) {
    const auto decisions = client::Plugin::place_job(now, records_.handle(job));
    if (!decisions) return tl::unexpected(decisions.error().code);
    return records_.decisions(*decisions);
}

ifl::Result<Decision> Plugin::test_start(std::int64_t now, const Job& job, const std::string& location,
                                         const std::string& user, std::uint64_t ticket,
                                         std::vector<ifl::ObjectStatus>* explanation) {
    // Don't read the place, which may be long, before the plugin can test it.
    if (has_cycle()) return tl::unexpected(ifl::Error{PBSE_TRYAGAIN, {}});
    std::vector<cluster::Place> places;
    if (!location.empty()) {
        auto named = records_.named_places(job, location);
        if (!named) return tl::unexpected(named.error());
        places = *std::move(named);
    }
    const std::vector<std::uint8_t> joined = cluster::joined_in(places);
    const auto decisions = client::Plugin::test_start(
        now, {records_.handle(job.id), records_.places(places), joined, user, ticket}, explanation);
    if (!decisions) return tl::unexpected(decisions.error());
    Decision decision = records_.decisions(*decisions).back();
    if (decision.kind == Decision::Kind::run && !location.empty())
        decision.exec_vnode = records_.exec_vnode(job, places);
    return decision;
}

}  // namespace pbs::openpbs
