// Translates records of the C interface into the scheduler's records, and the scheduler's decisions into
// decisions of the C interface.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

sched::Instant instant(int64_t seconds);
int64_t seconds(sched::Instant instant);

// Translates records. Strings of a result are views of the record. Arrays of amounts are in buffers of this
// object, so that nothing is allocated once the buffers have grown. A result is valid until the next call,
// and as long as its record.
//
// nullopt: the record is of another version of the interface (its `size` differs), or an array is missing
// although its count isn't 0.
class Translator {
  public:
    std::optional<sched::ResourceRecord> resource(const pbs_resource_record* record);
    std::optional<sched::ServerRecord> server(const pbs_server_record* record);
    std::optional<sched::SchedRecord> sched(const pbs_sched_record* record);
    std::optional<sched::QueueRecord> queue(const pbs_queue_record* record);
    std::optional<sched::VnodeRecord> vnode(const pbs_vnode_record* record);
    std::optional<sched::JobRecord> job(const pbs_job_record* record);
    std::optional<sched::ReservationRecord> reservation(const pbs_reservation_record* record);

    // Places, which are valid like a record. `joined`: as in pbs_start_request.
    std::optional<std::span<const sched::Place>> places(const pbs_place* places, std::size_t count,
                                                        const std::uint8_t* joined);

  private:
    using AmountRange = std::pair<std::size_t, std::size_t>;
    AmountRange take(const pbs_amount* amounts, std::size_t count);
    bool take(const pbs_entity_limit* limits, std::size_t count);
    std::span<const sched::Amount> amounts(AmountRange range) const;

    std::vector<sched::Amount> amounts_;
    std::vector<AmountRange> ranges_;
    std::vector<sched::Place> places_;
    std::vector<sched::ReservationOccurrence> occurrences_;
    std::vector<pbs_place> held_;
    std::vector<std::string_view> texts_;
    std::vector<sched::EntityLimitRecord> limits_;
};

// The decisions of one cycle, as the C interface has them. Owns all data that the C array points to, until
// the next assign() or clear().
class DecisionArray {
  public:
    // Takes over the decisions of a cycle.
    void assign(sched::Decisions decisions);
    // Frees the decisions.
    void clear() { *this = DecisionArray(); }
    std::span<const pbs_decision> list() const { return list_; }

  private:
    sched::Decisions decisions_;
    std::vector<pbs_decision> list_;
    std::vector<pbs_amount> amounts_;
    std::vector<pbs_place> places_;
    std::vector<uint8_t> joined_;  // pbs_decision::joined of each element of places_
};

}  // namespace pbs::plugin
