#include "server_plugin/scheduler/state/quota_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/tables.h"
#include "values/text.h"

namespace pbs::sched {
namespace {

using objects::QuotaFilter;
using objects::QuotaRule;
using objects::QuotaSubject;

constexpr std::string_view kNoProject = "_pbs_project_default";

bool has(const QuotaFilter& filter, std::string_view text) {
    const std::string value(text);
    return filter.has([&](const std::string& pattern) { return objects::matches_pattern(pattern, value); });
}

// The shapes of a job as bits: those of JobShape, and kMulti.
constexpr std::uint32_t kMulti = 4;
constexpr std::array<std::pair<std::uint32_t, const char*>, 3> kShapeNames = {
    {{shape_array, "array"}, {shape_interactive, "interactive"}, {kMulti, "multi"}}};

std::uint32_t shapes_of(const QuotaBook::Subject& subject) {
    const std::vector<Chunk>& chunks = subject.request->chunks;
    const bool multi = chunks.size() > 1 || (!chunks.empty() && chunks.front().count > 1);
    return subject.whose.shape | (multi ? kMulti : 0);
}

// "array", "single" and so on.
std::vector<std::string> shape_names(std::uint32_t shapes) {
    std::vector<std::string> names;
    for (const auto& [bit, name] : kShapeNames)
        if ((shapes & bit) != 0) names.emplace_back(name);
    if ((shapes & kMulti) == 0) names.emplace_back("single");
    return names;
}

// Does the rule match a job of the user and the group in the queue, whatever its other filters say?
bool matches_whom(const QuotaRule& rule, std::string_view owner, std::string_view group,
                  std::string_view queue) {
    const auto is_user = [&](const std::string& pattern) {
        return pattern.starts_with('@') ? objects::matches_pattern(pattern.substr(1), std::string(group))
                                        : objects::matches_pattern(pattern, std::string(owner));
    };
    const auto& users = rule.filter(QuotaSubject::users);
    const auto& groups = rule.filter(QuotaSubject::groups);
    const auto& queues = rule.filter(QuotaSubject::queues);
    return (!users || users->has(is_user)) && (!groups || has(*groups, group)) &&
           (!queues || has(*queues, queue));
}

// The amount that a job asks for in all. A job that asks for no processors has one for each chunk.
std::int64_t asked_in_all(const CycleState& state, const Request& request, Seconds walltime,
                          std::uint32_t what) {
    if (const auto asked = asked_amount(request, walltime, what)) return std::max<std::int64_t>(0, *asked);
    if (what != state.resources->known().ncpus) return 0;
    std::int64_t chunks = 0;
    for (const Chunk& chunk : request.chunks) chunks += chunk.count;
    return std::max<std::int64_t>(1, chunks);
}

}  // namespace

void QuotaBook::begin(const CycleState& state, bool to_show) {
    begun_ = true;
    for (const auto& quota : state.settings->quotas) {
        if (!quota->enabled && !to_show) continue;
        InQuota& in = quotas_.emplace_back(InQuota{quota.get(), {}});
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
                if (jobs) {
                    bound.consumable = true;
                    bound.most = std::strtoll(limit.most.c_str(), nullptr, 10);
                    if (limit.is_formula())
                        if (auto formula = objects::Formula::compile(limit.most))
                            bound.formula = *std::move(formula);
                } else if (limit.is_formula()) {
                    // What doesn't compile was refused when it was set.
                    if (auto formula = objects::Formula::compile(limit.most))
                        bound.formula = *std::move(formula);
                    bound.consumable = state.resources->consumable(id);
                    bound.column = state.vnodes->columns().of(id);
                } else {
                    const auto value = state.resources->parse(id, limit.most);
                    bound.consumable = state.resources->consumable(id);
                    bound.most = value ? value->number : 0;  // a value of another type allows nothing
                    if (state.resources->is_text(id)) bound.text = limit.most;
                    bound.column = state.vnodes->columns().of(id);
                }
                made.bounds.push_back(std::move(bound));
            }
        }
    }
}

// ---- The rules that count a job.

