// Scheduling cycles: when one runs, and what its decisions do to jobs.
#ifndef PBSPOLICY_HOST_CYCLE_H
#define PBSPOLICY_HOST_CYCLE_H

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server_plugin/host/plugin.h"
#include "server_plugin/host/server.h"

namespace pbs::host {

class Cycles {
  public:
    explicit Cycles(Server& server) : server_(server) {}

    // Runs what is wanted, each scheduler at most once, if its scheduling is on.
    void run_wanted();

    // Looks at the clock: the plugin's deadlines, and each scheduler's iteration. Call it at least each
    // second, for the clock may jump.
    void look_at_clock();

  private:
    void run(const std::string& sched, int trigger);

    Server& server_;
    std::map<std::string, int64_t> last_;  // scheduler to the instant of its last cycle
};

// Carries out decisions in order. Each that no longer fits (the job has gone, the vnode is full) is dropped
// with a line in the log. One transaction for all of them; the jobs start after it.
Result<void> apply_decisions(Server& server, int64_t now, const std::vector<Decision>& decisions);

}  // namespace pbs::host

#endif
