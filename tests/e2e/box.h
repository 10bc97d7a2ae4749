// A box (box.sh) for a real server of OpenPBS, with a network, processes and files in /etc of its own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Why there can be no box here; empty: there can.
std::string no_openpbs();
// Where OpenPBS is installed; the first place, where PBSPOLICY_OPENPBS_PREFIX names several with colons
// between.
std::filesystem::path openpbs_prefix();
std::vector<std::string> openpbs_prefixes();
// What main() of a program does whose tests need an OpenPBS: runs them all, on one after the other where
// several are named. 0: none has failed.
int run_all_tests_on_each_openpbs(int argc, char** argv);

class Box {
  public:
    // Makes it; nothing is started yet.
    Box();
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    // Everything that the box has of its own is below this folder, which has the same path inside.
    const std::filesystem::path& folder() const { return folder_; }
    // Which is /var/spool/pbs inside.
    std::filesystem::path home() const { return folder_ / "spool"; }

    // Runs a program in the box as pbs::e2e::run() does outside.
    Output run(const std::vector<std::string>& argv, const RunOptions& options = {}) const;
    // OpenPBS's start-up script, with `start` or `stop`, and a start waits until the server answers.
    Output start_up(const std::string& what) const;
    // With SIGKILL, and waits until it has gone.
    Output kill_server() const;

  private:
    bool is_there();

    std::filesystem::path folder_;
    pid_t holder_ = -1;  // box.sh
    pid_t inner_ = -1;   // the box's first process
};

}  // namespace pbs::e2e