std::uint32_t QuotaBook::vnode_value(const CycleState& state, Rule& rule, VnodeSlot vnode) {
    if (!rule.vnodes_known) {
        rule.vnodes_known = true;
        const QuotaFilter& filter = *rule.rule->filter(QuotaSubject::vnodes);
        rule.vnode_values.assign(state.vnodes->size(), 0);
        for (VnodeSlot slot = 0; slot < state.vnodes->size(); ++slot) {
            const Vnode& known = (*state.vnodes)[slot];
            if (!known.known) continue;
            std::string counted;  // the value that the counter is for
            const auto matches = [&](const std::string& text) {
                const objects::VnodePattern pattern = objects::vnode_pattern(text);
                if (pattern.resource.empty()) {
                    if (!objects::matches_pattern(text, known.name)) return false;
                    counted = known.name;
                    return true;
                }
                if (pattern.resource == "host" || pattern.resource == "vnode") {
                    counted = pattern.resource == "host" ? state.vnodes->host_name(known) : known.name;
                    return objects::matches_pattern(std::string(pattern.pattern), counted);
                }
                const std::uint32_t id = state.resources->id(pattern.resource);
                const auto has = std::ranges::find(known.available, id, &KeptAmount::resource);
                if (id == kNoResource || has == known.available.end()) return false;
                const std::string all =
                    state.resources->is_text(id) ? has->text : state.resources->format(id, has->number);
                for (const std::string_view value : values::split_trimmed(all, ',')) {
                    counted = value;
                    if (objects::matches_pattern(std::string(pattern.pattern), counted)) return true;
                }
                return false;
            };
            if (!filter.has(matches)) continue;
            if (filter.among.empty()) counted = known.name;
            rule.vnode_values[slot] = (filter.each ? state.strings->id(counted) : 0) + 1;
        }
    }
    return vnode < rule.vnode_values.size() ? rule.vnode_values[vnode] : 0;
}

std::vector<QuotaBook::Route> QuotaBook::make_routes(const CycleState& state, const Subject& subject) const {
    std::vector<Route> made;
    const bool reserved = state.tables->reservation_of(subject.queue) != nullptr;
    const std::string_view owner = state.strings->text(subject.whose.owner);
    const std::string_view group = state.strings->text(subject.whose.group);
    std::string_view project = state.strings->text(subject.whose.project);
    if (project == kNoProject) project = {};
    const std::string& queue = (*state.queues)[subject.queue].name;
    const std::uint32_t shapes = shapes_of(subject);
    const std::vector<std::string> named_shapes = shape_names(shapes);
    for (std::uint32_t q = 0; q < quotas_.size(); ++q) {
        const InQuota& in = quotas_[q];
        if (reserved && in.quota->exempts_reservations) continue;
        Route route{q, {}, false};
        for (std::uint32_t r = 0; r < in.rules.size(); ++r) {
            const QuotaRule& rule = *in.rules[r].rule;
            if (!matches_whom(rule, owner, group, queue)) continue;
            const auto& projects = rule.filter(QuotaSubject::projects);
            // Names and `*` mean jobs with a project; exclusions alone mean those without one, too.
            if (projects && !(project.empty() ? projects->among.empty() : has(*projects, project))) continue;
            const auto& shape = rule.filter(QuotaSubject::shapes);
            const auto is_shape = [&](const std::string& pattern) {
                return std::ranges::any_of(named_shapes, [&](const std::string& name) {
                    return objects::matches_pattern(pattern, name);
                });
            };
            if (shape && !shape->has(is_shape)) continue;
            Candidate candidate{r, {q, r}};
            for (const auto& [which, id] : {std::pair(QuotaSubject::users, subject.whose.owner),
                                            {QuotaSubject::groups, subject.whose.group},
                                            {QuotaSubject::projects, subject.whose.project},
                                            {QuotaSubject::queues, subject.queue},
                                            {QuotaSubject::shapes, shapes}})
                if (const auto& filter = rule.filter(which); filter && filter->each)
                    candidate.key[2 + static_cast<std::size_t>(which)] = id + 1;
            const bool by_vnode = rule.filter(QuotaSubject::vnodes).has_value();
            route.rules.push_back(candidate);
            route.by_vnode = route.by_vnode || by_vnode;
            if (!by_vnode) break;
        }
        if (!route.rules.empty()) made.push_back(std::move(route));
    }
    return made;
}

const std::vector<QuotaBook::Route>& QuotaBook::routes(const CycleState& state, const Subject& subject) {
    const RouteKey key{subject.whose.owner, subject.whose.group, subject.whose.project, subject.queue,
                       shapes_of(subject)};
    const auto found = routes_.find(key);
    if (found != routes_.end()) return found->second;
    return routes_.emplace(key, make_routes(state, subject)).first->second;
}

