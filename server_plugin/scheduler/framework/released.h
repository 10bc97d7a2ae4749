// Finds the released jobs: jobs that an earlier cycle refused, and that may start now because of the events
// since the last cycle.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

class ReleasedJobs : CyclePart {
  public:
    explicit ReleasedJobs(CycleContext& context) : CyclePart(context) {}

    // Notes the blockers that are lifted for jobs of any size. REQUIRES: no job was considered yet.
    void begin();
    // Called when the jobs with reservations have been considered: checks whether the reservations are the
    // same as before. Returns whether this was the first call; the others do nothing.
    bool settle();
    // Returns the releases for jobs that start in these queues.
    Released& of(CandidateQueues& queues);
    // Returns whether there is a place on the vnodes of any of the queues for a job of this signature, if all
    // other conditions are ignored. `request`: PendingJobs::Entry::request.
    bool may_have_room(std::uint32_t signature, std::uint32_t request, const JobSize& size,
                       CandidateQueues& queues, Released& released);
    // Returns the further releases of jobs that wait because of limits on this user; null: there are none.
    const UserReleases* of_user(std::uint32_t owner, std::uint32_t group, CandidateQueues& queues);
    // The same for the jobs of a lane: of its only user; or of all users, if it has jobs of several; or all
    // that the lane has missed, if it is behind. Valid until the next of_lane() or of_user().
    const UserReleases* of_lane(const Lane& lane, CandidateQueues& queues);
    // Returns whether the lane is closed, and no limit on its user has opened since.
    bool is_closed(const Lane& lane) const;
    // Stores the lifted blockers for lanes that are closed.
    void remember() const;

  private:
    struct Rooms {
        std::size_t started = SIZE_MAX;  // number of started jobs when `list` was found
        std::vector<Vnodes::Room> list;
    };
    struct LeftByLimits {
        std::array<JobSize, 32> lifted;
        std::array<JobSize, 32> open;
    };
    static constexpr std::size_t kMostOpen = 128;
    void find(CandidateQueues& queues, Released& released);
    void find_of_users(CandidateQueues& queues);
    JobSize fit(const QueueView& view, JobSize most, const Vnodes::Room& room) const;
    void add_rooms(const QueueView& view, bool everywhere, std::vector<JobSize>& rooms);
    void add_room_of(const QueueView& view, VnodeSlot vnode, std::vector<JobSize>& rooms) const;
    const std::vector<Vnodes::Room>& rooms_of(PoolId pool);
    LeftByLimits left_of_limits();
    void note_open_limits();
    void add_open(const OpenLimits::Open& open, const JobSize& left, CandidateQueues& queues, bool anywhere,
                  UserReleases& list);
    const std::vector<JobSize>& rooms_anywhere(CandidateQueues& queues);
    void add_open_of(std::uint32_t owner, std::uint32_t group, CandidateQueues& queues, bool anywhere,
                     UserReleases& list);
    bool was_held_up(const CandidateQueues& queues) const;
    Blockers lifted_whatever_size(bool was_held_up) const;
    std::optional<JobSize> left_of(const UseKey& key) const;
    bool each_kind_has_room(const Request& request, PoolId pool, const PlaceRules& rules) const;

    std::unordered_map<PoolId, Rooms> rooms_;
    bool settled_ = false;
};

}  // namespace pbs::sched
