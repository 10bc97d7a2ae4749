// Puts jobs to the filters, and starts or refuses them. Answers about jobs that filters can't tell apart are
// kept for the length of the cycle.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

// The least walltime that a job may be given, where that is less than it asks for: OpenPBS's min_walltime.
// The job is then given the longest walltime with which it can start. 0: none.
Seconds least_walltime(const Tables& tables, const Request& request);

class Judge : CyclePart {
  public:
    Judge(CycleContext& context, Queues& queues) : CyclePart(context), queues_(queues) {}

    // Considers the job at its turn. Returns the blockers of its refusal, and `anything` if it starts.
    Blockers consider(const OrderedJob& job, CandidateQueues& queues);
    // Would the job start now, or could it once another one has started? Changes nothing.
    bool may_start(const OrderedJob& job, CandidateQueues& queues);
    // Asks about one queue alone. Returns the reason why the job can't start in it.
    Reason ask_queue(const Candidate& job, QueueView& view, Verdict& verdict);
    // Asks about one queue, noting nothing but the instant that may lift the refusal. `blockers`: the events
    // that may.
    Reason reason_in(const Candidate& job, QueueView& view, Blockers& blockers);
    // Forgets the kept answers, because more is free than before.
    void forget();
    // Asks the profile's filters of one trait only.
    Reason refusal_about(FilterTrait trait, const Candidate& job, QueueView& view);
    // Starts the job if there is a place for it on vnodes of the pool, whatever else is against it.
    Reason start_if_room(const Candidate& job, QueueView& view, PoolId pool);

    // Counts the usage that the job will have for its entity of the fair-share tree, until the cycle is over.
    void expect_usage(JobSlot job);
    // Remembers that a look ahead found no start for jobs like this one: the number of jobs that this cycle
    // had started by then, plus 1; 0 if none was tried. Users who are alike now may not be alike later, so
    // they are kept apart where filters read the user.
    std::uint32_t& no_start_known(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues);

    // Asks the jobs that weren't started again, in queues that don't observe prime time any more: kept
    // answers are forgotten, and a new one takes the place of "when the others have been looked at".
    void begin_second_pass();
    // Was the job started, or rejected? Only after begin_second_pass().
    bool is_done_with(JobSlot job) const { return done_with_[job]; }

    // Prefetch memory that consider() reads soon. Call fetch() first, for the index of the signature's
    // answer, and fetch_known() later, for the answer itself. False: no answer is known, or answers depend on
    // the user.
    void fetch(JobClass job_class, std::uint32_t signature) const;
    bool fetch_known(JobClass job_class, std::uint32_t signature) const;

  private:
    Verdict judge(const OrderedJob& job, Candidate& candidate, CandidateQueues& queues,
                  const Category& category);
    Verdict ask(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, const Category& category);
    std::uint64_t* refused_for_good(const OrderedJob& job, CandidateQueues& queues) const;
    static bool is_for_good(const QueueView& view, const FilterRefusal& refusal);
    const Filter* same_elsewhere(const Candidate& job, const QueueView& view,
                                 const FilterRefusal& refusal) const;
    void shorten(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, Verdict& verdict);
    Verdict rejection(const Candidate& job);
    Blockers blockers_of(const Refusal& refusal);
    QueueView* room_made(const OrderedJob& job, Candidate& candidate, Verdict& verdict,
                         CandidateQueues& queues);
    void weigh(const FilterRefusal& refusal, const Candidate& job, QueueView& view, Verdict& verdict,
               bool by_standing = false);
    void start(const Candidate& job, QueueView& view);
    void forget_sets(const Placement& placement, const Request& request);
    Blockers refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues, Blockers of_user);

    // Answers that are kept for jobs like one (judge_categories.cc).
    unsigned user_reads_of(CandidateQueues& queues) const;
    bool reads_user(CandidateQueues& queues) const { return user_reads_of(queues) != 0; }
    Category category_of(const OrderedJob& job, CandidateQueues& queues);
    const Standings::User& standing_of(const OrderedJob& job, CandidateQueues& queues);
    Blockers find_standing(const Candidate& job, const CandidateQueues& queues);
    SignatureAnswer* answers_of_signature(const OrderedJob& job, const CandidateQueues& queues);
    void find_filters(QueueView& view) const;
    FilterRefusal first_refusal(const Candidate& job, QueueView& view);
    FilterRefusal first_refusal(const Candidate& job, QueueView& view, const FilterRefusal& of_user,
                                SignatureAnswer* of_signature);
    FilterRefusal first_refusal_of_job(const Candidate& job, QueueView& view);

    Queues& queues_;
    // Answers that hold for all jobs of a signature: by class and signature, the index in verdicts_ plus 1.
    std::array<std::vector<std::uint32_t>, 6>& verdict_of_ = c_.scratch->verdict_of;
    // By class, standing and signature, where filters refuse the user, and in a cycle after single events.
    PlaceMap& verdict_of_user_ = c_.scratch->verdict_of_user;
    std::vector<Verdict>& verdicts_ = c_.scratch->verdicts;
    // By class and signature, the index in signature_answers_ plus 1.
    std::array<std::vector<std::uint32_t>, 6>& answers_of_signature_ = c_.scratch->answers_of_signature;
    PlaceMap& answers_of_few_ = c_.scratch->answers_of_few;  // by class and signature
    std::vector<SignatureAnswer>& signature_answers_ = c_.scratch->signature_answers;
    std::vector<Refusal>& signature_refusals_ = c_.scratch->signature_refusals;
    std::vector<std::uint32_t>
        user_numbers_;  // by JobTable::user, from 0 on; empty: no filter reads the user
    std::uint32_t users_ = 0;
    std::vector<std::uint32_t> starts_of_owner_;  // jobs started in this cycle, since filters read the user
    std::vector<std::uint32_t> starts_of_group_;
    Standing standing_;  // memory for the standing that is being found
    std::unordered_map<UserCategory, std::uint32_t, UserCategoryHash> no_start_of_user_;
    std::size_t sets_known_ = 0;  // CycleState::refused_by_sets when answers were last forgotten for it
    std::vector<std::uint32_t> refusal_of_;  // for the second pass, by job: index into `refused` plus 1
    std::vector<bool> done_with_;
    Instant last_instant_ = Instant::max();  // the last instant noted: many refusals in a row name the same
};

}  // namespace pbs::sched