// The rule that matches the job of the route on a vnode, with the counter's key; empty: none.
std::optional<QuotaBook::Candidate> QuotaBook::at_vnode(const CycleState& state, const Route& route,
                                                        VnodeSlot vnode) {
    for (const Candidate& candidate : route.rules) {
        Rule& rule = quotas_[route.quota].rules[candidate.rule];
        if (!rule.rule->filter(QuotaSubject::vnodes)) return candidate;
        const std::uint32_t value = vnode_value(state, rule, vnode);
        if (value == 0) continue;
        Candidate with_vnode = candidate;
        if (rule.rule->filter(QuotaSubject::vnodes)->each)
            with_vnode.key[2 + static_cast<std::size_t>(QuotaSubject::vnodes)] = value;
        return with_vnode;
    }
    return std::nullopt;
}

std::uint32_t QuotaBook::counter(const Key& key) {
    const auto [found, made] = numbers_.try_emplace(key, static_cast<std::uint32_t>(counters_.size()));
    if (made) {
        Counter& counter = counters_.emplace_back();
        counter.key = key;
        counter.used.assign(quotas_[key[0]].rules[key[1]].bounds.size(), 0);
    }
    return found->second;
}

// Null: no job is counted there.
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
    Rule& rule = quotas_[key[0]].rules[key[1]];
    Bound& limit = rule.bounds[bound];
    if (!limit.formula) return limit.most;
    const auto [known, is_new] = computed_.try_emplace({key, bound});
    if (!is_new) return known->second;
    // The sums over the counter's vnodes.
    const std::uint32_t value = key[2 + static_cast<std::size_t>(QuotaSubject::vnodes)];
    std::vector<double> sums;
    for (const objects::Formula::Name& name : limit.formula->names()) {
        const std::uint32_t id = state.resources->id(name.name);
        bool is_known = false;
        double sum = 0;
        for (VnodeSlot slot = 0; slot < state.vnodes->size() && id != kNoResource; ++slot) {
            const std::uint32_t there = vnode_value(state, rule, slot);
            if (there == 0 || (value != 0 && there != value)) continue;
            const Vnode& vnode = (*state.vnodes)[slot];
            const auto has = std::ranges::find(vnode.available, id, &KeptAmount::resource);
            if (has == vnode.available.end()) continue;
            is_known = true;
            sum += formula_amount(has->number, state.resources->find(id)->kind);
        }
        if (!is_known) return std::nullopt;
        sums.push_back(sum);
    }
    const auto result = limit.formula->value(sums);
    if (!result) return std::nullopt;
    const std::uint32_t id = limit.what == kJobs ? kNoResource : real_resource(limit.what, *state.resources);
    known->second = amount_of_formula(
        *result, id == kNoResource ? ResourceKind::integer : state.resources->find(id)->kind);
    return known->second;
}

// ---- What jobs use.

// The charges of a job that has its places, by counter.
std::vector<QuotaBook::Charge> QuotaBook::charges(const CycleState& state, const LimitUser& user) {
    std::vector<Charge> charged;
    const auto of_counter = [&](const Key& key) -> Charge& {
        const std::uint32_t number = counter(key);
        const auto known = std::ranges::find(charged, number, &Charge::counter);
        if (known != charged.end()) return *known;
        return charged.emplace_back(
            Charge{number, std::vector<std::int64_t>(counters_[number].used.size(), 0)});
    };
    const Subject subject{user.whose, user.queue, user.request, user.walltime};
    for (const Route& route : routes(state, subject)) {
        const std::vector<Rule>& rules = quotas_[route.quota].rules;
        const auto charge_whole = [&](const Candidate& candidate, bool with_columns) {
            Charge& charge = of_counter(candidate.key);
            const std::vector<Bound>& bounds = rules[candidate.rule].bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i)
                if (bounds[i].consumable && (with_columns || bounds[i].column == 0))
                    charge.amounts[i] += asked_in_all(state, *user.request, user.walltime, bounds[i].what);
        };
        if (!route.by_vnode) {
            charge_whole(route.rules.front(), true);
            continue;
        }
        bool first = true;
        for (const Vnodes::Share& share : user.shares) {
            const std::optional<Candidate> candidate = at_vnode(state, route, share.vnode);
            if (std::exchange(first, false) && candidate) charge_whole(*candidate, false);
            if (!candidate) continue;
            Charge& charge = of_counter(candidate->key);
            const std::vector<Bound>& bounds = rules[candidate->rule].bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i)
                if (bounds[i].consumable && bounds[i].column != 0 && bounds[i].column == share.column)
                    charge.amounts[i] += share.amount;
        }
    }
    return charged;
}

