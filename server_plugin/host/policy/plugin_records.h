// The server's objects as the records of pbs_plugin.h. A builder owns what its record points to.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/machine_load.h"
#include "server_plugin/host/state/state.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

inline pbs_str as_pbs_str(std::string_view text) {
    return pbs_str{text.data(), text.size()};
}
inline std::string_view as_view(pbs_str text) {
    return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

class RecordBuilder {
  public:
    explicit RecordBuilder(const State& state) : state_(state) {}

    // Each is valid until the next call on this builder; views into the object given.
    const pbs_server_record& server();
    const pbs_sched_record& sched(const Sched& sched);
    const pbs_queue_record& queue(const Queue& queue);
    // All vnodes are on this machine.
    const pbs_vnode_record& node(const Node& node, const MachineLoad& load);
    const pbs_job_record& job(const Job& job);
    const pbs_reservation_record& reservation(const Reservation& reservation);

  private:
    void clear();
    // The amounts of a resource-list attribute.
    std::pair<const pbs_amount*, size_t> amounts(const Attributes& attributes, std::string_view name);
    std::pair<const pbs_amount*, size_t> amounts(const Amounts& amounts);
    // What a job or a reservation asks for, with what its chunks get by default: a chunk without ncpus takes
    // a CPU, too.
    std::pair<const pbs_amount*, size_t> requested(const Attributes& attributes);
    void add_places(const std::vector<Place>& places);
    std::string_view keep(std::string text);
    void add_limits(const Attributes& attributes);

    const State& state_;
    std::deque<std::vector<pbs_amount>> lists_;
    std::deque<std::string> texts_;
    std::vector<pbs_str> acl_;
    std::vector<pbs_place> places_;
    std::vector<pbs_reservation_occurrence> occurrences_;
    Reservation altered_;  // with the select that is asked for
    std::vector<pbs_entity_limit> limits_;
    pbs_server_record server_{};
    pbs_sched_record sched_{};
    pbs_queue_record queue_{};
    pbs_vnode_record node_{};
    pbs_job_record job_{};
    pbs_reservation_record reservation_{};
};

pbs_resource_record resource_record(const Resource& resource);

}  // namespace pbs::host
