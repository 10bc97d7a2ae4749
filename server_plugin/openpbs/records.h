// Holds the server's objects as the plugin knows them, with the handles by which they are reported to the
// plugin.
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

// A cycle's decision, in the server's terms: ids and names in place of handles.
struct Decision {
    using Kind = cluster::Decision::Kind;
    Kind kind = Kind::comment;
    std::string job;    // the id of the job or the reservation
    std::string queue;  // the queue to move the job to; empty: it stays in its queue
    std::string text;
    std::vector<std::pair<std::string, std::string>> set_resources;
    std::string exec_vnode;
    std::vector<std::string> exec_vnodes;  // confirm: the places of each requested occurrence
    std::int64_t start = 0;                // estimate, confirm: when the job or reservation starts
    std::string for_job;                   // preempt: the job that gets the room; empty: none
    std::string methods;                   // preempt: the letters of the methods to try
    bool after_preemptions = false;        // run: start the job once the preempted jobs have made room
    std::uint32_t together = 0;            // run: as in cluster::Decision
    std::int32_t accrue_type = 0;          // accrue: the new type
};

// The number of jobs in a queue, as OpenPBS counts them in state_count.
struct JobCount {
    std::int64_t running = 0;  // includes suspended jobs, ending jobs and subjobs
    std::int64_t waiting = 0;
    bool operator==(const JobCount&) const = default;
};

class Records : private cluster::Names {
  public:
    explicit Records(client::Plugin& plugin) : plugin_(plugin), builder_(*this) {}
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    // Reports to the plugin the differences between `before`, which is the `after` of the last call, and
    // `after`. Returns the number of objects that differ. If `after` has no vnodes, the known vnodes stay.
    std::size_t tell(const Site& before, const Site& after);

    // Reports a job to the plugin if it is new or has changed. Returns whether more has changed than the use,
    // places and start of a running job.
    bool tell(std::int64_t now, Job job);
    // Reports that a job is gone. Returns whether the plugin knew the job.
    bool forget(std::int64_t now, const std::string& job);

    // Reports a job as running, when the request to run it is sent. If the decision is about an array, the
    // job is its first waiting subjob. Returns the id of the job that runs; empty: there is no such job, or
    // no subjob waits.
    std::string starts(std::int64_t now, const Decision& decision);
    // The server may refuse to run or to move a job. put_aside() then keeps the plugin from choosing the job
    // again at once. take_up() lets the plugin choose all such jobs again, except those for which `stays`
    // returns true.
    void put_aside(std::int64_t now, const std::string& job);
    void take_up(std::int64_t now, const std::function<bool(const std::string&)>& stays);
    // Notes that the server couldn't preempt the job, so that the plugin doesn't try it again until the job
    // changes. If mom was still starting the job, it couldn't be suspended; then it may be tried again once
    // it has begun.
    void not_preemptable(std::int64_t now, const std::string& job);
    // Protects the running subjobs of this array from preemption. An empty id ends the protection.
    void spare(std::int64_t now, const std::string& array);
    // Notes the comment of a job that was sent to the server.
    void commented(const std::string& job, const std::string& comment);

    // Reports again the running jobs that have exceeded their soft walltimes since the last call. Returns
    // their ids, with the new expected run times in seconds.
    std::vector<std::pair<std::string, std::int64_t>> extend(std::int64_t now);

    // Returns the number of known jobs of a queue.
    JobCount count(const std::string& queue) const;
    // Returns whether the queue has arrays. In such a queue the server also counts subjobs that wait to run
    // again.
    bool has_arrays(const std::string& queue) const;
    // Returns the known running jobs of the queue that aren't in `running`, and the known waiting jobs that
    // aren't in `waiting`. If a set isn't given, the jobs of its kind aren't returned.
    std::vector<std::string> missing(const std::string& queue,
                                     const std::optional<std::set<std::string>>& running,
                                     const std::optional<std::set<std::string>>& waiting) const;
    std::vector<std::string> queues_with_jobs() const;

    // Reads the places that a request names for a job: an exec_vnode, or vnodes over which the job's chunks
    // are distributed. PBSE_UNKNODE, PBSE_UNKRESC; PBSE_IVALREQ: more than ifl::kMostTestedPlaces places.
    ifl::Result<std::vector<cluster::Place>> named_places(const Job& job, std::string_view location) const;
    // Writes places as an exec_vnode of the job.
    std::string exec_vnode(const Job& job, std::span<const cluster::Place> places) const;
    // The places as the plugin gets them, valid until the next report.
    const std::vector<pbs_place>& places(const std::vector<cluster::Place>& places) {
        return builder_.places(places);
    }

    const Job* job(const std::string& id) const;
    std::uint64_t handle(const std::string& job) const;
    const std::map<std::string, Job>& jobs() const { return jobs_; }
    // Returns the id of the job whose explanation is the answer for `job`: for a waiting subjob its array,
    // else the job itself. `job` may lack the server's name.
    std::string explained(const std::string& job) const;
    // Returns whether a user who isn't an operator may see the job. `user` is in the form of Job_Owner.
    bool may_see(const std::string& user, const std::string& job) const;
    // Translates the plugin's decisions into the server's terms.
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
    std::map<std::string, cluster::ResourceRef, std::less<>> resources_;  // by the names in resource_names_
    std::vector<std::string> resource_names_;                             // names of resources, by id
    std::map<std::string, std::uint64_t, std::less<>> queues_;            // handles, by name
    std::map<std::uint64_t, std::string> queue_names_;
    std::map<std::string, std::uint64_t, std::less<>> vnodes_;
    std::map<std::uint64_t, std::string> vnode_names_;
    std::map<std::string, Job> jobs_;
    std::unordered_map<std::string, std::uint64_t> job_handles_;
    std::unordered_map<std::uint64_t, std::string> job_names_;
    std::map<std::string, std::int64_t> running_subjobs_;  // the number of running subjobs, by array
    struct InQueue {
        std::unordered_set<std::string> running;
        std::unordered_set<std::string> waiting;  // waiting jobs and arrays
        std::int64_t arrays = 0;
    };
    std::map<std::string, InQueue> in_queues_;
    std::set<std::string> aside_;
    bool others_see_jobs_ = false;
    struct NotPreemptable {
        std::int64_t stime = 0;  // start of the run that couldn't be preempted
        bool begun = false;
    };
    std::map<std::string, NotPreemptable> not_preemptable_;  // by job id
    std::map<std::string, std::int64_t> suspended_for_;      // by running job: seconds of its suspensions
    std::string spared_;                                     // the id of the array that spare() protects
    // Running jobs with a soft walltime, and the seconds to which it was extended; 0: not extended yet.
    std::map<std::string, std::int64_t> soft_;
    // A reservation's handle, and the time for which it holds its places.
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
