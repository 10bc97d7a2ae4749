// The server's objects as the plugin knows them, with their handles.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/decision.h"
#include "cluster/job.h"
#include "cluster/records.h"
#include "server_plugin/client/plugin.h"
#include "server_plugin/openpbs/site.h"

namespace pbs::openpbs {

// A cycle's decision, in the server's own terms.
struct Decision {
    using Kind = cluster::Decision::Kind;
    Kind kind = Kind::comment;
    std::string job;    // the job's id, or the reservation's
    std::string queue;  // empty: stays where it is
    std::string text;
    std::vector<std::pair<std::string, std::string>> set_resources;
    std::string exec_vnode;
    std::vector<std::string> exec_vnodes;  // confirm: for each requested occurrence
    std::int64_t start = 0;                // estimate, confirm: when the job or reservation starts
    std::string for_job;                   // preempt: the job that gets the room
    std::string methods;                   // preempt: the letters of the methods to try
    bool after_preemptions = false;        // run: once the preempted jobs are gone
    std::int32_t accrue_type = 0;          // accrue: the new type
};

// Jobs of a queue, as OpenPBS counts them in the queue's state_count.
struct JobCount {
    std::int64_t running = 0;  // with suspended and ending ones, and with subjobs
    std::int64_t waiting = 0;
    bool operator==(const JobCount&) const = default;
};

class Records : private cluster::Names {
  public:
    explicit Records(client::Plugin& plugin) : plugin_(plugin), builder_(*this) {}
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    // Reports the differences between `before` (the `after` of the last call) and `after` to the plugin.
    // Returns the number of objects that differ. Vnodes stay as they are if `after` has none.
    std::size_t tell(const Site& before, const Site& after);

    // Reports a job to the plugin if it is new or has changed. True: more has changed than the use, places
    // and start of a running job.
    bool tell(std::int64_t now, Job job);
    // Reports that a job is gone. True: the plugin knew the job.
    bool forget(std::int64_t now, const std::string& job);

    // Reports the job as running, since the request to run it is on its way; for an array, its first waiting
    // subjob. Returns the id of the running job.
    std::string starts(std::int64_t now, const Decision& decision);
    // put_aside() holds a job back that the server refused to run or to move: else the plugin would choose it
    // again at once. take_up() ends that for all such jobs, except those for which `stays` is true.
    void put_aside(std::int64_t now, const std::string& job);
    void take_up(std::int64_t now, const std::function<bool(const std::string&)>& stays);
    // Notes that the server couldn't preempt the job, so that the plugin doesn't try again until the job
    // changes. A job that mom was still starting, which can't be suspended, may be tried again once it has
    // begun.
    void not_preemptable(std::int64_t now, const std::string& job);
    // Protects the running subjobs of this array from preemption. Empty id: protects none.
    void spare(std::int64_t now, const std::string& array);
    // Notes a comment that was sent to the server.
    void commented(const std::string& job, const std::string& comment);

    // Reports again the running jobs that have overrun their soft walltimes since the last call. Returns
    // them, with the new expected run times in seconds.
    std::vector<std::pair<std::string, std::int64_t>> extend(std::int64_t now);

    // The known jobs of a queue.
    JobCount count(const std::string& queue) const;
    // Are there arrays among them? The server also counts their subjobs that wait for another run.
    bool has_arrays(const std::string& queue) const;
    // Returns the running and the waiting jobs of the queue that the set of ids for them lacks. A set that
    // isn't given lacks none.
    std::vector<std::string> missing(const std::string& queue,
                                     const std::optional<std::set<std::string>>& running,
                                     const std::optional<std::set<std::string>>& waiting) const;
    std::vector<std::string> queues_with_jobs() const;

    const Job* job(const std::string& id) const;
    std::uint64_t handle(const std::string& job) const;
    const std::map<std::string, Job>& jobs() const { return jobs_; }
    // The job whose explanation answers a client that asks about `job`: for a subjob that waits, its array.
    // The server's name may be missing in `job`.
    std::string explained(const std::string& job) const;
    // May a user who is no operator see the job? `user` is as in Job_Owner.
    bool may_see(const std::string& user, const std::string& job) const;
    // Translates decisions into the server's own terms.
    std::vector<Decision> decisions(const client::Decisions& in) const;

  private:
    std::optional<cluster::ResourceRef> resource(std::string_view name) const override;
    std::optional<cluster::ResourceRef> resource(std::uint32_t id) const override;
    std::uint64_t queue(std::string_view name) const override;
    std::uint64_t vnode(std::string_view name) const override;
    std::string_view vnode_name(std::uint64_t vnode) const override;

    void tell(const Server& server);
    void tell(const std::string& name, const Sched& sched);
    void tell(const std::string& name, const Queue& queue);
    void tell(const std::string& name, const ResourceDefinition& resource);
    void tell(const std::string& name, const Vnode& vnode);
    void tell(const std::string& id, const Reservation& reservation);
    void tell_job(std::int64_t now, const Job& job);
    void tell_array(std::int64_t now, const std::string& subjob);
    std::int64_t suspended_seconds(std::int64_t now, const Job& job, const Job* before);
    void count_in_array(const std::string& array, int sign);
    void forget_waiting(std::int64_t now, const Job& array);
    void count_in_queue(const Job& job, int sign);
    char state_of(const Job& job) const;
    std::vector<std::string> exec_vnodes_of(std::span<const cluster::Place> places,
                                            std::string_view chunks) const;
    Decision decision(const cluster::Decision& in) const;

    client::Plugin& plugin_;
    cluster::RecordBuilder builder_;
    std::map<std::string, cluster::ResourceRef, std::less<>> resources_;  // views of their names here
    std::vector<std::string> resource_names_;                             // by id
    std::map<std::string, std::uint64_t, std::less<>> queues_;            // handles
    std::map<std::uint64_t, std::string> queue_names_;
    std::map<std::string, std::uint64_t, std::less<>> vnodes_;
    std::map<std::uint64_t, std::string> vnode_names_;
    std::map<std::string, Job> jobs_;
    std::unordered_map<std::string, std::uint64_t> job_handles_;
    std::unordered_map<std::uint64_t, std::string> job_names_;
    std::map<std::string, std::int64_t> running_subjobs_;  // by array
    struct InQueue {
        std::unordered_set<std::string> running;
        std::unordered_set<std::string> waiting;  // arrays, too
        std::int64_t arrays = 0;
    };
    std::map<std::string, InQueue> in_queues_;
    std::set<std::string> aside_;
    bool others_see_jobs_ = false;
    struct NotPreemptable {
        std::int64_t stime = 0;  // of the run that couldn't be preempted
        bool begun = false;
    };
    std::map<std::string, NotPreemptable> not_preemptable_;  // by job
    std::map<std::string, std::int64_t> suspended_for_;      // by running job: seconds
    std::string spared_;                                     // an array
    // Running jobs with a soft walltime, with the seconds to which it was extended; 0: not extended yet.
    std::map<std::string, std::int64_t> soft_;
    // A reservation's handle, and the span for which it holds its places.
    struct Reserved {
        std::uint64_t handle = 0;
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string chunks;  // the chunks that the reservation requests
    };
    std::map<std::string, Reserved> reservations_;
    std::uint64_t last_handle_ = 0;
};

}  // namespace pbs::openpbs
