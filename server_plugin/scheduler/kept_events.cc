#include "server_plugin/scheduler/kept_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched {
namespace {

// Copies the data that a record points to into memory of its own.
class CopyInto {
  public:
    explicit CopyInto(std::pmr::memory_resource& memory) : memory_(&memory) {}

    void operator()(ResourceRecord& record) const { keep(record.name); }
    void operator()(ResourceGone& gone) const { keep(gone.name); }
    void operator()(ServerRecord& record) const {
        keep(record.name);
        keep(record.host_name);
        keep(record.resources_max);
        keep(record.resources_available);
        keep(record.job_sort_formula);
        keep(record.suspend_releases);
        keep(record.node_group_key);
        keep(record.limits);
    }
    void operator()(SchedRecord& record) const {
        keep(record.name);
        keep(record.partition);
        keep(record.sched_priv);
    }
    void operator()(SchedGone& gone) const { keep(gone.name); }
    void operator()(QueueRecord& record) const {
        keep(record.name);
        keep(record.resources_max);
        keep(record.resources_min);
        keep(record.resources_available);
        keep(record.acl_users);
        keep(record.node_group_key);
        keep(record.partition);
        keep(record.limits);
    }
    void operator()(VnodeRecord& record) const {
        keep(record.name);
        keep(record.host);
        keep(record.partition);
        keep(record.resources_available);
    }
    void operator()(JobChanged& changed) const {
        JobRecord& record = changed.record;
        keep(record.id);
        for_each_text(record, [&](std::string_view& text) { keep(text); });
        keep(record.requested);
        keep(record.places);
        keep(record.kept);
        keep(record.account);
        keep(record.used);
    }
    void operator()(ReservationRecord& record) const {
        keep(record.id);
        keep(record.requested);
        keep(record.places);
        keep(record.later);
        keep(record.later_requested);
    }
    void operator()(QueueGone&) const {}
    void operator()(ReservationGone&) const {}
    void operator()(VnodeGone&) const {}
    void operator()(JobGone&) const {}
    void operator()(ConfigurationRead&) const {}

  private:
    void keep(std::string_view& text) const {
        char* kept = memory_.allocate_object<char>(std::max<std::size_t>(1, text.size()));
        std::ranges::copy(text, kept);
        text = {kept, text.size()};
    }
    void keep(Amount& amount) const { keep(amount.text); }
    void keep(EntityLimitRecord& limit) const { keep(limit.name); }
    void keep(Place& place) const { keep(place.amounts); }
    void keep(ReservationOccurrence& one) const { keep(one.places); }
    template <class T>
    void keep(std::span<const T>& list) const {
        if (list.empty()) return;
        T* kept = memory_.allocate_object<T>(list.size());
        std::uninitialized_copy(list.begin(), list.end(), kept);
        for (T& element : std::span(kept, list.size())) keep(element);
        list = {kept, list.size()};
    }

    mutable std::pmr::polymorphic_allocator<> memory_;
};

// Delivers an event to the scheduler. Adds a line to `refused` if the scheduler refuses it.
struct Deliver {
    Scheduler& scheduler;
    std::vector<std::string>& refused;

    void operator()(const ResourceRecord& record) const { scheduler.resource_defined(record); }
    void operator()(const ResourceGone& gone) const { scheduler.resource_removed(gone.name); }
    void operator()(const ServerRecord& record) const {
        if (const auto taken = scheduler.server_changed(record); !taken)
            refused.push_back(taken.error().message);
    }
    void operator()(const SchedRecord& record) const { scheduler.sched_changed(record); }
    void operator()(const SchedGone& gone) const { scheduler.sched_removed(gone.name); }
    void operator()(const QueueRecord& record) const { scheduler.queue_changed(record); }
    void operator()(const QueueGone& gone) const { scheduler.queue_removed(gone.queue); }
    void operator()(const VnodeRecord& record) const { scheduler.vnode_changed(record); }
    void operator()(const VnodeGone& gone) const { scheduler.vnode_removed(gone.vnode); }
    void operator()(const JobChanged& changed) const { scheduler.job_changed(changed.now, changed.record); }
    void operator()(const JobGone& gone) const { scheduler.job_removed(gone.now, gone.job); }
    void operator()(const ReservationRecord& record) const { scheduler.reservation_changed(record); }
    void operator()(const ReservationGone& gone) const { scheduler.reservation_removed(gone.reservation); }
    void operator()(ConfigurationRead& read) const {
        const auto taken =
            scheduler.set_configuration(std::move(*read.configuration), std::move(read.snapshot));
        if (!taken)
            refused.push_back(
                fmt::format("the configuration can't be scheduled by, the one before stays in "
                            "force: {}",
                            taken.error().message));
    }
};

}  // namespace

void KeptEvents::keep(Event event) {
    const values::Lock lock(mutex_);
    if (memory_ == nullptr) memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>(16 * 1024);
    std::visit(CopyInto(*memory_), event);
    events_.push_back(std::move(event));
}

std::vector<std::string> KeptEvents::deliver(Scheduler& scheduler) {
    std::vector<std::string> refused;
    values::Lock lock(mutex_);
    const auto memory = std::exchange(memory_, {});
    std::vector<Event> events = std::exchange(events_, {});
    lock.unlock();
    for (Event& event : events) std::visit(Deliver{scheduler, refused}, event);
    return refused;
}

}  // namespace pbs::sched
