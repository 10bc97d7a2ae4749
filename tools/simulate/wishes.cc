#include "tools/simulate/wishes.h"

#include <algorithm>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "server_plugin/scheduler/model/chunk_range.h"
#include "server_plugin/scheduler/model/deadline.h"

namespace pbs::simulate {
namespace {

using sched::Amount;

const Amount* find(const sched::JobRecord& record, const std::uint32_t* resource) {
    if (resource == nullptr) return nullptr;
    const auto found = std::ranges::find(record.requested, *resource, &Amount::resource);
    return found == record.requested.end() ? nullptr : &*found;
}

// The first chunks of a select: those before its first plus sign.
struct FirstChunks {
    std::int64_t count = 1;
    std::int64_t cpus = 1;  // CPUs of each
};
FirstChunks first_chunks(std::string_view select) {
    select = select.substr(0, select.find('+'));
    FirstChunks first;
    first.count = values::number_of_chunks(select.substr(0, select.find(':'))).value_or(1);
    first.cpus = cpus_of_select(select).value_or(first.count) / first.count;
    return first;
}

}  // namespace

Wishes::Wishes(const Cluster& cluster, const rrule::Zone& zone)
    : zone_(zone),
      deadline_(cluster.resource("deadline")),
      select_(cluster.resource("select")),
      select_range_(cluster.resource("select_range")),
      per_host_(cluster.resource("per_host")),
      prefer_(cluster.resource("prefer")) {}

void Wishes::begin(const objects::Snapshot& snapshot) {
    for (const objects::ObjectPtr& sched : snapshot.objects(objects::ObjectType::sched)) {
        const objects::PolicySlots slots = snapshot.policy_slots(sched->name());
        for (const std::string& name : slots.names())
            if (const objects::Object* policy = snapshot.policy(name))
                most_chunks_ = std::max(
                    most_chunks_,
                    std::min<std::int64_t>(policy->integer("max_range_chunks"), objects::kMostRangeChunks));
    }
}

void Wishes::submitted(std::uint32_t job, const sched::JobRecord& record, Schedule& run) const {
    if (const Amount* const deadline = find(record, deadline_))
        if (const auto at = sched::parse_deadline(deadline->text, record.ctime, zone_))
            run.deadlines[job] = *at;
    if (const Amount* const prefer = find(record, prefer_); prefer != nullptr && !prefer->text.empty())
        run.preferences[job] = {};
    const Amount* const select = find(record, select_);
    const Amount* const asked = find(record, select_range_);
    if (select == nullptr || asked == nullptr) return;
    auto range = sched::ChunkRange::parse(asked->text);
    const Amount* const per_host = find(record, per_host_);
    if (!range) return;
    if (per_host != nullptr && (per_host->number < 1 || !range->keep_multiples(per_host->number))) return;
    const FirstChunks first = first_chunks(select->text);
    ChunksOfRun& chunks = run.chunks[job];
    chunks.asked = range->greatest(most_chunks_);
    chunks.cpus_asked = cpus_of_select(select->text).value_or(0) + (chunks.asked - first.count) * first.cpus;
}

void Wishes::started(sched::Scheduler& scheduler, std::uint32_t job, const sched::JobRecord& record,
                     Schedule& run) const {
    if (const auto preferences = run.preferences.find(job); preferences != run.preferences.end())
        if (const auto missed = scheduler.inspect().missed_preferences(record.job, record.places))
            preferences->second = {true, *missed};
    const auto chunks = run.chunks.find(job);
    if (chunks != run.chunks.end()) chunks->second.had = first_chunks(find(record, select_)->text).count;
}

}  // namespace pbs::simulate
