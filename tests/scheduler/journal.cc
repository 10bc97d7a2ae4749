#include "tests/scheduler/journal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <type_traits>

namespace pbs::sched::test {
namespace {

std::string literal(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return out + "\"";
}
std::string literal(bool value) {
    return value ? "true" : "false";
}
std::string literal(Seconds value) {
    return fmt::format("Seconds({})", value.count());
}
std::string literal(Instant value) {
    return text_of(value);
}
std::string literal(const LimitOptions& limit) {
    return fmt::format("{{.entity = EntityKind({}), .name = {}, .resource = {}u, .most = {}, .soft = {}}}",
                       static_cast<int>(limit.entity), literal(limit.name), limit.resource, limit.most,
                       limit.soft);
}
std::string literal(const QueueSpec& spec) {
    return fmt::format("{{{}, {}}}", literal(spec.queue), literal(spec.host));
}
std::string literal(const SortKey& key) {
    return fmt::format("{{{}, {}, SortAmount({})}}", literal(key.name), key.high_first,
                       static_cast<int>(key.amount));
}
std::string literal(const KeysOfPlace& place) {
    std::vector<std::string> keys;
    for (const SortKey& key : place.keys) keys.push_back(literal(key));
    return fmt::format("{{{}, {{{}}}}}",
                       place.arrangement
                           ? fmt::format("Arrangement({})", static_cast<int>(*place.arrangement))
                           : "std::nullopt",
                       fmt::join(keys, ", "));
}
std::string literal(ChunkOrder order) {
    return fmt::format("ChunkOrder({})", static_cast<int>(order));
}
std::string literal(const PreemptOrder::Step& step) {
    return fmt::format("{{{}, {}}}", step.percent, literal(step.methods));
}
std::string literal(const Since& since) {
    return since.from ? fmt::format("{{.from = {}}}", text_of(*since.from))
                      : fmt::format("{{{}}}", since.value);
}

template <class Value>
std::string any_literal(const Value& value);

template <class Element>
std::string list_literal(const std::vector<Element>& list) {
    std::vector<std::string> texts;
    for (const Element& element : list) {
        texts.push_back(any_literal(element));
        if (texts.back().empty()) return {};
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

template <class Value>
constexpr bool kIsList = false;
template <class Element>
constexpr bool kIsList<std::vector<Element>> = true;

// Returns a value as a C++ literal; "" if its type has none.
template <class Value>
std::string any_literal(const Value& value) {
    if constexpr (std::is_same_v<Value, char>)
        return fmt::format("'{}'", value);
    else if constexpr (std::is_same_v<Value, ExecutionType>)
        return fmt::format("ExecutionType({})", static_cast<int>(value));
    else if constexpr (std::is_same_v<Value, Sharing>)
        return fmt::format("Sharing({})", static_cast<int>(value));
    else if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
        return fmt::format("{}", value);
    else if constexpr (kIsList<Value>)
        return list_literal(value);
    else if constexpr (std::is_same_v<Value, PreemptOrder>)
        return "{" + list_literal(value.steps) + "}";
    else if constexpr (requires { literal(value); })
        return literal(value);
    else
        return {};
}

// Adds the member `name` to the initialisers in `text`, unless its value equals the default `usual`.
template <class Value>
void add(std::string& text, const char* name, const Value& value, const Value& usual) {
    const std::string shown = any_literal(value);
    if (shown == any_literal(usual)) return;
    text += fmt::format("{}.{} = {}", text.empty() ? "" : ", ", name, shown);
}

template <class Value>
void assign(std::string& text, const char* name, const Value& value, const Value& usual) {
    const std::string shown = any_literal(value);
    if constexpr (kIsList<Value>) {
        if (value.size() == usual.size() && shown == any_literal(usual)) return;
    } else if (!shown.empty() && shown == any_literal(usual)) {
        return;
    } else if constexpr (requires { value == usual; }) {
        if (value == usual) return;
    }
    text += shown.empty() ? fmt::format("// s.{} has a value without text\n", name)
                          : fmt::format("s.{} = {};\n", name, shown);
}

// Returns the text that a map has for a job; "nothing" if it has none.
std::string part_of(const std::map<int, std::string>& map, int job) {
    const auto found = map.find(job);
    return found == map.end() ? "nothing" : found->second;
}
std::string part_of(const std::map<int, std::vector<std::string>>& map, int job) {
    const auto found = map.find(job);
    return found == map.end() ? "nothing" : fmt::format("{}", fmt::join(found->second, "+"));
}
std::string part_of(const std::map<int, std::pair<int, std::string>>& map, int job) {
    const auto found = map.find(job);
    return found == map.end() ? "nothing"
                              : fmt::format("job {} by {}", found->second.first, found->second.second);
}

}  // namespace

std::string text_of(Instant instant) {
    const std::int64_t second = (instant - at(0)).count();
    return fmt::format("at({}, {}, {})", second / kHour, second % kHour / kMinute, second % kMinute);
}

#define MEMBER(name) add(text, #name, o.name, usual.name)
std::string text_of(const QueueOptions& o) {
    const QueueOptions usual{};
    std::string text;
    MEMBER(name);
    MEMBER(execution);
    MEMBER(started);
    MEMBER(priority);
    MEMBER(max_running);
    MEMBER(max_user_run);
    MEMBER(max_group_run);
    MEMBER(nodes);
    MEMBER(max_ncpus);
    MEMBER(max_mem);
    MEMBER(max_walltime);
    MEMBER(min_ncpus);
    MEMBER(available_ncpus);
    MEMBER(available_gpus);
    MEMBER(acl_users);
    MEMBER(partition);
    MEMBER(backfill_depth);
    MEMBER(execution_type);
    MEMBER(limits);
    MEMBER(node_group_key);
    return "{" + text + "}";
}

std::string text_of(const VnodeOptions& o) {
    const VnodeOptions usual{};
    std::string text;
    MEMBER(name);
    MEMBER(ncpus);
    MEMBER(mem);
    MEMBER(host);
    MEMBER(free);
    MEMBER(priority);
    MEMBER(queue);
    MEMBER(load);
    MEMBER(systime);
    MEMBER(load_at);
    MEMBER(max_load);
    MEMBER(sharing);
    MEMBER(busy);
    MEMBER(gpus);
    MEMBER(arch);
    MEMBER(bigmem);
    MEMBER(partition);
    MEMBER(host_resource);
    return "{" + text + "}";
}

std::string text_of(const JobOptions& o) {
    const JobOptions usual{};
    std::string text;
    MEMBER(queue);
    MEMBER(owner);
    MEMBER(group);
    MEMBER(project);
    MEMBER(nodes);
    MEMBER(ncpus);
    MEMBER(mem);
    MEMBER(walltime);
    MEMBER(soft_walltime);
    MEMBER(extended);
    MEMBER(select);
    MEMBER(place);
    MEMBER(run_host);
    MEMBER(interactive);
    MEMBER(subjob);
    MEMBER(array);
    MEMBER(has_comment);
    MEMBER(rerunnable);
    MEMBER(checkpointable);
    MEMBER(not_preemptable);
    MEMBER(elsewhere);
    MEMBER(topjob_ineligible);
    MEMBER(priority);
    MEMBER(queued);
    MEMBER(eligible);
    MEMBER(modified);
    MEMBER(gpus);
    MEMBER(hpm);
    MEMBER(ssinodes);
    MEMBER(state);
    MEMBER(origin_queue);
    MEMBER(account);
    MEMBER(used_mem);
    MEMBER(deadline);
    MEMBER(start_within);
    MEMBER(select_range);
    MEMBER(chunk_order);
    MEMBER(per_host);
    MEMBER(prefer);
    return "{" + text + "}";
}
#undef MEMBER

std::string text_of(const Settings& settings) {
    const Settings usual{};
    std::string text;
#define SETTING(row, ...) assign(text, #row, settings.row, usual.row);
#include "objects/policy_attributes.def"
    if (!settings.quotas.empty()) text += "// s.quotas has quotas\n";
    return text;
}

std::string first_difference(const Outcome& a, std::string_view name_a, const Outcome& b,
                             std::string_view name_b, unsigned parts) {
    std::string first;
    const auto differ = [&](const char* part, const auto& in_a, const auto& in_b) {
        std::set<int> jobs;
        for (const auto* map : {&in_a, &in_b})
            for (const auto& [job, value] : *map) jobs.insert(job);
        for (const int job : jobs) {
            const std::string of_a = part_of(in_a, job);
            const std::string of_b = part_of(in_b, job);
            if (!first.empty() || of_a == of_b) continue;
            first = fmt::format("the {} of job {}: {} {}, {} {}", part, job, of_a, name_a, of_b, name_b);
        }
    };
    if ((parts & part::starts) != 0 && a.started != b.started) {
        const auto [one, other] = std::ranges::mismatch(a.started, b.started);
        const auto job = [](const auto& at, const auto& end) {
            return at == end ? std::string("no job") : fmt::format("job {}", *at);
        };
        first = fmt::format("{} start{} before: {} starts next {}, {} {}", one - a.started.begin(),
                            one - a.started.begin() == 1 ? "" : "s", job(one, a.started.end()), name_a,
                            job(other, b.started.end()), name_b);
    }
    if ((parts & part::queues) != 0) differ("queue", a.queue, b.queue);
    if ((parts & part::vnodes) != 0) differ("vnodes", a.vnodes, b.vnodes);
    if ((parts & part::chunks) != 0) differ("chunks", a.exec_vnode, b.exec_vnode);
    if ((parts & part::rejections) != 0) differ("rejection", a.rejected, b.rejected);
    if ((parts & part::preemptions) != 0) differ("preemption", a.preempted, b.preempted);
    if (first.empty() && (parts & part::schedule) != 0 && a.schedule != b.schedule)
        first = fmt::format("the schedule log {}:\n{}and {}:\n{}", name_a, a.schedule, name_b, b.schedule);
    return first;
}

}  // namespace pbs::sched::test
