// What a cycle is run for, and what it decides.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// Why a cycle runs: the SCH_* codes of pbs_sched, and one more for a policy switch.
enum class CycleTrigger : std::int32_t {
    job_new = 1,
    job_ended = 2,
    timer = 3,
    recycle = 4,
    command = 5,
    configure = 7,
    first = 10,
    policy_switch = 64
};

enum class DecisionKind : std::uint8_t {
    run = 1,      // move to `queue` if it is elsewhere, set `set_resources`, start on `places`
    comment = 2,  // set the job's comment to `text`
    reject = 3,   // delete the job and tell its owner `text`
    move = 4,     // move to `queue` and leave it there
    estimate = 5  // the job is expected to start at `start` on `places`; without them, nothing is expected
};

struct Decision {
    DecisionKind kind{};
    JobHandle job{};
    QueueHandle queue{};
    std::string_view text;  // run: the comment to set, such as "Started on ..."
    std::span<const Amount> set_resources;
    std::span<const Place> places;
    std::optional<Instant> start{};
};

// A file that the policy wants written whole, such as SORTED_JOB_DUMPFILE: made readable by its owner only if
// it doesn't exist, else its permissions stay.
struct FileToWrite {
    std::string path;  // as configured; relative to the scheduler's sched_priv
    std::string text;
};

// What is to be appended to the schedule log of a scheduler's policy.
struct ScheduleRecords {
    std::string sched;
    FileToWrite file;
};

// What a cycle decided. Owns all that its decisions point to; may be moved, not copied.
struct Decisions {
    std::vector<Decision> list;  // to be applied in order
    std::int64_t jobs_considered = 0;
    std::vector<std::string> log;  // lines for the log; with TEST_ONLY, what would have been done
    std::optional<FileToWrite> sorted_jobs;
    // Records to be appended to the schedule log (schedule_log.h).
    std::optional<FileToWrite> schedule;
    // A job waits for the performance counters and for nothing else, or starts with them.
    bool hpm_wanted = false;
    std::unique_ptr<std::pmr::monotonic_buffer_resource> memory;
};

// The hardware performance counters of the hosts (sched-config guide, "MANAGE_HPM_COUNTERS").
enum class HpmCounters : std::uint8_t { unknown, global, user };

}  // namespace pbs::sched
