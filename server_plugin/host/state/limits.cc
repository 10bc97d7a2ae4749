#include "server_plugin/host/state/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/state.h"
#include "server_plugin/host/state/values.h"
#include "values/find.h"

namespace pbs::host {
namespace {

using ifl::EntityLimit;

Result<std::vector<EntityLimit>> parsed(std::string_view text) {
    auto limits = ifl::parse_entity_limits(text);
    if (limits) return *std::move(limits);
    return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected {} at character {}, as in "
                                           "[u:NAME=LIMIT],[g:PBS_GENERIC=LIMIT],[o:PBS_ALL=LIMIT]",
                                           text, limits.error().expected, limits.error().at + 1));
}

// Parses the limits in a stored value.
std::vector<EntityLimit> stored(std::string_view text) {
    return text.empty() ? std::vector<EntityLimit>() : parsed(text).value_or(std::vector<EntityLimit>());
}

constexpr std::size_t kMostLimits = 10'000;

using Names = std::span<const std::string_view>;

constexpr std::string_view kOld[] = {
    "max_queuable",  "max_running",       "max_user_run",       "max_group_run",     "max_user_res",
    "max_group_res", "max_user_run_soft", "max_group_run_soft", "max_user_res_soft", "max_group_res_soft"};
constexpr std::string_view kNew[] = {"max_queued_res", "queued_jobs_threshold_res",
                                     "max_queued",     "queued_jobs_threshold",
                                     "max_run",        "max_run_res",
                                     "max_run_soft",   "max_run_res_soft"};

// Returns the limit attributes of the other spelling. The server, or a queue, must not have any of them set
// while limits of this spelling are set.
Names conflicting(bool old_style, bool server) {
    return old_style ? Names(kOld).subspan(server ? 1 : 0) : Names(kNew).subspan(server ? 4 : 2);
}

std::string_view set_in(const Attributes& attributes, Names names) {
    const auto is_set = [&](std::string_view name) { return !attributes.all_of(name).empty(); };
    const auto found = std::ranges::find_if(names, is_set);
    return found == names.end() ? std::string_view() : *found;
}

// Returns how many jobs a limit counts for this job: for an array the subjobs that may start, else one.
int64_t jobs_of(const Job& job) {
    return job.is_array() ? job.subjobs->queued.count() : 1;
}

// Returns the job's contribution to the sums, times `by` (1 to add it, -1 to subtract it).
JobSums sums_of(const Job& job, const ResourceTable& resources, int64_t by) {
    const int64_t count = by * jobs_of(job);
    JobSums sums{.jobs = count, .amounts = {}};
    for (const AttributeValue& value : job.attributes.all_of("Resource_List")) {
        const Resource* resource = resources.find(value.resource());
        if (resource == nullptr || !is_amount(resource->type)) continue;
        sums.amounts[resource->id] += values::Sum(amount_of(resource->type, value.value())) * count;
    }
    return sums;
}

// Returns the word for a kind of entity in messages.
std::string_view word_of(char kind) {
    return kind == 'u' ? "user" : kind == 'g' ? "group" : "project";
}

struct Found {
    int64_t most = 0;
    bool own = false;
};
std::optional<Found> limit_for(const std::vector<EntityLimit>& limits, const CountedEntity& entity,
                               Type type) {
    std::optional<Found> found;
    for (const EntityLimit& limit : limits) {
        if (limit.kind != entity.kind || !limit.most) continue;
        if (limit.name == entity.name) return Found{amount_of(type, *limit.most), true};
        if (limit.name == ifl::kGenericEntity) found = Found{amount_of(type, *limit.most), false};
    }
    return found;
}

// One check of a limit. The limit is an attribute of a queue or of the server.
struct Check {
    const Job& job;
    const Queue* queue;  // null: the server's attribute
    CountedJobs& counted;
    std::string_view attribute;
    bool threshold;  // the limit counts only jobs that don't run