void QuotaBook::count(const CycleState& state, const LimitUser& user, int sign) {
    for (Charge& charge : charges(state, user)) {
        Counter& counted = counters_[charge.counter];
        for (std::size_t i = 0; i < charge.amounts.size(); ++i) counted.used[i] += sign * charge.amounts[i];
        const Quota& quota = *quotas_[counted.key[0]].quota;
        if (!quota.has_windows || quota.spill) continue;
        if (sign > 0) {
            counted.ends.emplace(user.ends, std::move(charge.amounts));
            continue;
        }
        const auto [begin, end] = counted.ends.equal_range(user.ends);
        const auto known =
            std::find_if(begin, end, [&](const auto& one) { return one.second == charge.amounts; });
        if (known != end) counted.ends.erase(known);
    }
}

// The use of a limit at a later instant by the jobs that are counted now and run until then. Jobs that have
// overrun their walltime still count.
std::int64_t QuotaBook::used_at(const Counter* counted, std::size_t bound, const Quota& quota, Instant now,
                                Instant at) const {
    if (counted == nullptr) return 0;
    const Counter& counter = *counted;
    std::int64_t used = counter.used[bound];
    if (at <= now || !quota.has_windows || quota.spill) return used;
    for (auto end = counter.ends.upper_bound(now); end != counter.ends.end() && end->first <= at; ++end)
        used -= end->second[bound];
    return used;
}

// ---- Limits.

QuotaBook::Excess QuotaBook::excess_of(const Key& key, std::size_t number, std::int64_t asked,
                                       std::int64_t used, std::int64_t most, Instant now) {
    const InQuota& in = quotas_[key[0]];
    const Rule& rule = in.rules[key[1]];
    const Bound& bound = rule.bounds[number];
    refused_key_ = key;
    refused_bound_ = number;
    Excess excess{.label = bound.label,
                  .asked = asked,
                  .used = used,
                  .most = most,
                  .for_good = false,
                  .lifted_by = std::nullopt,
                  .until = std::nullopt};
    if (in.quota->has_windows) excess.until = in.quota->windows.next_change(now).value_or(Instant::max());
    excess.for_good = (!bound.consumable || asked > most) && !bound.formula;
    const auto counts_by = [&](QuotaSubject subject) {
        const auto& filter = rule.rule->filter(subject);
        return filter && filter->each;
    };
    excess.lifted_by = counts_by(QuotaSubject::users)      ? EntityKind::user
                       : counts_by(QuotaSubject::groups)   ? EntityKind::group
                       : counts_by(QuotaSubject::projects) ? EntityKind::project
                                                           : EntityKind::all;
    return excess;
}

// The first limit of the rule on amounts of the whole job that the job doesn't meet. Limits on amounts of
// vnodes belong to these only if the rule doesn't name vnodes.
std::optional<QuotaBook::Excess> QuotaBook::excess_at(const CycleState& state, const Route& route,
                                                      const Candidate& candidate, const Subject& subject,
                                                      Instant begins, Instant binds) {
    const InQuota& in = quotas_[route.quota];
    const Rule& rule = in.rules[candidate.rule];
    const Counter* const counted = find(candidate.key);
    for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
        const Bound& bound = rule.bounds[i];
        if (route.by_vnode && bound.consumable && bound.column != 0) continue;
        if (!bound.text.empty()) {
            const auto asked = std::ranges::find(subject.request->amounts, bound.what, &KeptAmount::resource);
            if (asked == subject.request->amounts.end() || asked->text == bound.text) continue;
            return excess_of(candidate.key, i, 0, 0, 0, begins);
        }
        const std::int64_t asked = asked_in_all(state, *subject.request, subject.walltime, bound.what);
        const auto most = limit_of(state, candidate.key, i);
        if (asked == 0 || !most) continue;
        const std::int64_t used = bound.consumable ? used_at(counted, i, *in.quota, begins, binds) : 0;
        if (used + asked > *most) return excess_of(candidate.key, i, asked, used, *most, begins);
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

std::vector<Leaves> QuotaBook::leaves(const CycleState& state, const Subject& subject) {
    std::vector<Leaves> all;
    for (const Route& route : routes(state, subject)) {
        const Candidate& candidate = route.rules.front();
        const InQuota& in = quotas_[route.quota];
        const Rule& rule = in.rules[candidate.rule];
        if (route.by_vnode || !in.quota->binds(state.now, state.now + Seconds(1))) continue;
        for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
            const Bound& bound = rule.bounds[i];
            if (!bound.consumable || bound.what == kJobs) continue;
            const std::int64_t asked = asked_in_all(state, *subject.request, subject.walltime, bound.what);
            const auto most = limit_of(state, candidate.key, i);
            if (asked == 0 || !most) continue;
            const std::int64_t used = used_at(find(candidate.key), i, *in.quota, state.now, state.now);
            all.push_back({fmt::format("quota {}", in.quota->name), bound.what, asked, used, *most});
        }
    }
    return all;
}

