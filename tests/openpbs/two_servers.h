// Two servers side by side in a box, with the same jobs, vnodes and settings: an OpenPBS server with its own
// scheduler, and a bundled server. The bundled server migrates the OpenPBS server's settings at its first
// start.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/openpbs/random_site.h"
#include "tests/openpbs/site.h"

namespace pbs::e2e {

// One of the two servers in a box.
struct Host {
    std::string name;
    std::string commands;    // text to put before a command: its environment and folder
    std::string sched_logs;  // the folder of its scheduler's logs
};
inline const Host kTheirs{"OpenPBS", "$stock/", "/var/spool/pbs/sched_logs"};
inline const Host kOurs{"pbspolicy", "PBS_HOME=/var/tmp/ours $ours/", "/var/tmp/ours/sched_logs"};

// The outcome of a cycle. A job's name is its number in the order of submission; a subjob's name also has its
// index.
struct StartsSeen {
    std::vector<std::string> started;           // names of the started jobs, in the order of their starts
    std::map<std::string, std::string> states;  // the state and vnodes of each job

    bool operator==(const StartsSeen&) const = default;
    std::string text() const;
};

class TwoServers {
  public:
    explicit TwoServers(const RandomSite& random);
    ~TwoServers();
    TwoServers(const TwoServers&) = delete;
    TwoServers& operator=(const TwoServers&) = delete;

    void submit(const std::vector<RandomSite::Job>& jobs);
    // Deletes some of the running jobs. `choice` is the seed by which they are chosen.
    void end_some(const StartsSeen& seen, std::uint64_t choice) const;
    StartsSeen cycle(const Host& host) const;
    // Returns whether the jobs that the cycle has started all have the same second as their start time.
    bool started_at_once(const Host& host, const StartsSeen& seen) const;

    // Returns the jobs' comments, for messages of tests.
    std::string comments(const Host& host) const;
    std::string report() const;

  private:
    void start_theirs() const;
    void make_vnodes() const;
    void put_times(const std::string& folder) const;
    void start_ours() const;
    std::string log_of(const Host& host) const;
    std::string name_of(const Host& host, const std::string& id) const;
    std::string id_of(const Host& host, const std::string& name) const;
    std::map<std::string, std::string> states(const Host& host) const;
    nlohmann::json jobs(const Host& host) const;

    const RandomSite& random_;
    Site box_;
    int submitted_ = 0;
    std::map<std::string, std::map<std::string, std::string>>
        names_;  // numbers in the order of submission, by host and by the number in the id
};

}  // namespace pbs::e2e
