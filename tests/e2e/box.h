// A box in which an OpenPBS server runs, made by box.sh: it has its own network, processes and files in /etc.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Returns the reason why no box can be made on this machine, or "" if one can.
std::string no_openpbs();
// Returns the prefix of the OpenPBS that is tested: the first one in PBSPOLICY_OPENPBS_PREFIX, a list with
// colons between its elements. openpbs_prefixes() returns all.
std::filesystem::path openpbs_prefix();
std::vector<std::string> openpbs_prefixes();
// The main() of programs whose tests need an OpenPBS. Runs all tests on each OpenPBS in
// PBSPOLICY_OPENPBS_PREFIX. Returns 0 if none failed.
int run_all_tests_on_each_openpbs(int argc, char** argv);

class Box {
  public:
    // Makes the box, but doesn't start its server.
    Box();
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    // Folder with the box's own files. It has the same path inside the box.
    const std::filesystem::path& folder() const { return folder_; }
    // Folder outside the box that the server in the box sees as /var/spool/pbs.
    std::filesystem::path home() const { return folder_ / "spool"; }

    // Runs a program in the box, as pbs::e2e::run() runs one outside it.
    Output run(const std::vector<std::string>& argv, const RunOptions& options = {}) const;
    // Runs OpenPBS's start-up script with `start` or `stop`. A start waits until the server answers.
    Output start_up(const std::string& what) const;
    // Kills the server by SIGKILL and waits until it has ended.
    Output kill_server() const;

  private:
    bool is_there();

    std::filesystem::path folder_;
    pid_t holder_ = -1;  // process of box.sh
    pid_t inner_ = -1;   // first process in the box
};

}  // namespace pbs::e2e
