// World: a small host (batch server) for tests. It tells a Scheduler of resources, queues, vnodes and jobs,
// and carries out the decisions of the Scheduler's cycles.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched::test {

constexpr std::int64_t kMb = 1 << 20;
constexpr std::int64_t kGb = 1 << 30;
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kMinute = 60;

// Monday, 2026-11-23, 00:00:00 UTC. at() returns instants by the time after this one.
constexpr Instant kMonday{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23}};
constexpr Instant at(int hours, int minutes = 0, int seconds = 0) {
    return kMonday + std::chrono::hours(hours) + std::chrono::minutes(minutes) + Seconds(seconds);
}

enum ResourceIds : std::uint32_t {
    ncpus,
    mem,
    walltime,
    ssinodes,
    select_,
    place,
    host,
    hpm,
    gpus,
    arch,
    bigmem,
    deadline,
    start_within,
    select_range,
    chunk_order,
    per_host,
    prefer
};

struct HeldAmount {
    std::uint32_t resource;
    std::int64_t number;
};

// A limit on the running jobs, or their use of a resource, of users, groups or all.
struct LimitOptions {
    EntityKind entity = EntityKind::all;
    std::string name{};                   // empty: each entity of this kind
    std::uint32_t resource = UINT32_MAX;  // UINT32_MAX: the limit is on the number of jobs
    std::int64_t most = 0;
    bool soft = false;
};
std::vector<EntityLimitRecord> records_of(const std::vector<LimitOptions>& limits);

struct QueueOptions {
    std::string name;
    bool execution = true;
    bool started = true;
    int priority = 0;
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::int64_t nodes = -1;  // the queue's resources_max.ssinodes
    std::int64_t max_ncpus = -1;
    std::int64_t max_mem = -1;
    std::int64_t max_walltime = -1;
    std::int64_t min_ncpus = -1;
    std::int64_t available_ncpus = -1;
    std::int64_t available_gpus = -1;
    std::vector<std::string> acl_users{};
    std::string partition{};
    std::int64_t backfill_depth = -1;
    ExecutionType execution_type = ExecutionType::any;
    std::vector<LimitOptions> limits{};
    std::string node_group_key{};
};

struct VnodeOptions {
    std::string name;
    std::int64_t ncpus = 4;
    std::int64_t mem = 8 * kGb;
    std::string host{};  // name of the host; empty: that of the vnode
    bool free = true;
    int priority = 0;
    std::string queue{};
    std::int64_t load = -1;     // load average in thousandths; -1: none
    std::int64_t systime = -1;  // part of time in the system, in thousandths; -1: none
    Instant load_at{};
    std::int64_t max_load = -1;  // in thousandths; -1: none
    Sharing sharing = Sharing::default_shared;
    bool busy = false;
    std::int64_t gpus = -1;
    std::string arch{};
    int bigmem = -1;
    std::string partition{};
    std::string host_resource{};     // value of resources_available.host
    std::vector<HeldAmount> more{};  // amounts of other resources
};

struct JobOptions {
    std::string queue = "submit";
    std::string owner = "ann";
    std::string group = "staff";
    std::string project{};
    std::int64_t nodes = -1;  // gives ncpus as a number of nodes, if ncpus isn't given
    std::int64_t ncpus = -1;
    std::int64_t mem = -1;
    std::int64_t walltime = 600;  // seconds; -1: none
    std::int64_t soft_walltime = 0;
    bool extended = false;  // the job runs beyond its soft walltime
    std::string select{};
    std::string place{};
    std::string run_host{};
    bool interactive = false;
    int subjob = 0;  // index in its array; 0: it isn't a subjob
    int array = 0;   // number of its array; 0: the job's own number
    bool has_comment = false;
    bool rerunnable = true;
    bool checkpointable = false;
    bool not_preemptable = false;
    bool elsewhere = false;
    bool topjob_ineligible = false;
    int priority = 0;
    Instant queued = at(0);
    Instant eligible{};  // the Epoch: like `queued`
    Instant modified{};  // the Epoch: like `queued`
    std::int64_t gpus = -1;
    std::int64_t hpm = -1;
    std::int64_t ssinodes = -1;  // number of nodes that the host reports for a started job
    char state = 'Q';
    std::string origin_queue{};  // empty: like `queue`
    std::string account{};
    std::int64_t used_mem = -1;  // memory in bytes that the job has used so far
    std::string deadline{};
    std::int64_t start_within = -1;
    int together = 0;  // the job is an array, of which so many subjobs start together; 0: it isn't
    std::string select_range{};
    std::string chunk_order{};
    std::int64_t per_host = -1;
    std::string prefer{};
    std::string arch{};  // this and bigmem are requests of the whole job
    int bigmem = -1;     // 0: False, 1: True
};