    const Attributes& attributes() const {
        return queue != nullptr ? queue->attributes : counted.state().server;
    }
    std::string where() const { return queue != nullptr ? "queue " + queue->name : "complex"; }

    // Returns the sum over the jobs other than `job`: if `job` is counted already, its share is subtracted.
    template <class Of>
    values::Sum sum(const CountedEntity& entity, const Of& of) const {
        const values::Sum total = counted.sum(
            queue != nullptr ? queue->handle : 0, entity,
            [&](const EntityCounts::Sums& sums) { return of(threshold ? sums.not_running : sums.all); });
        const Job* before = counted.find(job.handle);
        if (before == nullptr || (threshold && before->running())) return total;
        if (queue != nullptr && before->queue != queue->handle) return total;
        const auto same = [&](const CountedEntity& other) {
            return other.kind == entity.kind && other.name == entity.name;
        };
        if (std::ranges::none_of(entities_of(*before), same)) return total;
        return total - of(sums_of(*before, counted.state().resources, 1));
    }
};

// Makes the message for too many jobs, in OpenPBS's words.
std::string jobs_text(const Check& check, const CountedEntity& entity, bool own) {
    const std::string_view state = check.threshold ? " in 'Q' state" : "";
    if (entity.kind == 'o')
        return fmt::format("Maximum number of jobs{} already in {}", state, check.where());
    if (own)
        return fmt::format("Maximum number of jobs{} for {} {} already in {}", state, word_of(entity.kind),
                           entity.name, check.where());
    return fmt::format("would exceed {}'s per-{} limit{}", check.where(), word_of(entity.kind),
                       check.threshold ? " of jobs in 'Q' state" : "");
}

std::string amounts_text(const Check& check, const CountedEntity& entity, bool own,
                         std::string_view resource) {
    const std::string whose = entity.kind == 'o' ? "limit"
                              : own ? fmt::format("{} {}'s limit", word_of(entity.kind), entity.name)
                                    : fmt::format("per-{} limit", word_of(entity.kind));
    return fmt::format("would exceed {} on resource {} in {}{}", whose, resource, check.where(),
                       check.threshold ? " for jobs in 'Q' state" : "");
}

Result<void> check_jobs(const Check& check) {
    const std::string_view text = check.attributes().text(check.attribute);
    if (text.empty()) return {};
    const std::vector<EntityLimit> limits = stored(text);
    for (const CountedEntity& entity : entities_of(check.job)) {
        const auto limit = limit_for(limits, entity, Type::integer);
        if (!limit) continue;
        const values::Sum used = check.sum(entity, [](const JobSums& sums) { return sums.jobs; });
        if (used + jobs_of(check.job) > limit->most)
            return fail(PBSE_ENTLIMCT, jobs_text(check, entity, limit->own));
    }
    return {};
}

Result<void> check_amounts(const Check& check) {
    for (const AttributeValue& value : check.attributes().all_of(check.attribute)) {
        const Resource* resource = check.counted.state().resources.find(value.resource());
        const AttributeValue* asked = check.job.attributes.find("Resource_List", value.resource());
        if (resource == nullptr || asked == nullptr) continue;
        const values::Sum more = values::Sum(amount_of(resource->type, asked->value())) * jobs_of(check.job);
        const std::vector<EntityLimit> limits = stored(value.value());
        for (const CountedEntity& entity : entities_of(check.job)) {
            const auto limit = limit_for(limits, entity, resource->type);
            if (!limit) continue;
            const values::Sum used = check.sum(entity, [&](const JobSums& sums) {
                const auto at = sums.amounts.find(resource->id);
                return at == sums.amounts.end() ? values::Sum() : at->second;
            });
            if (used + more > limit->most)
                return fail(PBSE_ENTLIMRESC, amounts_text(check, entity, limit->own, resource->name));
        }
    }
    return {};
}

}  // namespace

