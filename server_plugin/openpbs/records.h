// The server's objects as the plugin has been told of them, with its handles for them.
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
    std::string job;    // or reservation
    std::string queue;  // empty: stays where it is
    std::string text;
    std::vector<std::pair<std::string, std::string>> set_resources;
    std::string exec_vnode;
    std::vector<std::string> exec_vnodes;  // confirm: for each time that was asked for
    std::int64_t start = 0;                // estimate, confirm
    std::string for_job;                   // preempt
    std::string methods;                   // preempt: their letters
    bool after_preemptions = false;        // run
    std::int32_t accrue_type = 0;          // accrue
};

class Records : private cluster::Names {
  public:
    explicit Records(client::Plugin& plugin) : plugin_(plugin), builder_(*this) {}
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    // Tells what has become different since the last time, `before`: how many objects have. Vnodes are left
    // alone if `after` says nothing of them.
    std::size_t tell(const Site& before, const Site& after);

    // Tells of a job, unless it's known as it is. True: it wasn't.
    bool tell(std::int64_t now, Job job);
    // It has gone. True: it was known.
    bool forget(std::int64_t now, const std::string& job);

    // A request to run it is on its way: it is told as running. Of an array its first waiting subjob is. The
    // id of what runs.
    std::string starts(std::int64_t now, const Decision& decision);
    // A job that the server wouldn't run, or that it wouldn't move first, is told as set aside, until
    // take_up(): else it would be the next one to be run again. `stays`: of those that do so for longer.
    void put_aside(std::int64_t now, const std::string& job);
    void take_up(std::int64_t now, const std::function<bool(const std::string&)>& stays);
    // The server couldn't preempt the job: nothing is decided about that until the job changes. One that mom
    // was still starting, which can't be suspended, is tried again once it has begun.
    void not_preemptable(std::int64_t now, const std::string& job);
    // Subjobs of this array that run aren't preempted; of an empty one: of none.
    void spare(std::int64_t now, const std::string& array);
    // The comment that the server was given.
    void commented(const std::string& job, const std::string& comment);

    // Running jobs that have run for longer than they were expected to by their soft walltimes since the last
    // call are told of once more. Returns them, with the seconds for which they are expected to run now.
    std::vector<std::pair<std::string, std::int64_t>> extend(std::int64_t now);

    const Job* job(const std::string& id) const;
    std::uint64_t handle(const std::string& job) const;
    const std::map<std::string, Job>& jobs() const { return jobs_; }
    // The job of which the plugin is asked why this one waits: a subjob waits as its array does. The name of
    // the server may be left out.
    std::string explained(const std::string& job) const;
    // May somebody who is no operator see the job? `user` is as in Job_Owner.
    bool may_see(const std::string& user, const std::string& job) const;
    // Puts decisions into the server's own terms.
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
    void count_in_array(const std::string& array, int sign);
    void forget_waiting(std::int64_t now, const Job& array);
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
    std::set<std::string> aside_;
    bool others_see_jobs_ = false;
    struct NotPreemptable {
        std::int64_t stime = 0;  // of the run that couldn't be preempted
        bool begun = false;
    };
    std::map<std::string, NotPreemptable> not_preemptable_;  // jobs
    std::string spared_;                                     // an array
    // Running jobs with a soft walltime, with what it was extended to; 0: it has not been yet.
    std::map<std::string, std::int64_t> soft_;
    // Reservations: the handle, and when it has the places that it has.
    struct Reserved {
        std::uint64_t handle = 0;
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string chunks;  // that it asks for
    };
    std::map<std::string, Reserved> reservations_;
    std::uint64_t last_handle_ = 0;
};

}  // namespace pbs::openpbs
