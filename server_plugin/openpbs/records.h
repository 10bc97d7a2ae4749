// What the plugin has been told of the server's objects: its handles for them, and the records of
// pbs_plugin.h that are made of them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/openpbs/job.h"
#include "server_plugin/openpbs/site.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {

// What a decision says, in the server's own terms.
struct Decision {
    int kind = 0;       // enum pbs_decision_kind
    std::string job;    // or reservation
    std::string queue;  // empty: stays where it is
    std::string text;
    std::vector<std::pair<std::string, std::string>> set_resources;
    std::string exec_vnode;
    std::vector<std::string> exec_vnodes;  // PBS_DECIDE_CONFIRM: for each time that was asked for
    std::int64_t start = 0;                // PBS_DECIDE_ESTIMATE
    std::string for_job;                   // PBS_DECIDE_PREEMPT, with the letters of the methods
    std::string methods;
    bool after_preemptions = false;
    std::int32_t accrue_type = 0;
};

class Records {
  public:
    explicit Records(const pbs_plugin& table) : table_(table) {}

    // Tells what has become different since the last time, `before`: how many objects have. Vnodes are left
    // alone if `after` says nothing of them.
    std::size_t tell(const Site& before, const Site& after);

    // Tells of a job, unless it's known as it is. True: it wasn't.
    bool tell(std::int64_t now, SiteJob job);
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

    const SiteJob* job(const std::string& id) const;
    std::uint64_t handle(const std::string& job) const;
    const std::map<std::string, SiteJob>& jobs() const { return jobs_; }
    // The job of which the plugin is asked why this one waits: a subjob waits as its array does. The name of
    // the server may be left out.
    std::string explained(const std::string& job) const;
    // May somebody who is no operator see the job? `user` is as in Job_Owner.
    bool may_see(const std::string& user, const std::string& job) const;
    Decision decision(const pbs_decision& in) const;

  private:
    struct Amounts {
        const pbs_amount* first;
        std::size_t count;
    };

    void tell(const SiteServer& server);
    void tell(const std::string& name, const SiteSched& sched) const;
    void tell(const std::string& name, const SiteQueue& queue);
    void tell(const std::string& name, const SiteResource& resource);
    void tell(const std::string& name, const SiteVnode& vnode);
    void tell(const std::string& id, const SiteReservation& reservation);
    bool knows_reservations() const;
    void tell_job(std::int64_t now, const SiteJob& job);
    void tell_array(std::int64_t now, const std::string& subjob);
    void count_in_array(const std::string& array, int sign);
    void forget_waiting(std::int64_t now, const SiteJob& array);
    char state_of(const SiteJob& job) const;
    template <class Record, class Limits>
    void set_limits(Record& record, const Limits& limits);
    // They last until the next call.
    Amounts amounts(const ResourceList& list);
    std::vector<pbs_place> places_of(const std::vector<VnodeShare>& shares);
    // What is left of the shares without what has been given back of them.
    std::vector<VnodeShare> without(std::vector<VnodeShare> held,
                                    const std::vector<VnodeShare>& released) const;
    void clear();
    std::vector<std::string> exec_vnodes_of(const pbs_decision& in) const;

    const pbs_plugin& table_;
    std::map<std::string, SiteResource> definitions_;
    std::map<std::string, std::uint32_t, std::less<>> resources_;  // ids
    std::vector<std::string> resource_names_;                      // by id
    std::map<std::string, std::uint64_t, std::less<>> queues_;     // handles
    std::map<std::uint64_t, std::string> queue_names_;
    std::map<std::string, std::uint64_t, std::less<>> vnodes_;
    std::map<std::uint64_t, std::string> vnode_names_;
    std::map<std::string, SiteJob> jobs_;
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
    };
    std::map<std::string, Reserved> reservations_;
    std::uint64_t last_handle_ = 0;
    // What the record that is being told points to.
    std::deque<std::vector<pbs_amount>> lists_;
    std::vector<pbs_entity_limit> entity_limits_;
};

}  // namespace pbs::openpbs
