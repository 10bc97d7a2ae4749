// pbs_policy.so as the policy service needs it, with the server's objects as the plugin was told of them.
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

using client::ManagerRequest;
using cluster::Identity;

// The client of the interface, and what it has been told of the server's objects.
class Plugin : public client::Plugin {
  public:
    // Loads and initialises the plugin; call start() once the site is known. load() sets these of `options`
    // itself: log, has_pbs_sched, takes and takes_of_place_job. `log` is given whole lines.
    static tl::expected<std::unique_ptr<Plugin>, std::string> load(
        client::Options options, std::function<void(const std::string&)> log);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Opens the store, and migrates legacy files if it is new. The error is one line.
    tl::expected<void, std::string> start(std::int64_t now);

    // The server's objects as the plugin was told of them.
    Records& records() { return records_; }

    // The reply; its code is 15208 when the same is to be asked again some milliseconds later. A change is
    // durable once it is there.
    ifl::Reply manager(std::int64_t now, ManagerRequest request, const Identity& who, std::uint64_t ticket);
    // Objects of a type are added to `out`. `next`: the extend string of the next part; empty: there is none.
    ifl::Reply status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                      const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                      std::uint64_t ticket, ifl::StatusParts& out, std::string& next);

    // As those of client::Plugin; an error is its code.
    void tick(std::int64_t now);
    tl::expected<bool, int> start_cycle(std::int64_t now, const std::string& sched, int trigger);
    tl::expected<std::vector<Decision>, int> finish_cycle(std::int64_t now);
    tl::expected<std::vector<Decision>, int> place_job(std::int64_t now, const std::string& job);

  private:
    Plugin() = default;

    Records records_{*this};
    std::int64_t now_ = 0;  // when it was called last
    bool loaded_ = false;
};

}  // namespace pbs::openpbs