// Options of an advance or standing reservation. The reservation's queue is named "R" and its number.
struct ReservationOptions {
    Instant start{};
    Instant end{};
    std::string select = "1:ncpus=1";
    std::string place{};
    std::vector<std::pair<Instant, Instant>> later{};  // later occurrences of a standing reservation
    std::string later_select{};                        // request at later occurrences; empty: `select`
    std::set<std::size_t> only{};  // numbers of the occurrences to ask for again; empty: all
    bool soonest = false;          // begin as soon as its vnodes are free
    std::string select_range{};
    std::string chunk_order{};
    std::int64_t per_host = -1;
    std::string prefer{};
};

// The decisions of a cycle, by the numbers of jobs and reservations and the names of queues.
struct Outcome {
    std::map<int, std::string> confirmed;  // exec_vnode of confirmed reservations; ";" separates occurrences
    std::map<int, Instant> begins;         // starts of reservations with `soonest`
    std::map<int, std::string> denied;     // reasons of denied reservations
    std::vector<int> started;
    std::map<int, std::string> queue;    // queues in which jobs started
    std::map<int, std::string> comment;  // comments of started and other jobs
    std::map<int, std::string> rejected;
    std::map<int, std::string> moved;                // queues to which jobs moved without a start
    std::map<int, std::int64_t> ssinodes;            // values that a start sets
    std::map<int, std::string> select;               // values that a start sets
    std::map<int, std::vector<std::string>> vnodes;  // vnodes of jobs that start or have an expected start
    // Vnodes of the jobs in `vnodes` with the amounts that they give, such as
    // "(n1:ncpus=2+n2:ncpus=1)+(n2:ncpus=3)", in which parentheses enclose a chunk. Only ncpus and mem (in
    // megabytes) are included.
    std::map<int, std::string> exec_vnode;
    std::map<int, std::optional<Instant>> expected;        // expected starts
    std::map<int, std::pair<int, std::string>> preempted;  // job for which each was preempted, and methods
    std::map<int, AccrueType> accrue;                      // new accrual types of jobs, if they changed
    std::map<int, int> weights;                            // new weights of running jobs
    std::vector<std::string> log;
    std::string sorted_jobs;
    std::string schedule;                      // records for the schedule log
    std::set<std::string, std::less<>> wants;  // the cycle's Decisions::wants
    std::int64_t considered = 0;               // number of jobs that the cycle considered
    std::int64_t look_aheads = 0;              // number of its look-aheads
    std::int64_t searches_ahead = 0;           // number of its searches for places in look-aheads
};

class Journal;

class World {
  public:
    explicit World(rrule::Zone zone = rrule::Zone::utc());

    // Makes this World keep its calls. journal() returns them as text (journal.h).
    void keep_journal();
    std::string journal() const;
    // Keeps the calls, and prints them at the end of this World if the test has failed by then.
    void paste_on_failure();

    Configuration configuration;
    Settings& policy(const std::string& name = "p1") { return configuration.policies[name]; }
    // Makes p1 an Origin policy without limits, and makes the queues submit and `batch_queues`.
    Settings& origin(const std::vector<std::string>& batch_queues = {"batch"});
    void prime_time(int from_hour, int to_hour);  // makes prime time, on Monday to Friday
    rrule::WindowSet window(const std::string& rule, int from_hour, int to_hour, bool on_holidays = true,
                            const std::vector<std::string>& holidays = {});
    void configure();  // gives the member `configuration` to the scheduler