Result<std::string> changed_limits(Type type, std::string_view current, std::string_view operand,
                                   ifl::Op op) {
    auto given = parsed(operand);
    if (!given) return tl::unexpected(given.error());
    using Whose = std::pair<char, std::string>;
    std::map<Whose, EntityLimit> limits;
    if (op != ifl::Op::set)
        for (EntityLimit& limit : stored(current)) limits.emplace(Whose{limit.kind, limit.name}, limit);
    std::set<Whose> named;
    for (EntityLimit& limit : *given) {
        const Whose whose{limit.kind, limit.name};
        if (!named.insert(whose).second)
            return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": {}:{} is there twice", operand,
                                                   limit.kind, limit.name));
        if (limit.most) {
            auto most = canonical(type, *limit.most);
            if (!most) return tl::unexpected(most.error());
            limit.most = *std::move(most);
        } else if (op != ifl::Op::decr) {
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal value \"{}\": {}:{} has no limit, expected =LIMIT", operand,
                                    limit.kind, limit.name));
        }
        if (op != ifl::Op::decr) {
            limits[whose] = std::move(limit);
            continue;
        }
        const auto known = limits.find(whose);
        const bool meant = known != limits.end() && (!limit.most || amount_of(type, *limit.most) ==
                                                                        amount_of(type, *known->second.most));
        if (meant) limits.erase(known);
    }
    // Bound the number of limits in one value, because they are parsed again whenever a job is submitted.
    if (limits.size() > kMostLimits)
        return fail(PBSE_BADATVAL, fmt::format("{} limits in one value are too many, expected at most {}",
                                               limits.size(), kMostLimits));
    std::vector<EntityLimit> list;
    list.reserve(limits.size());
    for (auto& [whose, limit] : limits) list.push_back(std::move(limit));
    return ifl::entity_limits_text(list);
}

Result<void> check_limit_styles(std::string_view name, const Attributes& own, const State& state) {
    if (own.all_of(name).empty()) return {};
    const bool is_new = std::ranges::find(kNew, name) != std::end(kNew);
    if (!is_new && std::ranges::find(kOld, name) == std::end(kOld)) return {};
    const auto conflict = [&](const Attributes& attributes, bool server) {
        return set_in(attributes, conflicting(is_new, server));
    };
    const auto refuse = [&](std::string_view other, const std::string& where) {
        return fail(
            PBSE_MIXENTLIMS,
            fmt::format("Cannot mix old and new style queue/run limit enforcement types: {} of {} is set",
                        other, where));
    };
    if (const auto other = conflict(own, false); !other.empty()) return refuse(other, "the same object");
    if (const auto other = conflict(state.server, true); !other.empty()) return refuse(other, "the server");
    for (const auto& [queue_name, queue] : state.queues())
        if (const auto other = conflict(queue.attributes, false); !other.empty())
            return refuse(other, "queue " + queue_name);
    return {};
}

void JobSums::add(const JobSums& other) {
    jobs += other.jobs;
    for (const auto& [resource, amount] : other.amounts) amounts[resource] += amount;
}

std::array<CountedEntity, 4> entities_of(const Job& job) {
    const Attributes& a = job.attributes;
    return {
        {{'o', ifl::kAllEntity}, {'u', a.text("euser")}, {'g', a.text("egroup")}, {'p', a.text("project")}}};
}

namespace {

std::string key_of(uint64_t queue, const CountedEntity& entity) {
    return fmt::format("{}{}{}", queue, entity.kind, entity.name);
}

}  // namespace

