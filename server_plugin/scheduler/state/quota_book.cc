#include "server_plugin/scheduler/state/quota_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

using objects::QuotaRule;
using objects::QuotaSubject;

// Adds the amounts to the sums (sign 1), or subtracts them (sign -1). Returns whether a sum isn't 0 now.
template <class Sums, class Amounts>
bool add_up(Sums& sums, const Amounts& amounts, int sign) {
    bool any = false;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += values::Sum(amounts[i]) * sign;
        any = any || sums[i] != 0;
    }
    return any;
}

}  // namespace

void QuotaBook::read_rules(const CycleState& state, bool to_show) {
    for (const auto& quota : state.settings->quotas) {
        if (!quota->enabled && !to_show) continue;
        InQuota& in = quotas_.emplace_back(InQuota{quota, {}});
        for (const QuotaRule& rule : quota->rules) {
            Rule& made = in.rules.emplace_back();
            made.rule = &rule;
            for (const objects::QuotaLimit& limit : rule.limits) {
                const bool jobs = limit.resource == "jobs";
                const std::uint32_t id = jobs ? kNoResource : state.resources->id(limit.resource);
                if (!jobs && id == kNoResource) continue;  // no job can ask for it
                Bound bound;
                bound.what = jobs ? kJobs : id == state.resources->known().walltime ? kWalltimeAmount : id;
                bound.label =
                    state.strings->id(fmt::format("{} ({}): {}", quota->name, rule.name, limit.resource));
                bound.consumable = jobs || state.resources->consumable(id);
                if (!jobs) bound.column = state.vnodes->columns().of(id);
                if (limit.is_formula()) {
                    // A formula that doesn't compile was refused when it was set.
                    if (auto formula = objects::Formula::compile(limit.most))
                        bound.formula = *std::move(formula);
                } else if (jobs) {
                    bound.most = std::strtoll(limit.most.c_str(), nullptr, 10);
                } else {
                    const auto value = state.resources->parse(id, limit.most);
                    bound.most = value ? value->number : 0;  // a value of another type allows nothing
                    if (state.resources->is_text(id)) bound.text = limit.most;
                }
                bound.must_equal = !jobs && (state.resources->is_text(id) || state.resources->is_boolean(id));
                made.bounds.push_back(std::move(bound));
            }
        }
    }
}

// ---- The running jobs.

bool QuotaBook::looks_ahead() const {
    return std::ranges::any_of(quotas_,
                               [](const InQuota& in) { return in.quota->has_windows && !in.quota->spill; });
}

bool QuotaBook::is_ahead(const Counter& counter) const {
    const Quota& quota = *quotas_[counter.key[0]].quota;
    return quota.has_windows && !quota.spill;
}

bool QuotaBook::is_for(const Settings& settings, const Tables& tables) const {
    return of_ == settings.quotas && excluded_ == settings.exclude_resources &&
           planning_ == Planning::by(settings, tables.preempts && tables.has_closings);
}

std::size_t QuotaBook::uncounted(const Settings& settings, const Tables& tables, Instant now) const {
    const auto changed = tables.running_changes.since(read_);
    if (!changed || now < last_ || !is_for(settings, tables)) return static_cast<std::size_t>(tables.running);
    return changed->size() + static_cast<std::size_t>(std::distance(ends_move_.begin(), end_of_moved(now)));
}

QuotaBook::EndsMove::const_iterator QuotaBook::end_of_moved(Instant now) const {
    return ends_move_.upper_bound({now, std::numeric_limits<JobSlot>::max()});
}

