// Tests jobs by the filters, and starts or refuses them. During a cycle, stores the answers for jobs that
// filters can't distinguish.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

// The least walltime for a job that may get less than it requests: OpenPBS's min_walltime. The job gets the
// longest walltime with which it can start. 0: the job has no min_walltime.
Seconds least_walltime(const Tables& tables, const Request& request);

class Judge : CyclePart {
  public:
    Judge(CycleContext& context, Queues& queues) : CyclePart(context), queues_(queues) {}

    // Considers the job at its turn. Returns the blockers of its refusal; `anything` if it starts. `user`:
    // the job's number in JobTable::user, where it is known; UINT32_MAX: it is looked up if it is needed.
    Blockers consider(const OrderedJob& job, CandidateQueues& queues, std::uint32_t user);
    // Returns whether the job would start now, or might start after another job has. Changes nothing.
    bool may_start(const OrderedJob& job, CandidateQueues& queues);
    // Tests the job in one queue. Returns the reason why it can't start there.
    Reason ask_queue(const Candidate& job, QueueView& view, Verdict& verdict);
    // Tests the job in one queue, and notes only the instant that may lift the refusal. `blockers`: gets the
    // events that may lift it.
    Reason reason_in(const Candidate& job, QueueView& view, Blockers& blockers);
    // Forgets the stored answers. Call it when more is free than before.
    void forget();
    // Calls only the profile's filters with this trait. Returns the reason of the first refusal; empty: there
    // is none.
    Reason refusal_about(FilterTrait trait, const Candidate& job, QueueView& view);
    // Starts the job if there is a place for it on vnodes of the pool, whatever else prevents the start.
    // Otherwise returns the reason why there is no place.
    Reason start_if_room(const Candidate& job, QueueView& view, PoolId pool);

    // Returns whether limits on the job's owner or group let no job of them start in any of the queues, until
    // such a limit counts fewer jobs.
    bool is_closed_to(const OrderedJob& job, CandidateQueues& queues);

    // For the rest of the cycle, counts the job's coming usage for its entity in the fair-share tree.
    void expect_usage(JobSlot job);
    // Returns a stored number for the job and all jobs that filters can't distinguish from it: how many jobs
    // this cycle had started when a search for a later start (Lookahead) of such a job failed, plus 1; 0:
    // there was no such search. If filters read the user, users are distinguished even if they are equal at
    // present, since that may change.
    std::uint32_t& no_start_known(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues);

    // Prepares another test of the jobs that weren't started, in queues that ignore prime time from now on.
    // Forgets stored answers; a new answer replaces "the job is considered again after the others".
    void begin_second_pass();
    // Returns whether the job was started or rejected. REQUIRES: begin_second_pass() was called.
    bool is_done_with(JobSlot job) const { return done_with_[job]; }

    // Prefetch memory that consider() reads soon. Call fetch() first, for the index of the signature's
    // answer, and fetch_known() later, for the answer itself. False: no answer is known, or answers differ by
    // user.
    void fetch(JobClass job_class, std::uint32_t signature) const;
    bool fetch_known(JobClass job_class, JobSlot job, std::uint32_t signature) const;

  private:
    Verdict judge(const OrderedJob& job, Candidate& candidate, CandidateQueues& queues,
                  const Category& category);
    Verdict ask(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, const Category& category);
    std::uint64_t* refused_for_good(const OrderedJob& job, CandidateQueues& queues) const;
    static bool is_for_good(const QueueView& view, const FilterRefusal& refusal);
    const Filter* same_elsewhere(const Candidate& job, const QueueView& view, const FilterRefusal& refusal,
                                 const Standing* standing) const;
    void shorten(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, Verdict& verdict);
    void grow(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, Verdict& verdict);
    Verdict rejection(const Candidate& job);
    Blockers blockers_of(const Refusal& refusal);
    QueueView* room_made(const OrderedJob& job, Candidate& candidate, Verdict& verdict,
                         CandidateQueues& queues);
    void weigh(const FilterRefusal& refusal, const Candidate& job, QueueView& view, Verdict& verdict,
               bool by_standing = false);
    void start(const Candidate& job, QueueView& view);
    void charge(const Candidate& job, QueueView& view, const Placement& placement, int sign);
    void note_start(const Candidate& job, QueueView& view, Placement placement, std::int64_t together = 0);