void EntityCounts::count(const Job& job, const ResourceTable& resources, int64_t by) {
    if (job.history()) return;
    const JobSums own = sums_of(job, resources, by);
    const bool running = job.running();
    const auto entities = entities_of(job);
    // Most jobs are counted right after a job of the same user in the same queue. For such a job, use again
    // the pointers to the sums that were found for the job before.
    const bool as_before =
        last_.queue == job.queue && std::ranges::equal(last_.names, entities, {}, {}, &CountedEntity::name);
    if (!as_before) {
        last_.queue = job.queue;
        for (size_t i = 0; i < entities.size(); ++i) {
            last_.names[i] = entities[i].name;
            last_.sums[i] = {&sums_[key_of(0, entities[i])], &sums_[key_of(job.queue, entities[i])]};
        }
    }
    for (size_t i = 0; i < entities.size(); ++i)
        for (Sums* const sums : last_.sums[i]) {
            sums->members += by;
            sums->all.add(own);
            if (!running) sums->not_running.add(own);
        }
    // Remove sums that count no jobs. Users choose names of projects freely, and unused names would fill the
    // memory.
    if (std::ranges::none_of(last_.sums,
                             [](const auto& of) { return of[0]->members == 0 || of[1]->members == 0; }))
        return;
    last_.forget();
    for (const CountedEntity& entity : entities)
        for (const uint64_t queue : {uint64_t{0}, job.queue})
            if (const auto at = sums_.find(key_of(queue, entity));
                at != sums_.end() && at->second.members == 0)
                sums_.erase(at);
}

const EntityCounts::Sums* EntityCounts::find(uint64_t queue, const CountedEntity& entity) const {
    return values::find_in(sums_, key_of(queue, entity));
}

void CountedJobs::stage(const Job& job) {
    if (job.history()) return forget(job.handle);
    unsettled_.emplace_back(job.handle, job);
}

void CountedJobs::forget(uint64_t job) {
    unsettled_.emplace_back(job, std::nullopt);
}

void CountedJobs::settle() {
    for (auto& [handle, job] : std::exchange(unsettled_, {})) {
        const auto [at, is_first] = staged_.try_emplace(handle);
        if (!is_first && at->second) after_.count(*at->second, state_.resources, -1);
        if (const Job* known = is_first ? state_.job(handle) : nullptr)
            before_.count(*known, state_.resources, 1);
        at->second = std::move(job);
        if (at->second) after_.count(*at->second, state_.resources, 1);
    }
}

const Job* CountedJobs::find(uint64_t job) {
    settle();
    if (const auto at = staged_.find(job); at != staged_.end()) return at->second ? &*at->second : nullptr;
    const Job* known = state_.job(job);
    return known == nullptr || known->history() ? nullptr : known;
}

template <class Part>
values::Sum CountedJobs::sum(uint64_t queue, const CountedEntity& entity, const Part& part) {
    settle();
    const auto of = [&](const EntityCounts& counts) {
        const EntityCounts::Sums* sums = counts.find(queue, entity);
        return sums == nullptr ? values::Sum() : values::Sum(part(*sums));
    };
    const values::Sum known = of(state_.entity_counts());
    return staged_.empty() ? known : known - of(before_) + of(after_);
}

int64_t CountedJobs::others_in(const Queue& queue, uint64_t job) {
    const int64_t all =
        sum(queue.handle, {'o', ifl::kAllEntity}, [](const auto& sums) { return sums.members; }).value();
    const Job* known = find(job);
    return known != nullptr && known->queue == queue.handle ? all - 1 : all;
}

Result<void> within_queued_jobs(const Job& job, const Queue& queue, CountedJobs& counted) {
    for (const Queue* of : {&queue, static_cast<const Queue*>(nullptr)}) {
        if (of == nullptr && counted.state().job(job.handle) != nullptr) break;
        if (auto ok = check_jobs({job, of, counted, "max_queued", false}); !ok) return ok;
        if (auto ok = check_jobs({job, of, counted, "queued_jobs_threshold", true}); !ok) return ok;
    }
    return {};
}

Result<void> within_queued_amounts(const Job& job, const Queue& queue, CountedJobs& counted) {
    for (const Queue* of : {&queue, static_cast<const Queue*>(nullptr)}) {
        if (auto ok = check_amounts({job, of, counted, "max_queued_res", false}); !ok) return ok;
        if (auto ok = check_amounts({job, of, counted, "queued_jobs_threshold_res", true}); !ok) return ok;
    }
    return {};
}

}  // namespace pbs::host
