// The policy service: the plugin with its view of the server, and the answers to the shim's requests. One
// thread of pbs_server.bin, or of pbs_policyd, runs it.
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

// Answers on the socket `fd`, which it owns, until the other end closes it or `end` is set. Errors are
// logged: the other end sees that the socket is closed.
void serve(int fd, const ServiceOptions& options, const std::atomic<bool>& end);

}  // namespace pbs::openpbs
