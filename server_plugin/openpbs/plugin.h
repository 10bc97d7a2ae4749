// The policy plugin pbs_policy.so, as the policy service uses it.
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

// Calls the plugin's C interface, and holds the server's objects as the plugin knows them.
class Plugin : public client::Plugin {
  public:
    // Loads and initialises the plugin; start() is to be called once the server's objects are known. load()
    // overwrites these members of `options`: log, has_pbs_sched, takes and takes_of_place_job. `log` gets
    // whole lines.
    static tl::expected<std::unique_ptr<Plugin>, std::string> load(
        client::Options options, std::function<void(const std::string&)> log);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Opens the store, and migrates legacy files if the store is new. An error is one line.
    tl::expected<void, std::string> start(std::int64_t now);

    // The server's objects as the plugin knows them.
    Records& records() { return records_; }

    // Carries out a Manager request. When the reply is returned, a change is durable. After code 15208 the
    // same call has to be repeated a few milliseconds later.
    ifl::Reply manager(std::int64_t now, ManagerRequest request, const Identity& who, std::uint64_t ticket);
    // Adds objects of the type to `out`. `next` gets the extend string of the request for the next part of
    // the answer; empty: this was the last part.
    ifl::Reply status(std::int64_t now, std::uint32_t object_type, const std::string& name,
                      const ifl::Attributes& wanted, const Identity& who, const std::string& extend,
                      std::uint64_t ticket, ifl::StatusParts& out, std::string& next);

    // These functions call the functions of client::Plugin with the same names. An error is only its code.
    void tick(std::int64_t now);
    tl::expected<bool, int> start_cycle(std::int64_t now, const std::string& sched, int trigger);
    tl::expected<std::vector<Decision>, int> finish_cycle(std::int64_t now);
    tl::expected<std::vector<Decision>, int> place_job(std::int64_t now, const std::string& job);
    // Tests a start of a job that the records have, at a location as records().named_places() reads it, or
    // where the policy chooses. A decision to run the job has the exec_vnode.
    ifl::Result<Decision> test_start(std::int64_t now, const Job& job, const std::string& location,
                                     const std::string& user, std::uint64_t ticket,
                                     std::vector<ifl::ObjectStatus>* explanation);

  private:
    Plugin() = default;

    Records records_{*this};
    std::int64_t now_ = 0;  // the time of the last call
    bool loaded_ = false;
};

}  // namespace pbs::openpbs
