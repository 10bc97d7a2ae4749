// pbs_policy.so as the policy service needs it, with what it has been told of the server's objects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/reply.h"
#include "server_plugin/client/plugin.h"
#include "server_plugin/openpbs/records.h"

namespace pbs::openpbs {

struct PluginOptions {
    std::string path;  // of the shared object
    std::string home;  // PBS_HOME
    std::string server_name;
    std::int64_t now = 0;
    std::function<void(const std::string&)> log{};
    // From any thread: what start_cycle() left running is over; it may be called again, and what was asked
    // with tickets.
    std::function<void()> cycle_finished{};
    std::function<void()> work_finished{};
};

// Who asks, as the plugin is told.
struct Identity {
    std::string user;
    std::string host;
    std::uint32_t privilege = 0;  // enum pbs_privilege
};

struct ManagerRequest {
    int command = 0;
    std::uint32_t object_type = 0;
    std::string object;
    ifl::Attributes attributes;
    std::string extend;
    bool check_only = false;
};

class Plugin {
  public:
    // Loads and initialises it; start() follows once the site is known.
    static tl::expected<std::unique_ptr<Plugin>, std::string> load(const PluginOptions& options);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Opens the store, and migrates legacy files if it is new. The error is one line.
    tl::expected<void, std::string> start(std::int64_t now);

    // What it is told of the server's objects.
    Records& records() { return records_; }

    // The reply; its code is 15208 when the same is to be asked again some milliseconds later. A change is
    // durable once it is there.
    ifl::Reply manager(std::int64_t now, const ManagerRequest& request, const Identity& who,
                       std::uint64_t ticket);
    // Objects of a type are added to `out`. `next`: the extend string of the next part; empty: there is none.
    ifl::Reply status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                      const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                      std::uint64_t ticket, ifl::StatusParts& out, std::string& next);
    void abandon(std::uint64_t ticket) { client_.abandon(ticket); }
    ifl::Attributes shown(std::int64_t now, std::uint32_t object_type, const std::string& name) {
        return client_.shown(now, static_cast<int>(object_type), name);
    }

    std::int64_t next_deadline(std::int64_t now) { return client_.next_deadline(now); }
    // As those of client::Plugin.
    void tick(std::int64_t now);
    int wanted(const std::string& sched) { return client_.wanted(sched); }
    bool schedules(const std::string& sched) { return client_.schedules(sched); }
    tl::expected<bool, int> start_cycle(std::int64_t now, const std::string& sched, int trigger);
    tl::expected<std::vector<Decision>, int> finish_cycle(std::int64_t now);
    tl::expected<std::vector<Decision>, int> place_job(std::int64_t now, const std::string& job);

  private:
    Plugin() = default;

    client::Plugin client_;
    Records records_{client_};
    std::int64_t now_ = 0;  // when it was called last
    bool loaded_ = false;
};

}  // namespace pbs::openpbs
