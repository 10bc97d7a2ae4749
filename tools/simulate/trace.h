// The jobs that a simulation submits, as a trace tells of them: who, when, how large, how long it ran. What a
// scheduler of today makes of them is the engine's to find out (engine.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pbs::simulate {

// One line for the person at the terminal: the file and the place in it, what was found, what was expected.
template <class T>
using Result = tl::expected<T, std::string>;

using Instant = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

// Texts that many jobs share, by number, in the order of their first use.
class Names {
  public:
    std::uint32_t number(std::string_view name);
    const std::string& operator[](std::uint32_t number) const { return names_[number]; }
    std::size_t size() const { return names_.size(); }
    const std::vector<std::string>& all() const { return names_; }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

// Resource names and values as in Resource_List, without walltime: ("select", "2:ncpus=4").
using RequestText = std::map<std::string, std::string, std::less<>>;
inline constexpr std::uint32_t kNoRequest = std::numeric_limits<std::uint32_t>::max();

struct TraceJob {
    std::uint64_t number = 0;   // of its id
    Instant submit{};           // when the scheduler could first see it
    Seconds run_time{0};        // what it ran for, or would have, had nobody stopped it
    Seconds walltime{-1};       // asked for; -1: none, or not known
    Seconds cput{-1};           // CPU time that it used; -1: not known
    Seconds recorded_wait{-1};  // how long it did wait, says the trace; -1: not known
    std::int64_t cpus = 1;
    std::int64_t mem = -1;               // bytes for all of the job; -1: not known
    std::uint32_t request = kNoRequest;  // in Trace::requests; kNoRequest: `cpus` and `mem` are all of it
    std::uint32_t user = 0;              // in Trace::users
    std::uint32_t group = 0;             // in Trace::groups
    std::uint32_t queue = 0;             // in Trace::queues
};

struct Trace {
    std::string name;            // the file
    std::vector<TraceJob> jobs;  // by the time of their submission
    Names users;
    Names groups;
    Names queues;  // where they were submitted to; "" is the default queue
    std::vector<RequestText> requests;
    std::string time_zone;       // an IANA name; empty: it doesn't say
    std::int64_t max_nodes = 0;  // of the machine that it comes from; 0: it doesn't say
    std::int64_t max_cpus = 0;
    // Why entries of the trace aren't simulated, with the number of such entries: ("never ran", 12).
    std::map<std::string, std::int64_t> left_out;
    std::vector<std::string> notes;  // what had to be assumed, a sentence each
};

// Puts the jobs in the order of their submission; those of the same second stay in the order of the trace.
void sort_by_submission(Trace& trace);

}  // namespace pbs::simulate