    void queue(const QueueOptions& options);
    void vnode(const VnodeOptions& options);
    void vnodes(int count, const VnodeOptions& options);  // named name, name1, name2, ...
    void server(const ServerRecord& record);
    int job(const JobOptions& options, Instant now = at(0));
    void change(int job, const JobOptions& options, Instant now);
    // Changes options of a job, which keeps its state and its vnodes.
    void alter(int job, const JobOptions& options, Instant now);
    // Puts a job on a vnode as if it had been started at `started`. The job holds its `ncpus` of the vnode.
    void run(int job, const std::string& queue, const std::string& vnode, Instant started);
    void finish(int job, Instant now);
    // Preempts a running job by a method: S (suspend), C (checkpoint), R (requeue) or D (delete).
    void preempt(int job, char method, Instant now);

    // Requests a reservation. Makes its queue, which is stopped. Returns the reservation's number.
    int reserve(const ReservationOptions& options);
    // Asks for other vnodes for a reservation. It keeps its vnodes until the answer.
    void ask_again(int reservation, const ReservationOptions& options);
    // Starts the queue of a reservation. end_reservation() ends the queue's jobs and removes the queue.
    void begin_reservation(int reservation);
    void end_reservation(int reservation, Instant now);
    static std::string queue_of_reservation(int reservation) { return "R" + std::to_string(reservation); }
    struct Reserved {
        ReservationOptions options;
        bool asked = true;
        bool begun = false;
        using Places = std::vector<std::pair<std::uint64_t, std::vector<HeldAmount>>>;
        Places places{};              // vnodes at its first occurrence
        std::vector<Places> later{};  // vnodes at each later occurrence
        ReservationOptions held{};    // the occurrences for which it has these vnodes
        bool asks(std::size_t number) const {
            return asked && (options.only.empty() || options.only.contains(number));
        }
    };
    const std::map<int, Reserved>& reservations() const { return reservations_; }
    VnodeHandle vnode_handle(const std::string& name) const { return vnodes_.at(name); }

    // Opens a queue only within a window, which is named after the queue. configure() puts the window in
    // force.
    void hours(const std::string& queue, rrule::WindowSet open, AtClose at_close = AtClose::run);

    // Runs a cycle. With `apply`, carries out its decisions.
    Outcome cycle(Instant now, bool apply = true, const std::string& sched = "default",
                  CycleTrigger trigger = CycleTrigger::timer);

    // Converts decisions to an Outcome. With `apply`, carries them out, except those about skipped jobs.
    Outcome take(const Decisions& decisions, Instant now, bool apply, const std::set<int>& skipped = {});

    std::string id(int job) const;
    const JobOptions& options(int job) const { return jobs_.at(job).options; }
    bool exists(int job) const { return jobs_.contains(job); }
    bool running(int job) const { return jobs_.contains(job) && jobs_.at(job).state == 'R'; }
    bool suspended(int job) const { return jobs_.contains(job) && jobs_.at(job).state == 'S'; }
    Instant started(int job) const { return jobs_.at(job).started; }
    const std::vector<std::pair<std::uint64_t, std::vector<HeldAmount>>>& places(int job) const {
        return jobs_.at(job).places;
    }
    const Accrual& accrual(int job) const { return jobs_.at(job).accrual; }
    std::string queue_of(int job) const { return jobs_.at(job).queue; }

    Scheduler scheduler;

  private:
    struct Job {
        JobOptions options;
        std::string queue;
        char state = 'Q';
        Instant started{};
        Instant modified{};
        bool has_comment = false;
        std::vector<std::pair<std::uint64_t, std::vector<HeldAmount>>> places;
        Instant preempted_at{};  // time of its preemption; the Epoch: none
        Accrual accrual{};
    };
    void note(std::function<std::string()> call);
    void set_queue(const QueueOptions& options);
    void drop_reservation(int reservation, Instant now);
    void remove(int number, Instant now);
    void resume(Job& job, Instant now);
    int split_off_subjob(int number);
    void send(int number, Instant now);
    void send_reservation(int number);
    std::string exec_vnode(std::span<const Place> places) const;

    std::shared_ptr<Journal> journal_;       // null: no journal is kept
    std::vector<rrule::WindowSet> windows_;  // those that window() has made for a journal: w0, w1, ...
    rrule::Zone zone_;
    std::map<int, Job> jobs_;
    std::map<int, Reserved> reservations_;
    int next_reservation_ = 1;
    std::map<std::string, QueueHandle> queues_;
    std::map<std::string, VnodeHandle> vnodes_;
    std::map<std::uint64_t, std::string> vnode_names_;
    int next_job_ = 1;
};

}  // namespace pbs::sched::test