void QuotaBook::begin_cycle(CycleState& state) {
    // The book is made anew if it has more counters than this and four for each running job: most of them are
    // then of jobs that have ended.
    constexpr std::size_t kMostCounters = 100'000;
    const Tables& tables = *state.tables;
    const auto changed = tables.running_changes.since(read_);
    if (!changed || state.now < last_ || !is_for(*state.settings, tables) ||
        counters_.size() > kMostCounters + 4 * running_.size()) {
        *this = QuotaBook(made_ + 1);
        of_ = state.settings->quotas;
        excluded_ = state.settings->exclude_resources;
        planning_ = state.planning;
        read_rules(state, false);
        count_all(state);
    } else {
        for (const auto& [of, amounts] : this_cycle_) add(of.first, Instant(Seconds(of.second)), amounts, -1);
        this_cycle_.clear();
        given_ = {};
        for (const JobSlot job : *changed) recount(state, job);
        // Copy the jobs, because recount() changes ends_move_.
        const std::vector moved(ends_move_.cbegin(), end_of_moved(state.now));
        for (const auto& [until, job] : moved) recount(state, job);
    }
    if (largest_of_ != tables.requests.made()) {
        largest_of_ = tables.requests.made();
        largest_.clear();
        for (InQuota& in : quotas_)
            for (Rule& rule : in.rules)
                for (Bound& bound : rule.bounds) bound.largest = -1;
        for (CounterGroup& group : groups_) group.room.reset();
    }
    ++begun_;
    read_ = tables.running_changes.position();
    last_ = state.now;
}

void QuotaBook::begin_to_show(CycleState& state) {
    planning_ = state.planning;
    read_rules(state, true);
    count_all(state);
}

void QuotaBook::count_all(CycleState& state) {
    const Tables& tables = *state.tables;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        for (const JobSlot job : tables.queues[q].running) recount(state, job);
}

// Returns the instant at which the planned end of a running job changes if the job goes on: a job that asked
// for no walltime is then planned to run as long again (default_duration), or the hours of its queue stop it.
// Instant::max(): time doesn't change the planned end, or no quota looks ahead.
Instant QuotaBook::ends_until(const CycleState& state, JobSlot job) const {
    Instant until = Instant::max();
    if (!looks_ahead()) return until;
    const JobTable& jobs = state.tables->jobs;
    if (planning_.repeats(jobs.walltime[job]))
        until = planning_.again(jobs.stime[job] + planning_.unasked + planning_.offset, state.now);
    const QueueHours* hours = (*state.queues)[jobs.queue[job]].hours;
    if (planning_.pauses && hours != nullptr)
        until = std::min(until, hours->open().next_change(state.now).value_or(Instant::max()));
    return until;
}

void QuotaBook::recount(CycleState& state, JobSlot job) {
    if (const auto known = running_.find(job); known != running_.end()) {
        add(known->second, -1);
        ends_move_.erase({known->second.ends_until, job});
        running_.erase(known);
    }
    if (!is_running(state.tables->jobs.state[job])) return;
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state, job, shares);
    const Counted& counted =
        running_.emplace(job, Counted{charges(state, user), user.ends, ends_until(state, job)}).first->second;
    add(counted, 1);
    if (counted.ends_until != Instant::max()) ends_move_.emplace(counted.ends_until, job);
}

template <class Amount>
void QuotaBook::add(std::uint32_t number, Instant ends, const absl::InlinedVector<Amount, 2>& amounts,
                    int sign) {
    Counter& counter = counters_[number];
    add_up(counter.used, amounts, sign);
    CounterGroup& group = groups_[counter.group];
    group.room.reset();
    for (std::size_t i = 0; sign > 0 && i < amounts.size(); ++i)
        group.most_used[i] = std::max(group.most_used[i], counter.used[i]);
    if (!is_ahead(counter)) return;
    const auto at = counter.ends.try_emplace(ends, amounts.size(), 0).first;
    if (!add_up(at->second, amounts, sign)) counter.ends.erase(at);
}

std::uint32_t QuotaBook::counter(const Key& key) {
    const auto [found, made] = numbers_.try_emplace(key, static_cast<std::uint32_t>(counters_.size()));
    if (made) {
        Counter& counter = counters_.emplace_back();
        counter.key = key;
        counter.used.assign(rule_of(key).bounds.size(), 0);
        counter.group = group_of(key);
        groups_[counter.group].counters.push_back(found->second);
    }
    return found->second;
}

