// A box (box.sh) for a real OpenPBS server, with its own network, processes and files in /etc.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Says why no box can be made here; empty: it can.
std::string no_openpbs();
// Prefix of the installed OpenPBS; the first one if PBSPOLICY_OPENPBS_PREFIX names several, separated by
// colons.
std::filesystem::path openpbs_prefix();
std::vector<std::string> openpbs_prefixes();
// main() of programs whose tests need an OpenPBS: runs all tests on each OpenPBS that is named. Returns 0 if
// none failed.
int run_all_tests_on_each_openpbs(int argc, char** argv);

class Box {
  public:
    // Makes the box without starting the server.
    Box();
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    // Folder of everything that the box has of its own, under the same path inside.
    const std::filesystem::path& folder() const { return folder_; }
    // Folder that is /var/spool/pbs inside.
    std::filesystem::path home() const { return folder_ / "spool"; }

    // Runs a program in the box, as pbs::e2e::run() does outside.
    Output run(const std::vector<std::string>& argv, const RunOptions& options = {}) const;
    // Runs OpenPBS's start-up script with `start` or `stop`. A start waits until the server answers.
    Output start_up(const std::string& what) const;
    // Kills the server by SIGKILL and waits for its end.
    Output kill_server() const;

  private:
    bool is_there();

    std::filesystem::path folder_;
    pid_t holder_ = -1;  // process of box.sh
    pid_t inner_ = -1;   // first process in the box
};

}  // namespace pbs::e2e
