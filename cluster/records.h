// Builds the records of pbs_plugin.h, by which a host reports its objects to a plugin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/job.h"
#include "cluster/names.h"
#include "cluster/place.h"
#include "cluster/queue.h"
#include "cluster/server.h"
#include "cluster/vnode.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/text.h"

namespace pbs::cluster {

using plugin::c_str;
using plugin::view;

// The facts about a job that its attributes don't tell: the host knows them, since it handles the job.
struct JobStanding {
    std::uint64_t handle = 0;
    std::uint64_t queue = 0;  // the handle of its queue
    char state = 'Q';         // as in pbs_job_record
    std::uint32_t flags = 0;  // bits of enum pbs_job_flag that don't follow from attributes
    std::int64_t elapsed = 0;
    std::int64_t soft_walltime = 0;
    const std::vector<Place>* places = nullptr;  // null: none
    const std::vector<Place>* kept = nullptr;
    bool has_run = false;  // an array: a subjob has run
};

// The facts about a reservation that a scheduler needs.
struct ReservationStanding {
    std::uint64_t handle = 0;
    std::string_view id;
    std::uint64_t queue = 0;  // the handle of its queue
    bool asked = false;       // the reservation is to be confirmed or denied
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t held_start = 0;
    std::int64_t held_end = 0;
    ResourceList requested{};        // with the chunks' defaults in its select
    ResourceList later_requested{};  // requested for later occurrences; empty: as `requested`
    std::vector<Place> places{};
    struct Occurrence {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::vector<Place> places{};
        bool asked = false;
    };
    std::vector<Occurrence> later{};
    bool keeps_first = false;
    bool soonest = false;
};

class RecordBuilder {
  public:
    explicit RecordBuilder(const Names& names) : names_(names) {}

    // Each of these functions makes a record. The record points into the arguments, and is valid until the
    // next call on this builder.
    const pbs_server_record& server(const Server& server);
    const pbs_sched_record& sched(std::string_view name, const Sched& sched,
                                  std::string_view directives = {});
    const pbs_queue_record& queue(std::uint64_t handle, std::string_view name, const Queue& queue);
    const pbs_vnode_record& vnode(std::uint64_t handle, std::string_view name, const Vnode& vnode);
    template <class Text>
    const pbs_job_record& job(const BasicJob<Text>& job, const JobStanding& standing);
    const pbs_reservation_record& reservation(const ReservationStanding& reservation);
    // The places as an array, valid like a record.
    const std::vector<pbs_place>& places(const std::vector<Place>& places);

  private:
    void clear();
    std::vector<pbs_amount>& next_list();
    // Makes the amounts of a list of resources. `chunks`, unless empty, replaces the value of `select` in the
    // list.
    template <class List>
    std::pair<const pbs_amount*, std::size_t> amounts(const List& list, std::string_view chunks = {});
    void add_places(const std::vector<Place>& places);
    template <class Record>
    void set_limits(Record& record, const Limits& limits);

    const Names& names_;
    std::vector<std::vector<pbs_amount>> lists_;  // the first used_lists_ belong to the current record
    std::size_t used_lists_ = 0;
    std::vector<pbs_str> acl_;
    std::vector<pbs_place> places_;
    std::vector<pbs_reservation_occurrence> occurrences_;
    std::vector<pbs_entity_limit> limits_;
    pbs_server_record server_{};
    pbs_sched_record sched_{};
    pbs_queue_record queue_{};
    pbs_vnode_record vnode_{};
    pbs_job_record job_{};
    pbs_reservation_record reservation_{};
};

// Returns for each place whether it belongs to the chunk of the place before it: 1 or 0.
std::vector<std::uint8_t> joined_in(const std::vector<Place>& places);

// Reads the places of an exec_vnode. Omits vnodes and resources that `names` doesn't know.
std::vector<Place> places_of(std::string_view exec_vnode, const Names& names);

}  // namespace pbs::cluster
