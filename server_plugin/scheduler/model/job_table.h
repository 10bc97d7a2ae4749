// The table of jobs, in columns, and the queues with the lists of their jobs. Events update both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/column_index.h"
#include "server_plugin/scheduler/model/entity_limits.h"
#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"
#include "values/indices.h"
#include "values/sum.h"
#include "values/tables.h"

namespace pbs::sched {

using JobSlot = std::uint32_t;
using QueueSlot = std::uint32_t;
constexpr std::uint32_t kNoSlot = UINT32_MAX;

// The walltime of a job that requests none: five years, as in pbs_sched.
constexpr Seconds kUnlimitedWalltime{5LL * 365 * 24 * 3600};

enum JobFlag : std::uint16_t {
    job_interactive = 1,
    job_rerunnable = 2,
    job_has_comment = 4,
    job_fresh = 8,  // the job entered its queue, or was altered there, after the last cycle
    job_checkpointable = 16,
    job_suspended = 32,  // suspended by a decision; its state is Q here
    job_not_preemptable = 64,
    job_elsewhere = 128,
    job_topjob_ineligible = 256,
};

// Properties of a job that its request doesn't have, but by which limits can select jobs.
enum JobShape : std::uint8_t {
    shape_array = 1,  // a subjob
    shape_interactive = 2,
};

// The columns of job_fields.def.
struct JobColumns {
#define JOB_TEXT(name) std::vector<std::uint32_t> name;
#define JOB_NUMBER(name, type) std::vector<type> name;
#define JOB_INSTANT(name) std::vector<Instant> name;
#define JOB_SELDOM_NUMBER(name, type)
#define JOB_SELDOM_INSTANT(name)
#include "server_plugin/scheduler/model/job_fields.def"
    std::vector<std::uint16_t> flags;  // bits of JobFlag
};

// The fields of job_fields.def that few jobs have.
struct RareFields {
#define JOB_SELDOM_NUMBER(name, type) type name = 0;
#define JOB_SELDOM_INSTANT(name) Instant name{};
#include "server_plugin/scheduler/model/job_fields.def"
    friend bool operator==(const RareFields&, const RareFields&) = default;
};

// The jobs that the host has reported. Each job has one entry in each column. The index of a job's entries is
// its slot. Slots of removed jobs are reused.
struct JobTable : JobColumns {
    std::vector<JobHandle> handle;
    std::vector<std::string> id;
    std::vector<std::uint32_t> user;  // the number of the pair "group:user" in the Interner
    std::vector<QueueSlot> queue;
    std::vector<char> state;
    std::vector<Instant> eligible;  // etime if set, else ctime
    std::vector<Seconds> walltime;  // the walltime for planning; -1: none requested
    std::vector<std::uint32_t> request;
    std::vector<std::uint32_t> signature;
    std::vector<std::uint32_t> position;  // the job's index in Queue::queued or Queue::running
    std::vector<std::uint32_t> comment;   // the number of the text of its last comment; 0: none
    std::vector<std::uint32_t> unused;    // free slots
    // The accruals of jobs, if the host has reported them.
    values::HashMap<JobSlot, Accrual> accruals;
    // The walltime after which a job with a soft walltime is ended; kUnlimitedWalltime: it is not ended.
    struct HardWalltime {
        Seconds walltime{};
        bool extended = false;
    };
    values::HashMap<JobSlot, HardWalltime> hard_walltimes;
    values::HashMap<JobSlot, RareFields> rare;  // the RareFields of jobs that have any
    ColumnIndex<JobHandle> by_handle{handle};