std::int64_t QuotaBook::largest_asked(const CycleState& state, std::uint32_t what) {
    if (what == kJobs) return 1;
    const auto [known, is_new] = largest_.try_emplace(what, 0);
    const Requests& requests = state.tables->requests;
    for (std::uint32_t i = 0; is_new && i < requests.size(); ++i)
        known->second = std::max(known->second, asked_in_all(state, requests[i], Seconds(-1), what));
    return known->second;
}

// The counters of all rules that may match a job of the user and the group in the queue.
QuotaBook::Own QuotaBook::own_counters(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                       QueueSlot queue) const {
    Own found;
    const std::string_view user = state.strings->text(owner);
    const std::string_view of_group = state.strings->text(group);
    const std::string& name = (*state.queues)[queue].name;
    for (std::uint32_t q = 0; q < quotas_.size(); ++q)
        for (std::uint32_t r = 0; r < quotas_[q].rules.size(); ++r) {
            const Rule& of = quotas_[q].rules[r];
            const QuotaRule& rule = *of.rule;
            if (!matches_whom(rule, user, of_group, name)) continue;
            Key key{q, r};
            bool own = false;  // the counter is the user's or the group's
            for (const auto& [which, id] : {std::pair(QuotaSubject::users, owner),
                                            {QuotaSubject::groups, group},
                                            {QuotaSubject::queues, queue}}) {
                const auto& filter = rule.filter(which);
                if (!filter || !filter->each) continue;
                key[2 + static_cast<std::size_t>(which)] = id + 1;
                own = own || which != QuotaSubject::queues;
            }
            if (!own || rule.filter(QuotaSubject::projects) || rule.filter(QuotaSubject::shapes) ||
                rule.filter(QuotaSubject::vnodes) ||
                !std::ranges::all_of(of.bounds, [](const Bound& bound) { return bound.consumable; }))
                return {true, {}};
            found.counters.push_back(key);
            break;
        }
    return found;
}

bool QuotaBook::may_refuse(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                           QueueSlot queue) {
    const auto [known, is_new] = own_.try_emplace({owner, group, queue});
    if (is_new) known->second = own_counters(state, owner, group, queue);
    if (known->second.not_only) return true;
    return std::ranges::any_of(known->second.counters, [&](const Key& key) {
        const Counter* const counted = find(key);
        const std::vector<Bound>& bounds = quotas_[key[0]].rules[key[1]].bounds;
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            const std::int64_t used = counted != nullptr ? counted->used[i] : 0;
            if (bounds[i].most - used < largest_asked(state, bounds[i].what)) return true;
        }
        return false;
    });
}

// Adds up the chunks that are new since the last call.
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
                    given_.taken[{candidate->key, bound.column}] += needs[bound.column] * part.count;
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
            std::int64_t used = used_at(counted, i, *in.quota, begins, *binds);
            const auto taken = given.taken.find({candidate->key, bound.column});
            if (taken != given.taken.end()) used += taken->second;
            most = std::min(most, std::max<std::int64_t>(0, *limit - used) / needs[bound.column]);
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
                const std::int64_t used = used_at(find(key), i, *in.quota, begins, *binds);
                if (most && used + amount > *most) return excess_of(key, i, amount, used, *most, begins);
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
            const std::int64_t used = used_at(&counted, i, *in.quota, reservation.start, *binds);
            reservation.spare.push_back({{{UseScope::own, EntityKind::all, charge.counter, 0}, i, &limit},
                                         *most - used - charge.amounts[i]});
        }
    }
}

bool QuotaBook::may_exceed(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                           const LimitKey& key, std::int64_t left) {
    const Key& counter = counters_[key.use.object].key;
    bool own = false;
    for (const auto& [which, id] : {std::pair(QuotaSubject::users, owner), {QuotaSubject::groups, group}}) {
        const std::uint32_t value = counter[2 + static_cast<std::size_t>(which)];
        if (value == 0) continue;
        if (value != id + 1) return false;
        own = true;
    }
    return !own || left < largest_asked(state, quotas_[counter[0]].rules[counter[1]].bounds[key.what].what);
}