std::uint32_t QuotaBook::group_of(const Key& key) {
    Key without_vnode = key;
    without_vnode[place_of(QuotaSubject::vnodes)] = 0;
    const auto [found, made] =
        group_numbers_.try_emplace(without_vnode, static_cast<std::uint32_t>(groups_.size()));
    if (made) {
        CounterGroup& group = groups_.emplace_back();
        group.key = without_vnode;
        group.most_used.assign(rule_of(key).bounds.size(), 0);
    }
    return found->second;
}

// Returns the counter of a key; null: no job was counted in it.
const QuotaBook::Counter* QuotaBook::find(const Key& key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? nullptr : &counters_[found->second];
}

std::optional<Instant> QuotaBook::next_change(Instant now) const {
    std::optional<Instant> next;
    for (const InQuota& in : quotas_) {
        if (!in.quota->has_windows) continue;
        const auto at = in.quota->windows.next_change(now);
        if (at && (!next || *at < *next)) next = at;
    }
    return next;
}

std::optional<std::int64_t> QuotaBook::limit_of(const CycleState& state, const Key& key, std::size_t bound) {
    Rule& rule = rule_of(key);
    Bound& limit = rule.bounds[bound];
    if (!limit.formula) return limit.most;
    const auto [known, is_new] = computed_.try_emplace({key, bound});
    if (!is_new) return known->second;
    // A name in the formula stands for the sum of this resource over the counter's vnodes.
    const QuotaVnodes::Answers& answers = vnodes_of(state, rule);
    const std::uint32_t value = key[place_of(QuotaSubject::vnodes)];
    const auto found = answers.vnodes.find(std::max<std::uint32_t>(value, 1));
    if (found == answers.vnodes.end()) return std::nullopt;
    std::vector<double> sums;
    for (const objects::Formula::Name& name : limit.formula->names()) {
        const std::uint32_t id = state.resources->id(name.name);
        bool is_known = false;
        double sum = 0;
        for (const VnodeSlot slot : found->second) {
            const Vnode& vnode = (*state.vnodes)[slot];
            const auto has = std::ranges::find(vnode.available, id, &KeptAmount::resource);
            if (id == kNoResource || has == vnode.available.end()) continue;
            is_known = true;
            sum += formula_amount(has->number, state.resources->find(id)->kind);
        }
        if (!is_known) return std::nullopt;
        sums.push_back(sum);
    }
    const auto result = limit.formula->value(sums);
    if (!result) return std::nullopt;
    const std::uint32_t id = resource_of(state, limit);
    known->second = amount_of_formula(
        *result, id == kNoResource ? ResourceKind::integer : state.resources->find(id)->kind);
    return known->second;
}

// ---- What jobs use.

// The charges of a job that has its places, one for each counter.
QuotaBook::Charges QuotaBook::charges(const CycleState& state, const LimitUser& user) {
    Charges charged;
    const auto charge = [&](std::uint32_t number) -> Charge& {
        return charged.emplace_back(Charge{number, Amounts(counters_[number].used.size(), 0)});
    };
    const Subject subject{user.whose, user.queue, user.request, user.walltime};
    for (Route& route : routes(state, subject)) {
        const std::vector<Rule>& rules = quotas_[route.quota].rules;
        const auto charge_whole = [&](Candidate& candidate, bool with_columns) {
            if (candidate.counter == kNoCounter) candidate.counter = counter(candidate.key);
            Charge& whole = charge(candidate.counter);
            const std::vector<Bound>& bounds = rules[candidate.rule].bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i)
                if (bounds[i].consumable && (with_columns || bounds[i].column == 0))
                    whole.amounts[i] += asked_in_all(state, *user.request, user.walltime, bounds[i].what);
        };
        if (!route.by_vnode) {
            charge_whole(route.rules.front(), true);
            continue;
        }
        std::optional<Candidate> candidate;
        VnodeSlot vnode = kNoSlot;  // the vnode of `candidate`
        for (std::size_t n = 0; n < user.shares.size(); ++n) {
            const Vnodes::Share& share = user.shares[n];
            if (n != 0 && share.column >= state.vnodes->columns().size()) continue;  // counts the job itself
            if (n == 0 || share.vnode != vnode) {
                vnode = share.vnode;
                candidate = at_vnode(state, route, share.vnode);
                if (candidate && n == 0) charge_whole(*candidate, false);
                if (candidate && n != 0) charge(counter(candidate->key));
            }
            if (!candidate) continue;
            const std::vector<Bound>& bounds = rules[candidate->rule].bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i)
                if (bounds[i].consumable && bounds[i].column != 0 && bounds[i].column == share.column)
                    charged.back().amounts[i] += share.amount;
        }
    }
    if (charged.size() < 2) return charged;
    // Make one charge of those of the same counter.
    std::ranges::stable_sort(charged, {}, &Charge::counter);
    auto last = charged.begin();
    for (auto next = last + 1; next != charged.end(); ++next)
        if (next->counter == last->counter)
            for (std::size_t i = 0; i < last->amounts.size(); ++i) last->amounts[i] += next->amounts[i];
        else
            *++last = std::move(*next);
    charged.erase(last + 1, charged.end());
    return charged;
}

