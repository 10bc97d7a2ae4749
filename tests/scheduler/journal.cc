#include "tests/scheduler/journal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "tests/scheduler/quotas.h"

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
std::string literal(const EntityLimitRecord& limit) {
    return fmt::format("{{EntityKind({}), {}, {}u, {}, {}}}", static_cast<int>(limit.entity),
                       literal(std::string(limit.name)), limit.resource, limit.most, limit.soft);
}
std::string literal(const Amount& amount) {
    return fmt::format("{{{}u, {}, {}}}", amount.resource, amount.number, literal(std::string(amount.text)));
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
std::string literal(const HeldAmount& amount) {
    return fmt::format("{{{}u, {}}}", amount.resource, amount.number);
}
std::string literal(const FsGroup::Element& element) {
    return fmt::format("{{{}, {}, {}}}", literal(element.name), literal(element.parent), element.shares);
}
std::string literal(ShareEntity entity) {
    return fmt::format("ShareEntity({})", static_cast<int>(entity));
}
std::string literal(const std::pair<Instant, Instant>& times) {
    return fmt::format("{{{}, {}}}", text_of(times.first), text_of(times.second));
}
std::string literal(const std::pair<std::string, std::string>& texts) {
    return fmt::format("{{{}, {}}}", literal(texts.first), literal(texts.second));
}
std::string literal(const std::set<std::size_t>& numbers) {
    return fmt::format("{{{}}}", fmt::join(numbers, ", "));
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
    MEMBER(more);
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
    MEMBER(together);
    MEMBER(select_range);
    MEMBER(chunk_order);
    MEMBER(per_host);
    MEMBER(prefer);
    return "{" + text + "}";
}

std::string text_of(const ReservationOptions& o) {
    const ReservationOptions usual{};
    std::string text;
    MEMBER(start);
    MEMBER(end);
    MEMBER(select);
    MEMBER(place);
    MEMBER(later);
    MEMBER(later_select);
    MEMBER(only);
    MEMBER(soonest);
    MEMBER(select_range);
    MEMBER(chunk_order);
    MEMBER(per_host);
    MEMBER(prefer);
    return "{" + text + "}";
}

std::string text_of(const FsGroup& o) {
    const FsGroup usual{};
    std::string text;
    MEMBER(name);
    MEMBER(elements);
    MEMBER(unknown_shares);
    MEMBER(usage_formula);
    MEMBER(entity);
    MEMBER(decay_time);
    MEMBER(decay_factor);
    MEMBER(half_life);
    MEMBER(compensation_factor);
    MEMBER(enforce_no_shares);
    return "{" + text + "}";
}

std::string text_of(const QuotaOptions& o, const WindowNames& names) {
    const QuotaOptions usual{};
    std::string text;
    MEMBER(name);
    MEMBER(rules);
    MEMBER(rule_order);
    if (!o.windows.empty())
        text += fmt::format("{}.windows = {}", text.empty() ? "" : ", ", names.of(o.windows));
    MEMBER(spill);
    MEMBER(exempt_reservations);
    return "{" + text + "}";
}
#undef MEMBER

std::string window_arguments(const std::string& rule, int from_hour, int to_hour, bool on_holidays,
                             const std::vector<std::string>& holidays) {
    std::string text = fmt::format("{}, {}, {}", literal(rule), from_hour, to_hour);
    if (!on_holidays || !holidays.empty()) text += fmt::format(", {}", on_holidays);
    if (!holidays.empty()) text += ", " + list_literal(holidays);
    return text;
}

std::string WindowNames::of(const rrule::WindowSet& set) const {
    // Copies of a set share its windows.
    const auto known = std::ranges::find_if(
        sets_, [&](const rrule::WindowSet& one) { return &one.windows() == &set.windows(); });
    if (known == sets_.end()) return "rrule::WindowSet{} /* windows that World::window() hasn't made */";
    return fmt::format("w{}", known - sets_.begin());
}

std::string text_of(const Configuration& configuration, const WindowNames& names) {
    std::string text;
    const auto set = [&](std::string_view member, const rrule::WindowSet& windows) {
        if (!windows.empty())
            text += fmt::format("world.configuration.{} = {};\n", member, names.of(windows));
    };
    set("prime", configuration.prime);
    set("dedicated", configuration.dedicated);
    for (const auto& [name, slots] : configuration.scheds) {
        if (name == "default" && slots.all_time == "p1" && slots.prime.empty() && slots.non_prime.empty())
            continue;  // as in each World
        text += fmt::format("world.configuration.scheds[{}] = {{{}, {}, {}}};\n", literal(name),
                            literal(slots.all_time), literal(slots.prime), literal(slots.non_prime));
    }
    for (const auto& [name, group] : configuration.fs_groups)
        text += fmt::format("world.configuration.fs_groups[{}] = {};\n", literal(name), text_of(group));
    for (const auto& [name, settings] : configuration.policies)
        text += fmt::format("{{\nSettings& s = world.policy({});\n{}}}\n", literal(name),
                            text_of(settings, names));
    return text + "world.configure();";
}

std::string text_of(const ServerRecord& record) {
    const std::string limits =
        list_literal(std::vector<EntityLimitRecord>(record.limits.begin(), record.limits.end()));
    const std::string available = list_literal(
        std::vector<Amount>(record.resources_available.begin(), record.resources_available.end()));
    std::string text;
    const auto add_member = [&](std::string_view name, std::string_view value) {
        text += fmt::format("{}.{} = {}", text.empty() ? "" : ", ", name, value);
    };
    add_member("max_running", std::to_string(record.max_running));
    add_member("max_user_run", std::to_string(record.max_user_run));
    add_member("max_group_run", std::to_string(record.max_group_run));
    if (!record.resources_available.empty()) add_member("resources_available", "available");
    if (!record.limits.empty()) add_member("limits", "limits");
    text = fmt::format("world.server({{{}}});", text);
    if (!record.limits.empty())
        text = fmt::format("const std::vector<EntityLimitRecord> limits{};\n{}", limits, text);
    if (!record.resources_available.empty())
        text = fmt::format("const std::vector<Amount> available{};\n{}", available, text);
    return text.starts_with("const") ? fmt::format("{{\n{}\n}}", text) : text;
}

namespace {
// Returns the number of failures of the test that runs; 0: none runs.
int failures() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return 0;
    int count = 0;
    for (int i = 0; i < test->result()->total_part_count(); ++i)
        count += test->result()->GetTestPartResult(i).failed() ? 1 : 0;
    return count;
}
}  // namespace

Journal::Journal(Prints prints) : prints_(prints), before_(failures()) {}

Journal::~Journal() {
    if (prints_ == Prints::on_failure && failures() > before_)
        ADD_FAILURE() << "The site, to paste:\nWorld world;\n" << text();
}

std::string text_of(const Settings& settings, const WindowNames& names) {
    const Settings usual{};
    std::string text;
#define SETTING(row, ...) assign(text, #row, settings.row, usual.row);
#include "objects/policy_attributes.def"
    for (const auto& one : settings.quotas) {
        const QuotaOptions* options = options_of(*one);
        text += options != nullptr
                    ? fmt::format("s.quotas.push_back(quota({}));\n", text_of(*options, names))
                    : fmt::format("// s.quotas has {}, which quota() hasn't made\n", one->name);
    }
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
