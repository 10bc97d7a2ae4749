// The jobs, column by column, fed by events; and the queues with the lists of their jobs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"

namespace pbs::sched {

using JobSlot = std::uint32_t;
using QueueSlot = std::uint32_t;
constexpr std::uint32_t no_slot = UINT32_MAX;

// Walltime of a job that asks for none: five years, as pbs_sched counts it.
constexpr Seconds unlimited_walltime{5LL * 365 * 24 * 3600};

enum JobFlag : std::uint8_t {
    job_interactive = 1,
    job_rerunnable = 2,
    job_has_comment = 4,
    job_fresh = 8,  // arrived in its queue after the last cycle
};

// The columns of job_fields.def.
struct JobColumns {
#define JOB_TEXT(name) std::vector<std::uint32_t> name;
#define JOB_NUMBER(name, type) std::vector<type> name;
#define JOB_INSTANT(name) std::vector<Instant> name;
#include "server_plugin/scheduler/model/job_fields.def"
    std::vector<std::uint8_t> flags;  // of JobFlag
};

// One entry a job in each column. Slots are reused.
struct JobTable : JobColumns {
    std::vector<JobHandle> handle;
    std::vector<std::string> id;
    std::vector<std::uint32_t> user;  // the pair group:user
    std::vector<QueueSlot> queue;
    std::vector<char> state;
    std::vector<Instant> eligible;  // etime, else ctime
    std::vector<Seconds> walltime;  // -1: none asked
    std::vector<std::uint32_t> request;
    std::vector<std::uint32_t> signature;
    std::vector<std::uint32_t> position;  // in its queue's list
    std::vector<std::uint32_t> comment;   // number of the text last given as a comment; 0: none
    std::vector<std::uint32_t> unused;    // slots
    std::unordered_map<std::uint64_t, JobSlot> by_handle;

    JobSlot add(JobHandle job);
    void remove(JobSlot slot);
    JobSlot find(JobHandle job) const;
    // The fields of job_fields.def, from a record and back. Of a slot that is new the old ones don't count.
    void take_fields(JobSlot slot, const JobFields& fields, Interner& strings);
    void give_fields(JobSlot slot, JobFields& fields, const Interner& strings) const;
    // What is reckoned with: the walltime asked for, else unlimited_walltime.
    Seconds expected_walltime(JobSlot slot) const {
        return walltime[slot] < Seconds(0) ? unlimited_walltime : walltime[slot];
    }
    // When a running job ends at the latest.
    Instant end(JobSlot slot) const { return stime[slot] + expected_walltime(slot); }
};

inline bool is_running(char state) {
    return state == 'R' || state == 'E';
}

struct Queue {
    QueueHandle handle{};
    bool known = false;  // its record came, and it isn't removed
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
    std::vector<std::string> acl_users;
    std::uint32_t partition = 0;
    std::int64_t backfill_depth = -1;
    ExecutionType execution_type = ExecutionType::any;

    std::vector<JobSlot> queued;   // in state Q, in no particular order
    std::vector<JobSlot> running;  // in state R or E
    Instant idle_since{};          // since when nothing runs; Epoch: not known yet
    // Of those that run, kept by Tables::count_running.
    std::int64_t nodes_in_use = 0;
    std::vector<std::int64_t> in_use;  // by resource
};

class QueueTable {
  public:
    // The slot of a handle, made if it isn't there: jobs may be told of before their queue.
    QueueSlot slot(QueueHandle handle);
    QueueSlot find(QueueHandle handle) const;
    QueueSlot find(std::string_view name) const;  // no_slot if there is none
    Queue& operator[](QueueSlot slot) { return queues_[slot]; }
    const Queue& operator[](QueueSlot slot) const { return queues_[slot]; }
    QueueSlot size() const { return static_cast<QueueSlot>(queues_.size()); }

  private:
    std::vector<Queue> queues_;
    std::unordered_map<std::uint64_t, QueueSlot> by_handle_;
};

// Puts a job into the list of its queue that its state calls for, and takes it out.
void enlist(JobTable& jobs, QueueTable& queues, JobSlot job);
void delist(JobTable& jobs, QueueTable& queues, JobSlot job);

}  // namespace pbs::sched