void QuotaBook::count(const CycleState& state, const LimitUser& user, int sign) {
    for (const Charge& charge : charges(state, user)) {
        add(charge.counter, user.ends, charge.amounts, sign);
        const Instant ends = is_ahead(counters_[charge.counter]) ? user.ends : Instant{};
        const std::pair of{charge.counter, std::int64_t{ends.time_since_epoch().count()}};
        const auto known = this_cycle_.try_emplace(of, charge.amounts.size(), 0).first;
        if (!add_up(known->second, charge.amounts, sign)) this_cycle_.erase(known);
    }
}

// The use of a limit at a later instant by the jobs that are counted now and run until then. Jobs that have
// overrun their walltime still count.
std::int64_t QuotaBook::used_at(const Counter* counter, std::size_t bound, Instant now, Instant at) const {
    if (counter == nullptr) return 0;
    values::Sum used = counter->used[bound];
    if (at <= now || !is_ahead(*counter)) return used.value();
    for (auto end = counter->ends.upper_bound(now); end != counter->ends.end() && end->first <= at; ++end)
        used -= end->second[bound];
    return used.value();
}

// ---- Limits.

QuotaBook::Excess QuotaBook::excess_of(const Key& key, std::size_t number, const Balance& balance,
                                       Instant now, Instant binds) {
    const Quota& quota = *quotas_[key[0]].quota;
    const Rule& rule = rule_of(key);
    const Bound& bound = rule.bounds[number];
    refused_key_ = key;
    refused_bound_ = number;
    refused_from_ = binds > now ? std::optional(binds) : std::nullopt;
    Excess excess{.label = bound.label,
                  .asked = balance.asked,
                  .used = balance.used,
                  .most = balance.most,
                  .for_good = (!bound.consumable || balance.asked > balance.most) && !bound.formula,
                  .lifted_by = EntityKind::all,
                  .until = std::nullopt};
    if (quota.has_windows) excess.until = quota.windows.next_change(now).value_or(Instant::max());
    for (const auto& [subject, kind] : {std::pair(QuotaSubject::users, EntityKind::user),
                                        {QuotaSubject::groups, EntityKind::group},
                                        {QuotaSubject::projects, EntityKind::project}})
        if (rule.counts_by(subject)) {
            excess.lifted_by = kind;
            break;
        }
    return excess;
}

// Returns what a job asks of one limit of the candidate's rule for the whole job, with the use and the
// maximum; nullopt: the limit doesn't bind the job.
std::optional<QuotaBook::Balance> QuotaBook::balance(const CycleState& state, const Candidate& candidate,
                                                     std::size_t number, const Subject& subject,
                                                     Instant begins, Instant binds) {
    const Bound& bound = rule_of(candidate.key).bounds[number];
    const std::int64_t asked = asked_in_all(state, *subject.request, subject.walltime, bound.what);
    const auto most = limit_of(state, candidate.key, number);
    if (asked == 0 || !most) return std::nullopt;
    const std::int64_t used = bound.consumable ? used_at(find(candidate.key), number, begins, binds) : 0;
    return Balance{asked, used, *most};
}

