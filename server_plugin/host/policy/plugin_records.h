// Converts the server's objects to records of the C interface (pbs_plugin.h).
#pragma once

#include <string_view>
#include <vector>

#include "cluster/names.h"
#include "cluster/records.h"
#include "server_plugin/host/base/machine_load.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Finds the handles of the server's objects by their names, for the records.
class StateNames : public cluster::Names {
  public:
    explicit StateNames(const State& state) : state_(state) {}
    std::optional<cluster::ResourceRef> resource(std::string_view name) const override;
    std::optional<cluster::ResourceRef> resource(uint32_t id) const override;
    uint64_t queue(std::string_view name) const override;
    uint64_t vnode(std::string_view name) const override;
    std::string_view vnode_name(uint64_t vnode) const override;

  private:
    const State& state_;
};

class RecordBuilder {
  public:
    explicit RecordBuilder(const State& state) : state_(state), names_(state), builder_(names_) {}

    // These functions return a record that is valid until the next call on this builder.
    const pbs_server_record& server();
    const pbs_sched_record& sched(const Sched& sched);
    const pbs_queue_record& queue(const Queue& queue);
    // Makes a vnode's record. Each vnode is on this machine, so `load` counts for all of them.
    const pbs_vnode_record& node(const Node& node, const MachineLoad& load);
    const pbs_job_record& job(const Job& job);
    const pbs_reservation_record& reservation(const Reservation& reservation);
    const std::vector<pbs_place>& places(const std::vector<Place>& places) { return builder_.places(places); }

    // Returns whether this builder was made for the state.
    bool is_of(const State& state) const { return &state == &state_; }

  private:
    const State& state_;
    StateNames names_;
    cluster::RecordBuilder builder_;
    // The objects to which the returned records point.
    cluster::Server server_;
    cluster::Sched sched_;
    cluster::Queue queue_;
    cluster::Vnode vnode_;
    cluster::JobView job_;
    std::vector<ifl::AttributeView> views_;  // the attributes from which job_ was read
    cluster::ReservationStanding reservation_;
};

pbs_resource_record resource_record(const Resource& resource);

}  // namespace pbs::host
