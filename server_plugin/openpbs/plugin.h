// pbs_policy.so, loaded behind its C interface (pbs_plugin.h), as the policy service needs it.
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
#include "server_plugin/openpbs/records.h"
#include "server_plugin/openpbs/site.h"
#include "server_plugin/plugin/pbs_plugin.h"

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
    Records& records();

    // The reply; its code is 15208 when the same is to be asked again some milliseconds later. A change is
    // durable once it is there.
    ifl::Reply manager(std::int64_t now, const ManagerRequest& request, const Identity& who,
                       std::uint64_t ticket);
    // Objects of a type are added to `out`. `next`: the extend string of the next part; empty: there is none.
    ifl::Reply status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                      const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                      std::uint64_t ticket, ifl::StatusParts& out, std::string& next);
    void abandon(std::uint64_t ticket);
    ifl::Attributes shown(std::int64_t now, std::uint32_t object_type, const std::string& name);

    std::int64_t next_deadline(std::int64_t now);
    // Does what is due. Afterwards wanted() says for what a scheduler wants a cycle: PBS_SCH_*, 0 for none.
    void tick(std::int64_t now);
    int wanted(const std::string& sched);

    // Would its cycles schedule the jobs of this scheduler? Else pbs_sched has to.
    bool schedules(const std::string& sched);
    // Begins a cycle. True: it goes on in a thread, and PluginOptions::cycle_finished is called; false: it
    // is over; then finish_cycle() is to follow. PBSE_TRYAGAIN: not before PluginOptions::work_finished.
    tl::expected<bool, int> start_cycle(std::int64_t now, const std::string& sched, int trigger);
    tl::expected<std::vector<Decision>, int> finish_cycle(std::int64_t now);
    // A place for one job (run), after others were preempted for it; or why there is none (comment).
    tl::expected<std::vector<Decision>, int> place_job(std::int64_t now, const std::string& job);

  private:
    class Impl;
    explicit Plugin(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::openpbs
