// A trace: the jobs that a simulation submits, each with its user, time, size and run time. The simulated
// scheduler decides when they start (engine.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pbs::simulate {

// A result, or an error: one line for the user, with the file and position, the text found and the expected
// form.
template <class T>
using Result = tl::expected<T, std::string>;

using Instant = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

// Gives numbers to texts that many jobs share, in the order of first use.
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

// The requested resources of a job, without walltime, as in Resource_List: ("select", "2:ncpus=4").
using RequestText = std::map<std::string, std::string, std::less<>>;
inline constexpr std::uint32_t kNoRequest = std::numeric_limits<std::uint32_t>::max();

struct TraceJob {
    std::uint64_t number = 0;   // number in its id
    Instant submit{};           // when it became eligible
    Seconds run_time{0};        // run time, if nothing stops the job
    Seconds walltime{-1};       // requested; -1: none or unknown
    Seconds cput{-1};           // used CPU time; -1: unknown
    Seconds recorded_wait{-1};  // wait in the recorded system; -1: unknown
    std::int64_t cpus = 1;
    std::int64_t least_cpus = 0;         // the fewest CPUs that it may have (moldable.h); 0: it needs `cpus`
    std::int64_t mem = -1;               // bytes for the whole job; -1: unknown
    std::uint32_t request = kNoRequest;  // index in Trace::requests; kNoRequest: only `cpus` and `mem` are
                                         // known
    std::uint32_t user = 0;              // index in Trace::users
    std::uint32_t group = 0;             // index in Trace::groups
    std::uint32_t project = 0;           // index in Trace::projects
    std::uint32_t queue = 0;             // index in Trace::queues

    // Returns the run time with this number of CPUs. A moldable job with fewer CPUs runs longer than
    // run_time, because its work stays the same.
    Seconds run_time_with(std::int64_t given) const {
        return least_cpus == 0 ? run_time : Seconds((run_time.count() * cpus + given - 1) / given);
    }
};

struct Trace {
    Trace() { projects.number(""); }

    std::string name;            // name of the file
    std::vector<TraceJob> jobs;  // sorted by submission time
    Names users;
    Names groups;
    Names projects;  // "": unknown; always the first one, for jobs of formats without projects
    Names queues;    // queues of submission; "" is the default queue
    std::vector<RequestText> requests;
    std::string time_zone;       // an IANA name; empty: unknown
    std::int64_t max_nodes = 0;  // size of the recorded machine; 0: unknown
    std::int64_t max_cpus = 0;
    // The number of entries of the file that aren't simulated, by the reason: ("never ran", 12).
    std::map<std::string, std::int64_t> left_out;
    std::vector<std::string> notes;  // assumptions about the trace, a sentence each
};

// Returns the CPUs of a select such as "2:ncpus=4:mem=1gb+1:ncpus=8"; nullopt: the text is no select, or has
// more than 100 million of them.
std::optional<std::int64_t> cpus_of_select(std::string_view select);

// Sorts the jobs by submission; those of the same second keep their order.
void sort_by_submission(Trace& trace);

}  // namespace pbs::simulate
