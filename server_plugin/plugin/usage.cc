#include "server_plugin/plugin/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pbs::plugin {
namespace {

constexpr std::chrono::seconds kRetryAfter{60};

// Adds changes after those that couldn't be written: later amounts of a pair come later and replace earlier
// ones; a job that started and ended in between needs no row.
void append(objects::UsageBatch& batch, sched::UsageChanges changes) {
    for (sched::UsageRow& row : changes.usage) {
        batch.usage.push_back({std::move(row.user), std::move(row.group), row.usage});
    }
    for (sched::ChargeRow& row : changes.charged) {
        batch.charged.push_back(
            {std::move(row.job_id), std::move(row.user), std::move(row.group), row.charge});
    }
    for (std::string& job : changes.charges_gone) batch.released.push_back(std::move(job));
    if (changes.decayed) batch.last_decay = changes.last_decay;
}

}  // namespace

objects::Result<void> UsageSaver::load(objects::Store& store, sched::Scheduler& scheduler) const {
    auto stored = objects::UsageStore(store).load(kScope);
    if (!stored) return tl::unexpected(std::move(stored.error()));
    std::vector<sched::UsageRow> usage;
    usage.reserve(stored->usage.size());
    for (objects::Usage& row : stored->usage) {
        usage.push_back({std::move(row.group), std::move(row.user), row.amount});
    }
    std::vector<sched::ChargeRow> charges;
    charges.reserve(stored->charges.size());
    for (objects::Charge& row : stored->charges)
        charges.push_back({std::move(row.job), std::move(row.user), std::move(row.group), row.amount});
    scheduler.load_usage(usage, charges, stored->last_decay.value_or(sched::Instant{}));
    return {};
}

objects::Result<void> UsageSaver::add_stored(objects::Store& store, sched::Scheduler& scheduler,
                                             const Host& host, sched::Instant now) {
    auto stored = objects::UsageStore(store).load(kScope);
    if (!stored) return tl::unexpected(std::move(stored.error()));
    append(unsaved_, scheduler.take_usage_changes());
    for (objects::Usage& charged : unsaved_.usage) {
        const auto same = [&](const objects::Usage& row) {
            return row.user == charged.user && row.group == charged.group;
        };
        const auto row = std::ranges::find_if(stored->usage, same);
        if (row != stored->usage.end()) charged.amount += row->amount;
    }
    write(store, scheduler, host, now);
    if (failed_) return objects::fail(objects::Code::system, "it can't be saved");
    return load(store, scheduler);
}

void UsageSaver::save(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                      sched::Instant now) {
    if (failed_ ? now >= retry_at_ : scheduler.has_usage_changes()) write(store, scheduler, host, now);
}

void UsageSaver::save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                             sched::Instant now) {
    if (failed_ || scheduler.has_usage_changes()) write(store, scheduler, host, now);
}

void UsageSaver::write(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                       sched::Instant now) {
    append(unsaved_, scheduler.take_usage_changes());
    const auto written = objects::UsageStore(store).write(kScope, unsaved_);
    if (written) {
        if (failed_) host.log(PBS_LOG_INFO, "past_usage", "Past usage can be saved again");
        failed_ = false;
        unsaved_ = {};
        return;
    }
    if (!failed_) {
        host.log(PBS_LOG_ERROR, "past_usage",
                 fmt::format("Past usage isn't saved ({}); trying again every {} seconds",
                             written.error().message, kRetryAfter.count()));
    }
    failed_ = true;
    retry_at_ = now + kRetryAfter;
}

sched::Instant UsageSaver::next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const {
    if (failed_) return retry_at_;
    return scheduler.has_usage_changes() ? now : sched::Instant::max();
}

}  // namespace pbs::plugin
