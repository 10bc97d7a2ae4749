// The policy service: runs the plugin, keeps what the plugin has to know of the server, and answers the
// shim's requests. (The shim is the plugin's code in pbs_server.bin.) The service's one thread is in
// pbs_server.bin or in pbs_policyd.
#pragma once

#include <atomic>
#include <functional>
#include <string>

namespace pbs::openpbs {

struct ServiceOptions {
    std::string plugin;      // path of pbs_policy.so
    std::string home;        // PBS_HOME
    bool scheduler = false;  // the plugin schedules, instead of pbs_sched
    std::function<void(const std::string&)> log{};
};

// Serves the shim over the socket `fd`, and owns the socket. Returns when the shim closes its end or `end` is
// set. Errors are logged; after an error the shim finds the socket closed.
void serve(int fd, const ServiceOptions& options, const std::atomic<bool>& end);

}  // namespace pbs::openpbs