    // Start the subjobs of an array that start together (judge_together.cc).
    bool start_together(const OrderedJob& job, const Candidate& first, CandidateQueues& queues,
                        std::int64_t count, Verdict& verdict);
    void forget_sets(const Placement& placement, const Request& request);
    Blockers refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues, Blockers of_user);

    // Find stored answers for jobs of the same category (judge_categories.cc).
    unsigned user_reads_of(CandidateQueues& queues) const;
    bool reads_user(CandidateQueues& queues) const { return user_reads_of(queues) != 0; }
    Category category_of(const OrderedJob& job, CandidateQueues& queues, std::uint32_t of);
    const Standings::User* restricted(std::uint32_t who, const OrderedJob& job, CandidateQueues& queues);
    const Standings::User& standing_of(std::uint32_t who, const OrderedJob& job, CandidateQueues& queues);
    Blockers find_standing(const Candidate& job, const CandidateQueues& queues);
    SignatureAnswer* answers_of_signature(const OrderedJob& job, const CandidateQueues& queues,
                                          const Standing& standing);
    void find_filters(QueueView& view) const;
    // Calls no filter with one of the traits `except`.
    FilterRefusal first_refusal(const Candidate& job, QueueView& view, unsigned except = 0);
    FilterRefusal first_refusal(const Candidate& job, QueueView& view, const FilterRefusal& of_user,
                                bool apart, SignatureAnswer* of_signature);
    FilterRefusal first_refusal_of_job(const Candidate& job, QueueView& view);

    Queues& queues_;
    // The verdicts (start or refusal) that hold for all jobs of a signature, the number that jobs with equal
    // requests share. By JobClass and signature: the index in verdicts_ plus 1; 0: no verdict yet.
    std::array<std::vector<std::uint32_t>, 6>& verdict_of_ = c_.scratch->verdict_of;
    // The verdicts for users whom filters of owners or groups refuse and, in a cycle after single events, for
    // all users. By JobClass, standing (the number that users with equal refusals share) and signature: the
    // index in verdicts_ plus 1.
    PlaceMap& verdict_of_user_ = c_.scratch->verdict_of_user;
    std::vector<Verdict>& verdicts_ = c_.scratch->verdicts;
    // The answers about signatures (SignatureAnswer). By JobClass, with 6 added for users who are
    // distinguished, and signature: the index in signature_answers_ plus 1.
    std::array<std::vector<std::uint32_t>, 12>& answers_of_signature_ = c_.scratch->answers_of_signature;
    PlaceMap& answers_of_few_ = c_.scratch->answers_of_few;  // the same in a cycle after single events
    std::vector<SignatureAnswer>& signature_answers_ = c_.scratch->signature_answers;
    std::vector<Refusal>& signature_refusals_ = c_.scratch->signature_refusals;
    std::vector<std::uint32_t>
        user_numbers_;  // by JobTable::user: the user's number from 0 on; empty: no filter reads the user
    std::uint32_t users_ = 0;
    bool tells_users_apart_ = false;              // users have had a standing other than 0
    std::vector<std::uint64_t> starts_of_owner_;  // by owner: starts since the first standing_of()
    std::vector<std::uint64_t> starts_of_group_;
    // The clock by which standings hold. A start moves it on by 1. A start with another request, or a change
    // of the number of reservations and preempted jobs (`kept_`), moves it on by kEndsAll, because any
    // standing may depend on that.
    static constexpr std::uint64_t kEndsAll = std::uint64_t{1} << 32;
    std::uint64_t clock_ = 0;
    std::uint64_t kept_ = 0;
    Standing standing_;                // reused memory for a standing
    std::int64_t standing_lasts_ = 1;  // see find_standing()
    std::unordered_map<UserCategory, std::uint32_t, UserCategoryHash> no_start_of_user_;
    std::size_t sets_known_ = 0;             // refused_by_sets when forget_sets() last compared it
    std::vector<std::uint32_t> refusal_of_;  // for the second pass, by job: index into `refused` plus 1
    std::vector<bool> done_with_;
    Instant last_instant_ = Instant::max();  // the last instant noted: many refusals in a row name the same
    // The job is tested with another request than its own, so its answers don't hold for its signature.
    bool tries_ = false;
};

}  // namespace pbs::sched