std::int64_t QuotaBook::use(const CycleState& state, const LimitUser& user, const LimitKey& key) {
    for (const Charge& charge : charges(state, user))
        if (charge.counter == key.use.object) return charge.amounts[key.what];
    return 0;
}

// ---- Counters for display.

std::vector<std::pair<std::string, std::string>> QuotaBook::values_of(const CycleState& state,
                                                                      const Key& key) const {
    std::vector<std::pair<std::string, std::string>> values;
    for (std::size_t subject = 0; subject < objects::kQuotaSubjects.size(); ++subject) {
        const std::uint32_t value = key[2 + subject];
        if (value == 0) continue;
        const auto which = static_cast<QuotaSubject>(subject);
        values.emplace_back(objects::kQuotaSubjects[subject],
                            which == QuotaSubject::queues ? (*state.queues)[value - 1].name
                            : which == QuotaSubject::shapes
                                ? fmt::format("{}", fmt::join(shape_names(value - 1), "+"))
                                : state.strings->text(value - 1));
    }
    return values;
}

std::string QuotaBook::last_refusal(CycleState& state) {
    constexpr std::size_t kMostNamed = 10;
    std::string text;
    for (const auto& [subject, value] : values_of(state, refused_key_))
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", subject, value);
    if (text.empty()) text = "one for all";
    const Bound& bound = quotas_[refused_key_[0]].rules[refused_key_[1]].bounds[refused_bound_];
    if (!bound.consumable) return {};
    const std::uint32_t id = bound.what == kJobs ? kNoResource : real_resource(bound.what, *state.resources);
    std::size_t jobs = 0;
    std::string named;
    const Tables& tables = *state.tables;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        for (const JobSlot job : tables.queues[q].running) {
            Vnodes::Shares shares;
            for (const Charge& charge : charges(state, limit_user(state, job, shares))) {
                if (counters_[charge.counter].key != refused_key_) continue;
                const std::int64_t amount = charge.amounts[refused_bound_];
                if (amount == 0 || ++jobs > kMostNamed) continue;
                named += fmt::format(
                    "{}{} ({})", named.empty() ? "" : ", ", tables.jobs.id[job],
                    id == kNoResource ? fmt::format("{}", amount) : state.resources->format(id, amount));
            }
        }
    const bool own = refused_key_[2 + static_cast<std::size_t>(QuotaSubject::users)] != 0;
    if (!own || jobs == 0) return fmt::format("counter {}, used by {} running jobs", text, jobs);
    const std::string more = jobs > kMostNamed ? fmt::format(" and {} more", jobs - kMostNamed) : "";
    return fmt::format("counter {}, used by {}{}", text, named, more);
}

std::vector<QuotaUse> QuotaBook::shown(const CycleState& state) {
    std::vector<QuotaUse> out;
    for (const auto& [key, number] : numbers_) {
        const InQuota& in = quotas_[key[0]];
        const Rule& rule = in.rules[key[1]];
        QuotaUse counter{.quota = in.quota->name,
                         .rule = rule.rule->name,
                         .of = {},
                         .resource = {},
                         .used = {},
                         .limit = {},
                         .enabled = in.quota->enabled,
                         .in_force = false};
        counter.in_force = in.quota->enabled && in.quota->binds(state.now, state.now).has_value();
        counter.of = values_of(state, key);
        for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
            const Bound& bound = rule.bounds[i];
            if (!bound.consumable || counters_[number].used[i] == 0) continue;
            const std::uint32_t id =
                bound.what == kJobs ? kNoResource : real_resource(bound.what, *state.resources);
            const auto text = [&](std::int64_t amount) {
                return id == kNoResource ? fmt::format("{}", amount) : state.resources->format(id, amount);
            };
            QuotaUse& use = out.emplace_back(counter);
            use.resource = id == kNoResource ? "jobs" : std::string(state.resources->name(id));
            use.used = text(counters_[number].used[i]);
            const auto limit = limit_of(state, key, i);
            use.limit = limit ? text(*limit) : "-";
            use.used_number = counters_[number].used[i];
            use.limit_number = limit.value_or(-1);
        }
    }
    return out;
}

}  // namespace pbs::sched
