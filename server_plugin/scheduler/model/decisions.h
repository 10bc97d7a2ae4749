// The reasons for a cycle, and its decisions.
#pragma once

#include <array>
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

// The reason why a cycle runs: the SCH_* codes of pbs_sched, and one for a policy switch.
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

// The methods of preemption: the job is suspended, checkpointed, requeued or deleted.
enum class PreemptMethod : char { none = 0, suspend = 'S', checkpoint = 'C', requeue = 'R', remove = 'D' };
// Methods in the order in which they are tried.
using PreemptMethods = std::array<PreemptMethod, 4>;

enum class DecisionKind : std::uint8_t {
    run = 1,      // move the job to `queue` if it is elsewhere, set `set_resources`, start it on `places`
    comment = 2,  // set the job's comment to `text`
    reject = 3,   // delete the job and tell its owner `text`
    move = 4,     // move the job to `queue` and leave it there
    // The job is expected to start at `start` on `places`. Without `start`, no start is expected.
    estimate = 5,
    // The running job is preempted for `for_job`, by the first of `methods` that succeeds. Without `for_job`
    // the hours of its queue have ended, and `text` is its comment.
    preempt = 6,
    accrue = 7,   // from now on the job's time counts as `accrue_type`
    confirm = 8,  // the reservation has `places`: those of each occurrence that was asked for
    deny = 9,     // the reservation can't be had, for the reason in `text`
    weigh = 10    // the processes of the running job get `weight`
};

struct Decision {
    DecisionKind kind{};
    JobHandle job{};
    QueueHandle queue{};
    std::string_view text;  // as DecisionKind says; of a run: the comment to set
    std::span<const Amount> set_resources;
    std::span<const Place> places;
    // The start in an estimate, and in the confirmation of a reservation that begins as soon as possible.
    std::optional<Instant> start{};
    JobHandle for_job{};
    PreemptMethods methods{};
    AccrueType accrue_type = AccrueType::initial;
    // For a run: the job starts when all jobs preempted for it have given their places back.
    bool after_preemptions = false;
    // For a run of an array's subjob: the number of decisions, from this one on, that start subjobs of the
    // same array, all of them or none. 0: the job starts alone.
    std::uint32_t together = 0;
    ReservationHandle reservation{};  // the reservation of confirm and deny, which have no job
    // The part of the machine's CPUs that the processes of a job get when they compete with those of other
    // jobs: from 1 to 10000, where 100 is usual (cpu.weight of Linux).
    std::int32_t weight = 100;
};

// A file that the policy names, such as SORTED_JOB_DUMPFILE. A new file is readable by its owner only; an
// existing one keeps its permissions.
struct FileToWrite {
    std::string path;  // as configured; a relative path begins in the scheduler's sched_priv
    std::string text;
};

// Lines to be appended to the schedule log of a scheduler's policy.
struct ScheduleRecords {
    std::string sched;
    FileToWrite file;
};

// The decisions of a cycle. Owns all data that they point to; can be moved but not copied.
struct Decisions {
    std::vector<Decision> list;  // to be applied in order
    std::int64_t jobs_considered = 0;
    std::int64_t look_aheads = 0;     // how often the cycle looked ahead for the start of a job
    std::int64_t searches_ahead = 0;  // how often it searched for a place at instants to come
    // The classes of events that the policy logs in the scheduler's log; -1: there is no policy.
    std::int64_t log_event = -1;
    // Lines for the server's log. With TEST_ONLY these are the decisions that would have been made.
    std::vector<std::string> log;
    std::optional<FileToWrite> sorted_jobs;
    // Records to be appended to the schedule log (schedule_log.h).
    std::optional<FileToWrite> schedule;
    // The names of QuestionRules (framework/questions.h) whose questions are urgent: a job starts that needs
    // the answer, or waits for nothing else.
    std::vector<std::string_view> wants;
    std::unique_ptr<std::pmr::monotonic_buffer_resource> memory;
};

}  // namespace pbs::sched