// Compares what a job asks for with a limit that it has to equal. nullopt: it asks for the same or for
// nothing. For texts, the amounts are their numbers in state.strings.
std::optional<QuotaBook::Balance> QuotaBook::unequal(const CycleState& state, const Key& key,
                                                     std::size_t number, const Request& request) {
    const Bound& bound = rule_of(key).bounds[number];
    const auto asked = std::ranges::find(request.amounts, bound.what, &KeptAmount::resource);
    if (asked == request.amounts.end()) return std::nullopt;
    if (!bound.text.empty()) {
        if (asked->text == bound.text) return std::nullopt;
        return Balance{state.strings->id(asked->text), 0, state.strings->id(bound.text)};
    }
    const auto limit = limit_of(state, key, number);
    if (!limit || (asked->number != 0) == (*limit != 0)) return std::nullopt;
    return Balance{asked->number, 0, *limit};
}

// Returns the first limit that the job doesn't meet, among the rule's limits on amounts of the whole job;
// nullopt: it meets all of these. Skips limits on amounts of vnodes if the rule names vnodes.
std::optional<QuotaBook::Excess> QuotaBook::excess_at(const CycleState& state, const Route& route,
                                                      const Candidate& candidate, const Subject& subject,
                                                      Instant begins, Instant binds) {
    const Rule& rule = rule_of(candidate.key);
    for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
        const Bound& bound = rule.bounds[i];
        if (route.by_vnode && bound.consumable && bound.column != 0) continue;
        if (bound.must_equal) {
            if (const auto other = unequal(state, candidate.key, i, *subject.request))
                return excess_of(candidate.key, i, *other, begins, binds);
            continue;
        }
        const auto of_job = balance(state, candidate, i, subject, begins, binds);
        if (of_job && values::Sum(of_job->used) + of_job->asked > of_job->most)
            return excess_of(candidate.key, i, *of_job, begins, binds);
    }
    return std::nullopt;
}

std::optional<QuotaBook::Excess> QuotaBook::excess(const CycleState& state, const Subject& subject,
                                                   Instant begins, Instant ends) {
    for (const Route& route : routes(state, subject)) {
        if (route.by_vnode) continue;
        const auto binds = quotas_[route.quota].quota->binds(begins, ends);
        if (!binds) continue;
        if (auto excess = excess_at(state, route, route.rules.front(), subject, begins, *binds))
            return excess;
    }
    return std::nullopt;
}

// Returns the amounts that the job's chunks take, by counter and column. Adds only the chunks that are new
// since the last call.
const QuotaBook::Given& QuotaBook::given(const CycleState& state, const Subject& subject,
                                         const Placement& places) {
    const std::vector<Route>& routes = this->routes(state, subject);
    const auto begins_as = [&](const auto& all, const auto& known) {
        return known.size() <= all.size() && std::equal(known.begin(), known.end(), all.begin());
    };
    if (given_.request != subject.request || given_.routes != &routes ||
        !begins_as(places.parts, given_.places.parts) || !begins_as(places.amounts, given_.places.amounts))
        given_ = {subject.request, &routes, {}, {}};
    Row kept;
    for (std::size_t i = given_.places.parts.size(); i < places.parts.size(); ++i) {
        const Part& part = places.parts[i];
        const Row& needs =
            state.vnodes->columns().needs_of(places, part, *subject.request, state.vnode_share, kept);
        for (const Route& route : routes) {
            const auto candidate = route.by_vnode ? at_vnode(state, route, part.vnode) : std::nullopt;
            if (!candidate) continue;
            for (const Bound& bound : quotas_[route.quota].rules[candidate->rule].bounds)
                if (bound.consumable && bound.column != 0 && needs[bound.column] > 0)
                    given_.taken[{candidate->key, bound.column}] +=
                        values::Sum(needs[bound.column]) * part.count;
        }
    }
    given_.places = places;
    return given_;
}

