// The findings of a cycle (starts, preemptions, answers to jobs), for the rules that make decisions for the
// host (decide.h).
#pragma once

#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

class Outcome : CyclePart {
  public:
    Outcome(const CycleParts& parts, Decisions& out) : CyclePart(parts.context), parts_(parts), out_(out) {}

    const CycleContext& cycle() const { return c_; }
    CycleContext& cycle() { return c_; }
    const CycleParts& parts() const { return parts_; }
    Decisions& out() { return out_; }

    // Returns the text of an answer. Answers with equal reasons share one text, which is made when it is
    // first needed, and lives as long as the decisions. Answers are of one kind if they differ only in
    // amounts.
    std::string_view text(Answer& answer);
    static bool are_of_one_kind(std::uint32_t number, const Answer& answer);
    // Returns a copy that lives as long as the decisions.
    std::string_view keep_text(std::string_view text) const;
    // Decides that the job is preempted for another one.
    void preempt(const Preempted& preempted);
    // Decides that the job runs, with this comment.
    void start(const Started& started, std::string_view text);
    // Returns the places of a job: one for each chunk, or for each piece of a divided chunk.
    std::span<const Place> places_of(JobSlot job, const Placement& placement) const {
        const Placed placed{t_.requests[t_.jobs.request[job]], placement};
        return places_of(std::span(&placed, 1));
    }
    struct Placed {
        const Request& request;
        const Placement& placement;
    };
    // Returns the places of each occurrence of a reservation, one after the other.
    std::span<const Place> places_of(std::span<const Placed> placed) const;

  private:
    CycleParts parts_;
    Decisions& out_;
    struct CommentText {
        std::string_view text;
        std::uint32_t number = 0;  // Answer::number
    };
    std::unordered_map<Reason, CommentText, ReasonHash> told_;
};

}  // namespace pbs::sched