    JobSlot add(JobHandle job);
    void remove(JobSlot slot);
    // Returns the slot of a job; kNoSlot: there is no such job.
    JobSlot find(JobHandle job) const {
        static_assert(decltype(by_handle)::kNone == kNoSlot);
        return by_handle.find(job);
    }
    // Calls visit(slot) for each job, in the order of the slots.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (JobSlot slot = 0; slot < handle.size(); ++slot)
            if (state[slot] != ' ') visit(slot);
    }
    // take_fields() copies the fields of job_fields.def from a record, and give_fields() copies them to one.
    void take_fields(JobSlot slot, const JobFields& fields, Interner& strings);
    void give_fields(JobSlot slot, JobFields& fields, const Interner& strings) const;
    // Returns the job's RareFields; all have their defaults if it has none.
    RareFields rare_fields(JobSlot slot) const {
        const auto found = rare.find(slot);
        return found == rare.end() ? RareFields{} : found->second;
    }
    // Returns the walltime for planning: the requested one, else kUnlimitedWalltime.
    Seconds expected_walltime(JobSlot slot) const {
        return walltime[slot] < Seconds(0) ? kUnlimitedWalltime : walltime[slot];
    }
    // Returns whether a decision has suspended the job, so that it waits to be resumed.
    bool is_suspended(JobSlot slot) const { return state[slot] == 'Q' && (flags[slot] & job_suspended) != 0; }
    // Returns whether a decision can stop the job. It can't if an operator has suspended the job, or the job
    // is ending.
    bool can_be_stopped(JobSlot slot) const {
        return state[slot] == 'R' && (flags[slot] & job_not_preemptable) == 0;
    }
    // Returns whether the job waits on another server. Such a job starts here if it can now. Otherwise
    // nothing is reserved for it, it gets no comment, and it doesn't prevent other starts.
    bool is_elsewhere(JobSlot slot) const { return (flags[slot] & job_elsewhere) != 0; }
    // Returns the remaining walltime of a suspended job, at least a second; -1: it requested none. For any
    // other job, the requested walltime.
    Seconds walltime_left(JobSlot slot) const {
        if (walltime[slot] < Seconds(0) || !is_suspended(slot)) return walltime[slot];
        return std::max(Seconds(1), walltime[slot] - Seconds(rare_fields(slot).elapsed));
    }
    // Returns the job's shapes, as bits of JobShape.
    std::uint8_t shape(JobSlot slot) const {
        return static_cast<std::uint8_t>((values::is_of_array(id[slot]) ? shape_array : 0) |
                                         ((flags[slot] & job_interactive) != 0 ? shape_interactive : 0));
    }
    // Returns a number for the array that the job is or belongs to, made from the number in its id; 0: the
    // job is neither an array nor a subjob. Arrays of one server that exist together have different numbers.
    std::uint32_t array(JobSlot slot) const {
        if (!values::is_of_array(id[slot])) return 0;
        std::string_view text = id[slot];
        const auto number = values::take_number<std::uint64_t>(text).value_or(0);
        return static_cast<std::uint32_t>(number % UINT32_MAX) + 1;
    }
    Entities entities(JobSlot slot) const {
        return {owner[slot], group[slot], project[slot], shape(slot), array(slot)};
    }
    // Returns the walltime after which the job is ended; 0: it is the walltime for planning.
    Seconds hard_walltime(JobSlot slot) const {
        const auto found = hard_walltimes.find(slot);
        return found == hard_walltimes.end() ? Seconds(0) : found->second.walltime;
    }
    // Returns whether the job has overrun its soft walltime.
    bool is_extended(JobSlot slot) const {
        const auto found = hard_walltimes.find(slot);
        return found != hard_walltimes.end() && found->second.extended;
    }
    // Returns the remaining part of a suspended job's hard_walltime().
    Seconds hard_walltime_left(JobSlot slot) const {
        const Seconds hard = hard_walltime(slot);
        if (hard == Seconds(0) || !is_suspended(slot)) return hard;
        return std::max(Seconds(1), hard - Seconds(rare_fields(slot).elapsed));
    }
    // Returns the instant at which a running job will be ended: by its hard walltime, if it has a soft one,
    // too.
    Instant hard_end(JobSlot slot) const {
        const Seconds hard = hard_walltime(slot);
        return hard == Seconds(0) ? end(slot) : stime[slot] + hard;
    }
    // Returns the instant by which a running job ends according to its walltime for planning.
    Instant end(JobSlot slot) const { return stime[slot] + expected_walltime(slot); }
};

// Returns whether a job in this state holds vnodes. Jobs in state S do, because a job that a decision has
// suspended is in state Q here.
inline bool is_running(char state) {
    return state == 'R' || state == 'E' || state == 'S';
}

class QueueHours;

struct Queue {
    QueueHandle handle{};
    bool known = false;  // the host has reported the queue, and hasn't removed it
    std::string name;
    bool execution = true;
    bool started = true;
    bool enabled = true;
    bool user_acl = false;
    std::int32_t priority = 0;
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::vector<KeptAmount> resources_max;
    std::vector<KeptAmount> resources_min;
    std::vector<KeptAmount> resources_available;
    std::string node_group_key;
    std::vector<std::string> acl_users;
    std::uint32_t partition = 0;
    std::int64_t backfill_depth = -1;
    ExecutionType execution_type = ExecutionType::any;
    EntityLimits limits;
    const QueueHours* hours = nullptr;  // the hours by its time_windows; null: they stop no jobs

    std::vector<JobSlot> queued;   // its jobs in state Q, in no particular order
    std::vector<JobSlot> running;  // its jobs in state R, E or S
    Instant idle_since{};          // since when no job runs in it; Epoch: not known yet
    // Amounts that the running jobs use. Tables::count_running() updates them.
    std::int64_t nodes_in_use = 0;
    std::vector<values::Sum> in_use;  // by resource
};

// The queues of jobs. A slot without a queue has handle 0.
class QueueTable {
  public:
    // Returns the slot of a handle; makes a new one if there is none, because the host may report a job
    // before the job's queue.
    QueueSlot slot(QueueHandle handle);
    QueueSlot find(QueueHandle handle) const;
    QueueSlot find(std::string_view name) const;  // kNoSlot if there is none
    // Marks a queue as removed. Its slot stays until reuse().
    void remove(QueueSlot slot);
    // Returns whether so many queues have been removed that reuse() is worth its time.
    bool wants_reuse() const {
        return removed_.size() > std::max<std::size_t>(kMostRemoved, by_handle_.size() / 2);
    }
    // Forgets the removed queues whose slots aren't in use; later queues get these slots. `in_use`: by slot.
    void reuse(const std::vector<bool>& in_use);
    Queue& operator[](QueueSlot slot) { return queues_[slot]; }
    const Queue& operator[](QueueSlot slot) const { return queues_[slot]; }
    QueueSlot size() const { return static_cast<QueueSlot>(queues_.size()); }

  private:
    static constexpr std::size_t kMostRemoved = 64;

    std::vector<Queue> queues_;
    std::unordered_map<std::uint64_t, QueueSlot> by_handle_;
    std::vector<QueueSlot> removed_;  // the host has removed their queues
    std::vector<QueueSlot> unused_;   // free slots
};

// enlist() adds a job to its queue's list for its state; delist() removes it.
void enlist(JobTable& jobs, QueueTable& queues, JobSlot job);
void delist(JobTable& jobs, QueueTable& queues, JobSlot job);

}  // namespace pbs::sched