std::int64_t QuotaBook::most(const CycleState& state, const Subject& subject, Instant begins, Instant ends,
                             VnodeSlot vnode, const Row& needs, const Placement& places) {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const Given& given = this->given(state, subject, places);
    for (const Route& route : *given.routes) {
        if (!route.by_vnode) continue;
        const InQuota& in = quotas_[route.quota];
        const auto binds = in.quota->binds(begins, ends);
        if (!binds) continue;
        const std::optional<Candidate> candidate = at_vnode(state, route, vnode);
        if (!candidate) continue;
        // The job's first vnode counts the amounts of the whole job.
        if (places.empty() && excess_at(state, route, *candidate, subject, begins, *binds)) return 0;
        const Rule& rule = in.rules[candidate->rule];
        const Counter* const counted = find(candidate->key);
        for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
            const Bound& bound = rule.bounds[i];
            if (!bound.consumable || bound.column == 0 || needs[bound.column] == 0) continue;
            const auto limit = limit_of(state, candidate->key, i);
            if (!limit) continue;
            values::Sum left = values::Sum(*limit) - used_at(counted, i, begins, *binds);
            const auto taken = given.taken.find({candidate->key, bound.column});
            if (taken != given.taken.end()) left -= taken->second;
            most = std::min(most, std::max<std::int64_t>(0, left.value()) / needs[bound.column]);
        }
    }
    return most;
}

std::optional<QuotaBook::Excess> QuotaBook::excess_of_places(const CycleState& state, const Subject& subject,
                                                             Instant begins, Instant ends,
                                                             const Placement& places) {
    const Given& given = this->given(state, subject, places);
    for (const Route& route : *given.routes) {
        if (!route.by_vnode || places.empty()) continue;
        const InQuota& in = quotas_[route.quota];
        const auto binds = in.quota->binds(begins, ends);
        if (!binds) continue;
        const auto first = at_vnode(state, route, places.parts.front().vnode);
        if (first)
            if (auto excess = excess_at(state, route, *first, subject, begins, *binds)) return excess;
        for (const auto& [of, amount] : given.taken) {
            const auto& [key, column] = of;
            if (key[0] != route.quota) continue;
            const Rule& rule = in.rules[key[1]];
            for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
                const Bound& bound = rule.bounds[i];
                if (!bound.consumable || bound.column != column) continue;
                const auto most = limit_of(state, key, i);
                const std::int64_t used = used_at(find(key), i, begins, *binds);
                if (most && values::Sum(used) + amount > *most)
                    return excess_of(key, i, {amount.value(), used, *most}, begins, *binds);
            }
        }
    }
    return std::nullopt;
}

// ---- Reservations.

void QuotaBook::keep(const CycleState& state, const LimitUser& user, const OwnLimit& limit,
                     Reservation& reservation) {
    for (const Charge& charge : charges(state, user)) {
        const Counter& counted = counters_[charge.counter];
        const InQuota& in = quotas_[counted.key[0]];
        const auto binds = in.quota->binds(reservation.start, reservation.end);
        if (!binds) continue;
        const std::vector<Bound>& bounds = in.rules[counted.key[1]].bounds;
        for (std::uint32_t i = 0; i < bounds.size(); ++i) {
            const auto most = limit_of(state, counted.key, i);
            if (!bounds[i].consumable || charge.amounts[i] == 0 || !most) continue;
            const std::int64_t used = used_at(&counted, i, reservation.start, *binds);
            reservation.spare.push_back({{{UseScope::own, EntityKind::all, charge.counter, made_}, i, &limit},
                                         values::Sum(*most) - used - charge.amounts[i]});
        }
    }
}

std::int64_t QuotaBook::use(const CycleState& state, const LimitUser& user, const LimitKey& key) {
    for (const Charge& charge : charges(state, user))
        if (charge.counter == key.use.object) return charge.amounts[key.what];
    return 0;
}

}  // namespace pbs::sched
