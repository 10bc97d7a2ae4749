#include "server_plugin/plugin/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pbs::plugin {
namespace {

constexpr std::chrono::seconds kRetryAfter{60};

// Adds changes of usage to those that still have to be written. A later amount of a user and group replaces
// an earlier one. A decay applies to the earlier amounts, too. A job that has started and ended in between
// needs no row.
void append(objects::UsageBatch& batch, sched::UsageChanges changes) {
    if (const sched::UsageDecay& decay = changes.decay; decay.factor != 1) {
        for (objects::Usage& row : batch.usage) {
            row.amount = row.amount * decay.factor + decay.added;
            if (row.amount <= decay.least) row.amount = 0;
        }
        sched::UsageDecay all{batch.decayed_by, batch.decay_adds, batch.least};
        all.then(decay);
        batch.decayed_by = all.factor;
        batch.decay_adds = all.added;
        batch.least = all.least;
    }
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

// Returns the scope under which the long usage of a scope's entities is stored. No decay changes it.
std::string long_scope(std::string_view scope) {
    return fmt::format("{}: long usage", scope);
}

bool has_changes(const sched::Scheduler& scheduler) {
    return scheduler.has_usage_changes() || scheduler.has_share_changes();
}

// The stored rows of a scope, in the scheduler's types.
struct Stored {
    std::vector<sched::UsageRow> usage;
    std::vector<sched::ChargeRow> charges;
    sched::Instant last_decay{};
};
objects::Result<Stored> read_stored(objects::Store& store, std::string_view scope) {
    auto stored = objects::UsageStore(store).load(scope);
    if (!stored) return tl::unexpected(std::move(stored.error()));
    Stored out;
    out.usage.reserve(stored->usage.size());
    for (objects::Usage& row : stored->usage)
        out.usage.push_back({std::move(row.group), std::move(row.user), row.amount});
    out.charges.reserve(stored->charges.size());
    for (objects::Charge& row : stored->charges)
        out.charges.push_back({std::move(row.job), std::move(row.user), std::move(row.group), row.amount});
    out.last_decay = stored->last_decay.value_or(sched::Instant{});
    return out;
}

}  // namespace

objects::Result<void> UsageSaver::load(objects::Store& store, sched::Scheduler& scheduler) const {
    const auto stored = read_stored(store, kScope);
    if (!stored) return tl::unexpected(stored.error());
    scheduler.load_usage(stored->usage, stored->charges, stored->last_decay);
    return {};
}

void UsageSaver::load_shares(objects::Store& store, sched::Scheduler& scheduler, const Host& host) {
    for (const std::string& scope : scheduler.shares_to_load()) {
        const auto stored = read_stored(store, scope);
        auto long_usage = stored ? read_stored(store, long_scope(scope)) : stored;
        // Without any row, long usage would begin with the usage that is left, as after an upgrade. If it has
        // been stored before, add a row of the root, because perhaps no entity has a row.
        if (long_usage && long_usage->last_decay != sched::Instant{})
            long_usage->usage.push_back({{}, "root", 0});
        if (long_usage)
            scheduler.load_shares(scope, stored->usage, stored->charges, stored->last_decay,
                                  long_usage->usage);
        else
            host.log(PBS_LOG_ERROR, scope,
                     fmt::format("The usage can't be read: {}", long_usage.error().message));
    }
}

objects::Result<void> UsageSaver::add_stored(objects::Store& store, sched::Scheduler& scheduler,
                                             const Host& host, sched::Instant now) {
    auto stored = objects::UsageStore(store).load(kScope);
    if (!stored) return tl::unexpected(std::move(stored.error()));
    objects::UsageBatch& unsaved = unsaved_[std::string(kScope)];
    append(unsaved, scheduler.take_usage_changes());
    for (objects::Usage& charged : unsaved.usage) {
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
    if (failed_ ? now >= retry_at_ : has_changes(scheduler)) write(store, scheduler, host, now);
}

objects::Result<void> UsageSaver::save_now(objects::Store& store, sched::Scheduler& scheduler,
                                           const Host& host, sched::Instant now) {
    write(store, scheduler, host, now);
    if (failed_) return objects::fail(objects::Code::system, why_);
    return {};
}

void UsageSaver::save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                             sched::Instant now) {
    if (failed_ || has_changes(scheduler)) write(store, scheduler, host, now);
}

void UsageSaver::write(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                       sched::Instant now) {
    if (scheduler.has_usage_changes()) append(unsaved_[std::string(kScope)], scheduler.take_usage_changes());
    for (sched::ShareChanges& changed : scheduler.take_share_changes()) {
        if (!changed.changes.long_usage.empty()) {
            objects::UsageBatch& in_all = unsaved_[long_scope(changed.scope)];
            in_all.last_decay = now;  // it never decays: the instant shows that the scope has been written
            for (sched::UsageRow& row : changed.changes.long_usage)
                in_all.usage.push_back({std::move(row.user), std::move(row.group), row.usage});
        }
        objects::UsageBatch& unsaved = unsaved_[changed.scope];
        unsaved.replace_charges = true;
        append(unsaved, std::move(changed.changes));
    }
    if (!unsaved_.empty()) {
        if (const auto written = objects::UsageStore(store).write(unsaved_); !written) {
            if (!failed_)
                host.log(PBS_LOG_ERROR, kScope,
                         fmt::format("Past usage isn't saved ({}); trying again every {} seconds",
                                     written.error().message, kRetryAfter.count()));
            failed_ = true;
            why_ = written.error().message;
            retry_at_ = now + kRetryAfter;
            return;
        }
        unsaved_.clear();
    }
    if (failed_) host.log(PBS_LOG_INFO, kScope, "Past usage can be saved again");
    failed_ = false;
}

sched::Instant UsageSaver::next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const {
    if (failed_) return retry_at_;
    return has_changes(scheduler) ? now : sched::Instant::max();
}

}  // namespace pbs::plugin
