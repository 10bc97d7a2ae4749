// Finds the rules of the quotas that count a job, and their counters.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/quota_book.h"
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

// Returns the names of these shapes: "array", "single" and so on.
std::vector<std::string> shape_names(std::uint32_t shapes) {
    std::vector<std::string> names;
    for (const auto& [bit, name] : kShapeNames)
        if ((shapes & bit) != 0) names.emplace_back(name);
    if ((shapes & kMulti) == 0) names.emplace_back("single");
    return names;
}

// Returns whether the rule's filters on users, groups and queues match a job. Ignores its other filters.
bool matches_whom(const QuotaRule& rule, const std::string& owner, const std::string& group,
                  const std::string& queue) {
    const auto is_user = [&](const std::string& pattern) {
        return pattern.starts_with('@') ? objects::matches_pattern(pattern.substr(1), group)
                                        : objects::matches_pattern(pattern, owner);
    };
    const auto& users = rule.filter(QuotaSubject::users);
    const auto& groups = rule.filter(QuotaSubject::groups);
    const auto& queues = rule.filter(QuotaSubject::queues);
    return (!users || users->has(is_user)) && (!groups || has(*groups, group)) &&
           (!queues || has(*queues, queue));
}

}  // namespace

const QuotaVnodes::Answers& QuotaBook::vnodes_of(const CycleState& state, Rule& rule) {
    if (!rule.vnodes)
        rule.vnodes = state.tables->quota_vnodes.values(state, *rule.rule->filter(QuotaSubject::vnodes));
    return *rule.vnodes;
}

std::vector<QuotaBook::Route> QuotaBook::make_routes(const CycleState& state, const Subject& subject) const {
    std::vector<Route> made;
    const bool reserved = state.tables->reservation_of(subject.queue) != nullptr;
    const std::string owner(state.strings->text(subject.whose.owner));
    const std::string group(state.strings->text(subject.whose.group));
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
            Candidate candidate{r, {q, r}, kNoCounter};
            for (const auto& [which, id] : {std::pair(QuotaSubject::users, subject.whose.owner),
                                            {QuotaSubject::groups, subject.whose.group},
                                            {QuotaSubject::projects, subject.whose.project},
                                            {QuotaSubject::queues, subject.queue},
                                            {QuotaSubject::shapes, shapes}})
                if (in.rules[r].counts_by(which)) candidate.key[place_of(which)] = id + 1;
            const bool by_vnode = rule.filter(QuotaSubject::vnodes).has_value();
            route.rules.push_back(candidate);
            route.by_vnode = route.by_vnode || by_vnode;
            if (!by_vnode) break;
        }
        if (!route.rules.empty()) made.push_back(std::move(route));
    }
    return made;
}

std::vector<QuotaBook::Route>& QuotaBook::routes(const CycleState& state, const Subject& subject) {
    const RouteKey key{subject.whose.owner, subject.whose.group, subject.whose.project, subject.queue,
                       shapes_of(subject)};
    const auto found = routes_.find(key);
    if (found != routes_.end()) return found->second;
    return routes_.emplace(key, make_routes(state, subject)).first->second;
}

// Returns the rule that matches the job of the route on a vnode, with the key of the counter; nullopt: none
// does.
std::optional<QuotaBook::Candidate> QuotaBook::at_vnode(const CycleState& state, const Route& route,
                                                        VnodeSlot vnode) {
    for (const Candidate& candidate : route.rules) {
        Rule& rule = quotas_[route.quota].rules[candidate.rule];
        if (!rule.rule->filter(QuotaSubject::vnodes)) return candidate;
        const std::vector<std::uint32_t>& values = vnodes_of(state, rule).values;
        const std::uint32_t value = vnode < values.size() ? values[vnode] : 0;
        if (value == 0) continue;
        Candidate with_vnode = candidate;
        if (rule.counts_by(QuotaSubject::vnodes)) with_vnode.key[place_of(QuotaSubject::vnodes)] = value;
        return with_vnode;
    }
    return std::nullopt;
}

// The counters of all rules that may match a job of the user and the group in the queue.
QuotaBook::Own QuotaBook::own_counters(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                       QueueSlot queue) {
    Own found;
    const std::string user(state.strings->text(owner));
    const std::string of_group(state.strings->text(group));
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
                if (!of.counts_by(which)) continue;
                key[place_of(which)] = id + 1;
                own = own || which != QuotaSubject::queues;
            }
            const bool by_vnode = rule.filter(QuotaSubject::vnodes).has_value();
            const auto counts_more = [&](const Bound& bound) {  // than the job asks for, on a vnode
                return by_vnode && bound.what == state.resources->known().ssinodes;
            };
            if (!own || rule.filter(QuotaSubject::projects) || rule.filter(QuotaSubject::shapes) ||
                !std::ranges::all_of(of.bounds, &Bound::consumable) ||
                std::ranges::any_of(of.bounds, counts_more))
                return {.not_only = true, .by_group = false, .groups = {}};
            found.groups.push_back(group_of(key));
            found.by_group = found.by_group || key[place_of(QuotaSubject::users)] == 0;
            if (!by_vnode) break;
        }
    return found;
}

const QuotaBook::Own& QuotaBook::own(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                     QueueSlot queue) {
    if (last_own_ == nullptr || last_of_ != std::pair(owner, group)) {
        last_of_ = {owner, group};
        last_own_ = &own_[last_of_];
    }
    if (queue >= last_own_->size()) last_own_->resize(queue + 1);
    std::optional<Own>& own = (*last_own_)[queue];
    if (!own) own = own_counters(state, owner, group, queue);
    return *own;
}

std::vector<std::pair<std::string, std::string>> QuotaBook::values_of(const CycleState& state,
                                                                      const Key& key) const {
    std::vector<std::pair<std::string, std::string>> values;
    for (std::size_t subject = 0; subject < objects::kQuotaSubjects.size(); ++subject) {
        const auto which = static_cast<QuotaSubject>(subject);
        const std::uint32_t value = key[place_of(which)];
        if (value == 0) continue;
        values.emplace_back(
            objects::kQuotaSubjects[subject],
            which == QuotaSubject::queues ? (*state.queues)[value - 1].name
            // A rule selects the jobs without a project by this word.
            : which == QuotaSubject::projects &&
                    (state.strings->text(value - 1).empty() || state.strings->text(value - 1) == kNoProject)
                ? "!*"
            : which == QuotaSubject::shapes ? fmt::format("{}", fmt::join(shape_names(value - 1), "+"))
                                            : state.strings->text(value - 1));
    }
    return values;
}

}  // namespace pbs::sched
