#include "tools/simulate/shares.h"

#include <utility>

#include "tools/simulate/job_records.h"

namespace pbs::simulate {

void ShareWatch::begin(sched::Scheduler& scheduler, const std::vector<ShareUsage>& usage,
                       const std::vector<std::string>& scheds, std::size_t jobs, Instant now) {
    for (const ShareUsage& of : usage)
        scheduler.load_shares(sched::Scheduler::share_scope(of.sched, of.group), of.entities, {}, now);
    for (const std::string& sched : scheds)
        for (sched::SharesView& view : scheduler.inspect().shares({now, sched, {}, {}}))
            shares_.push_back({std::move(view), {}, {}});
    for (SharesOfRun& shares : shares_) shares.entity_of.assign(jobs, SharesOfRun::kNone);
}

void ShareWatch::started(sched::Scheduler& scheduler, std::uint32_t job) {
    for (SharesOfRun& shares : shares_)
        if (const auto entity =
                scheduler.inspect().share_entity(shares.view.sched, shares.view.group.name, handle_of(job)))
            shares.entity_of[job] = shares.entities.number(*entity);
}

std::vector<SharesOfRun> ShareWatch::end(sched::Scheduler& scheduler, Instant now) {
    for (SharesOfRun& shares : shares_)
        for (sched::SharesView& view :
             scheduler.inspect().shares({now, shares.view.sched, shares.view.group.name, {}}))
            shares.view = std::move(view);
    return std::move(shares_);
}

}  // namespace pbs::simulate
