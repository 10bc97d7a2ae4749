#include "migrate/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "migrate/changes.h"
#include "migrate/earlier_files.h"
#include "migrate/grid_engine/convert.h"
#include "migrate/infer_holiday.h"
#include "migrate/object_names.h"
#include "migrate/words.h"
#include "objects/formula.h"
#include "objects/output_file.h"
#include "objects/snapshot.h"
#include "rrule/non_work_days.h"
#include "rrule/plain_text.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using objects::Command;
using objects::CommandKind;
using objects::ObjectType;
using objects::Operation;

constexpr const char* kPrimePolicy = "default_policy_prime";
constexpr const char* kNonPrimePolicy = "default_policy_non_prime";
constexpr const char* kPrimeTime = "prime_time";
constexpr const char* kDedicatedTime = "dedicated_time";
constexpr const char* kDepth = "backfill_depth";
constexpr const char* kFormula = "job_sort_formula";
constexpr const char* kWorkDays = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";

// Names the objects of one kind, in order: name, name_2, name_3. `index` counts from 0.
std::string numbered(const char* name, std::size_t index) {
    return index == 0 ? name : fmt::format("{}_{}", name, index + 1);
}

// Returns whether the values of a sched_config file turn backfill off (backfill: False).
bool has_no_backfill(const std::vector<SchedValue>& values) {
    return std::ranges::any_of(
        values, [](const SchedValue& value) { return value.attribute == kDepth && value.value == "0"; });
}

std::string clock(int minute) {
    return fmt::format("{:02}:{:02}:00", minute / 60, minute % 60);
}

class Converter {
  public:
    explicit Converter(Changes& to) : to_(to) {}

    void mistakes(const Problems& mistakes) {
        for (const Problem& mistake : mistakes) to_.note(note_of(mistake));
    }

    void config(const ConfigFile& file) {
        to_.begin(Part::options);
        file_ = &file;
        to_.set(ObjectType::policy, kPolicy, "algorithm", "origin", file.file);
        for (const Setting& setting : file.settings)
            to_.set(ObjectType::policy, kPolicy, setting.option->attribute(), value_of(setting),
                    source(setting));
        prime_time(file);
        to_.note_all(file.notes);
        to_.tell_unless_in_force();
    }

    void sched_config(const SchedConfig& file, const SchedPolicies& policies, bool prime_is_known) {
        to_.begin(Part::options);
        if (!policies.fs_group.empty()) {
            to_.create(ObjectType::fs_group, kGroup);
            to_.set_all(ObjectType::fs_group, kGroup, policies.fs_group, file.file);
        }
        to_.set_all(ObjectType::policy, kPolicy, policies.all_time, file.file);
        if (policies.by_time()) {
            to_.create(ObjectType::policy, kPrimePolicy);
            to_.set_all(ObjectType::policy, kPrimePolicy, policies.prime, file.file);
            to_.create(ObjectType::policy, kNonPrimePolicy);
            to_.set_all(ObjectType::policy, kNonPrimePolicy, policies.non_prime, file.file);
            to_.set(ObjectType::sched, kSched, "policy",
                    fmt::format("{},p:{},np:{}", kPolicy, kPrimePolicy, kNonPrimePolicy), file.file);
            const bool window =
                to_.current() != nullptr && !to_.current()->time_windows_of_type("prime").empty();
            if (!prime_is_known && !window)
                to_.note(fmt::format(
                    "{}: prime and non-prime time have different values, but there is no time_window of type "
                    "prime: until there is one, {} is in force at all times, with the values of prime time",
                    file.file, kPolicy));
        } else {
            to_.tell_unless_in_force();
        }
        for (const std::string& resource : policies.checked)
            to_.record(ObjectType::resource, resource, kChecked, "True");
        to_.note_all(file.notes);
        to_.note_all(policies.notes);
    }

    // Converts the print of qmgr. Its settings for policies go into the policies that `options` make or, if
    // `options` is null, into those that an earlier migration of sched_config has made, or else into
    // default_policy.
    void print(const QmgrPrint& file, const SchedPolicies* options) {
        to_.begin(Part::server);
        to_.note_all(file.notes);
        to_.result().host.file = file.file;
        to_.result().host.commands.insert(to_.result().host.commands.end(), file.commands.begin(),
                                          file.commands.end());
        for (const PrintedQueue& queue : file.queues)
            if (queue.route) route_queues_.insert(queue.name);
        for (const PrintedCommand& printed : file.commands)
            if (printed.command.kind == CommandKind::create)
                to_.record(printed.command.type, printed.command.object, "", "");
        policy_print(file, kPolicy, options == nullptr ? nullptr : &options->all_time);
        if (!by_time(options)) return;
        policy_print(file, kPrimePolicy, options == nullptr ? nullptr : &options->prime);
        policy_print(file, kNonPrimePolicy, options == nullptr ? nullptr : &options->non_prime);
    }

    // Converts the formula that PBS kept in sched_priv/sched_formula.
    void sched_formula(const SchedFormula& file, const SchedPolicies* options) {
        to_.begin(Part::formula);
        if (file.formula.empty()) return;
        const std::string from = fmt::format("{}:{}", file.file, file.line);
        formula(file.formula, from, kPolicy);
        if (!by_time(options)) return;
        formula(file.formula, from, kPrimePolicy);
        formula(file.formula, from, kNonPrimePolicy);
    }

    // Makes a time_window of prime time that is always open: for pbs_sched it was always prime time if no
    // holidays file had a year.
    void always_prime(const std::string& file) {
        if (to_.current() != nullptr)
            for (const objects::Object* window : to_.current()->time_windows_of_type("prime"))
                if (!to_.before().has(ObjectType::time_window, window->name(), "")) return;
        to_.begin(Part::options);
        prime_window(kPrimeTime, {"FREQ=DAILY", PrimeHours{}, 0}, file, true);
    }

    void queue_types(const std::vector<FoundQueueType>& found, Part part) {
        to_.begin(part);
        for (const FoundQueueType& queue : found) {
            const bool known = to_.before().has(ObjectType::queue, queue.queue, "execution_type", queue.type);
            to_.result().report.lines.push_back(
                {queue.source, fmt::format("queue {} execution_type", queue.queue), queue.type, !known});
            to_.record(ObjectType::queue, queue.queue, "execution_type", queue.type);
            if (!known)
                to_.result().queue_types.push_back(
                    {queue.queue, to_.recorded(ObjectType::queue, queue.queue, "execution_type"),
                     queue.type});
        }
    }

    void resource_group(const ResourceGroup& file, bool in_policies) {
        to_.begin(Part::resource_group);
        to_.note_all(file.notes);
        if (file.groups.empty()) return;
        to_.create(ObjectType::fs_group, kGroup);
        std::string elements;
        for (const ShareGroup& group : file.groups)
            elements += (elements.empty() ? "" : ",") + group.element();
        to_.set(ObjectType::fs_group, kGroup, "tree_element", elements,
                fmt::format("{}:{}", file.file, file.groups.front().line));
        if (!in_policies)
            to_.note(fmt::format(
                "{}: the tree is in use once a policy names it: set policy {} fairshare_group = {}",
                file.file, kPolicy, kGroup));
    }

    void holidays(const HolidaysFile& file, const ConvertOptions& options) {
        to_.begin(Part::holidays);
        to_.result().holidays = true;
        for (const Holiday& day : file.days)
            holiday({file.file, day.line, day.description, day.day_of_year, file.year, day.rule()}, options);
    }

    void pbs_holidays(const PbsHolidays& file, const ConvertOptions& options) {
        to_.begin(Part::holidays);
        to_.result().holidays = true;
        to_.note_all(file.notes);
        if (!file.in_use()) {
            to_.note(
                fmt::format("{}: without YEAR the file has no effect: it is always prime time", file.file));
            return;
        }
        const auto windows = prime_windows(file);
        if (windows.empty()) to_.record(ObjectType::server, "", kNeverPrime, "True");
        for (std::size_t i = 0; i < windows.size(); ++i)
            prime_window(numbered(kPrimeTime, i), windows[i], file.file);
        for (const PbsHoliday& day : file.days)
            holiday({file.file, day.line, day.description, day.day_of_year, file.year, day.rule()}, options);
        if (!file.days.empty() && !options.infer)
            to_.note(
                fmt::format("{}: the holidays of {} apply in every year by their day number, as with PBS: "
                            "those after February fall on another date in leap years than in other years; "
                            "MM/DD in non_work_days keeps the date",
                            file.file, file.year));
    }

    // Converts the fair-share usage of entities. A group's usage isn't converted: the fs_group adds it up
    // from the usage of the group's entities.
    void usage(const FairshareUsage& file) {
        if (file.entities.empty() && !file.mistakes.empty()) return;
        const bool there = to_.current() != nullptr && to_.current()->fs_group(kGroup) != nullptr;
        if (!there && !to_.result().ledger.has(ObjectType::fs_group, kGroup, "")) {
            to_.note(fmt::format("{}: the usage is left out: there is no fs_group {}", file.file, kGroup));
            return;
        }
        objects::UsageBatch batch;
        for (const EntityUsage& entity : file.entities)
            if (!entity.group && entity.amount != 0)
                batch.usage.push_back({entity.entity, "", entity.amount});
        batch.last_decay = file.last_decay;
        usage_of(fmt::format("fs_group:{}", kGroup), file.file, std::move(batch));
    }

    void decay_usage(const DecayUsage& file) {
        if (file.users.empty() && !file.mistakes.empty()) return;
        objects::UsageBatch batch;
        for (const UserUsage& user : file.users)
            if (user.amount != 0) batch.usage.push_back({user.user, user.group, user.amount});
        to_.note_all(file.notes);
        usage_of("past_usage", file.file, std::move(batch));
    }

    // Adds notes about the allocation files. They aren't converted: the accounting package keeps writing
    // them.
    void allocations(const Allocations* allocations, const CurrentUsage* current) {
        const auto used = current == nullptr ? std::map<std::string, double>{} : current->groups();
        if (current != nullptr)
            to_.note(fmt::format("{}: {} of {}; checked and not converted: it stays a file", current->file,
                                 values::counted(current->uses.size(), "record"),
                                 values::counted(used.size(), "group")));
        if (allocations == nullptr) return;
        to_.note_all(allocations->notes);
        const auto unlimited = std::ranges::count_if(allocations->groups, &Allocation::unlimited);
        to_.note(fmt::format(
            "{}: {}, {} of them without a limit; checked and not converted: it stays a file, "
            "in the folder that sched_acct_dir of {} names",
            allocations->file, values::counted(allocations->groups.size(), "group"), unlimited, kPolicy));
        for (const Allocation& group : allocations->groups) {
            const auto found = used.find(group.group);
            if (group.unlimited() || found == used.end() || found->second <= group.node_hours) continue;
            to_.note(fmt::format("{}:{}: {} has used {:.3f} of {:.3f} node-hours", allocations->file,
                                 group.line, printable(group.group), found->second, group.node_hours));
        }
    }

    void dedicated_time(const DedicatedTime& file, const std::optional<std::chrono::sys_seconds>& now) {
        to_.begin(Part::dedicated_time);
        std::vector<DedicatedPeriod> ahead;
        for (const DedicatedPeriod& period : file.periods) {
            // Compare with a day to spare: the period is in local time, and no zone is further than a day
            // from UTC.
            if (!now || period.to.time_since_epoch() + std::chrono::days{1} >= now->time_since_epoch()) {
                ahead.push_back(period);
            } else {
                to_.note(
                    fmt::format("{}:{}: the dedicated time is over and left out", file.file, period.line));
            }
        }
        const auto windows = dedicated_windows(ahead);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const std::string name = numbered(kDedicatedTime, i);
            const std::string from = fmt::format("{}:{}", file.file, windows[i].line);
            to_.create(ObjectType::time_window, name);
            to_.set(ObjectType::time_window, name, "rrule", windows[i].rrule, from);
            to_.set(ObjectType::time_window, name, "start_time", clock(windows[i].start), from);
            to_.set(ObjectType::time_window, name, "end_time", clock(windows[i].end), from);
            to_.set(ObjectType::time_window, name, "type", "dedicated", from);
        }
    }

    // Returns the names of the route queues in the print of qmgr.
    const std::set<std::string>& route_queues() const { return route_queues_; }

  private:
    // Returns whether sched_config, of this migration or else of an earlier one, makes policies by time.
    bool by_time(const SchedPolicies* options) const {
        return options != nullptr ? options->by_time()
                                  : to_.before().has(ObjectType::policy, kPrimePolicy, "");
    }

    // Converts the printed settings for one policy. `options` are the policy's values from sched_config
    // (null: those of an earlier migration count): if they turn backfill off, a printed backfill_depth
    // doesn't count.
    void policy_print(const QmgrPrint& file, const char* policy, const std::vector<SchedValue>* options) {
        for (const PrintedSetting& printed : file.settings) {
            const std::string from = fmt::format("{}:{} {}", file.file, printed.line, printed.printed);
            if (printed.value.empty()) continue;
            const bool no_backfill = options != nullptr
                                         ? has_no_backfill(*options)
                                         : policy_value(to_.before(), Part::options, policy, kDepth) == "0";
            if (printed.attribute != kDepth || !no_backfill) {
                to_.set(ObjectType::policy, policy, printed.attribute, printed.value, from);
            } else {
                to_.note(
                    fmt::format("{}: the line is left out of {}, which has backfill False", from, policy));
            }
        }
    }

    void formula(const std::string& text, const std::string& from, const char* policy) {
        to_.set(ObjectType::policy, policy, "job_sort_formula", text, from);
    }

    void usage_of(const std::string& scope, const std::string& file, objects::UsageBatch batch) {
        to_.result().report.lines.push_back(
            {file, fmt::format("usage of {}", scope), values::counted(batch.usage.size(), "record"), true});
        to_.result().usage.emplace(scope, std::move(batch));
    }

    void holiday(const HolidayLine& day, const ConvertOptions& options) {
        if (const auto mismatch = date_mismatch(day))
            to_.note_once(fmt::format("{}:{}: {}: {}: the day number is used", day.file, day.line,
                                      printable(day.description), *mismatch));
        const std::optional<Proposal> proposal = propose_rule(day);
        if (proposal && options.infer) return non_work_day(day, proposal->rule);
        non_work_day(day, day.rule);
        if (proposal) {
            to_.note(fmt::format("{}:{}: {} is {}: {} needs no yearly update (--infer uses it)", day.file,
                                 day.line, printable(day.description), proposal->words, proposal->rule));
        }
    }

    // Adds a holiday to non_work_days, unless an element with the same days is there, whatever its name.
    void non_work_day(const HolidayLine& day, const std::string& rule) {
        const std::string* there = non_work_days_of(rule);
        const std::string name =
            rrule::shortened(rrule::plain_text(name_of(day)), rrule::NamedDays::kLongestName);
        const std::string entry = there != nullptr ? *there : rrule::NamedDays{rule, 1, name}.entry();
        Report::Line line{fmt::format("{}:{} {}", day.file, day.line, printable(day.description)),
                          "server non_work_days", entry, there == nullptr};
        if (day.description.empty()) line.source.pop_back();
        to_.record(ObjectType::server, "", "non_work_days", entry);
        if (there == nullptr)
            to_.result().changes.commands.push_back(
                {CommandKind::set, ObjectType::server, "", {{"non_work_days", entry, Operation::increment}}});
        to_.result().report.lines.push_back(std::move(line));
    }

    void prime_window(const std::string& name, const PrimeWindow& window, const std::string& file,
                      bool on_holidays = false) {
        const std::string from = window.line == 0 ? file : fmt::format("{}:{}", file, window.line);
        to_.create(ObjectType::time_window, name);
        to_.set(ObjectType::time_window, name, "rrule", window.rrule, from);
        to_.set(ObjectType::time_window, name, "start_time", clock(window.hours.start), from);
        to_.set(ObjectType::time_window, name, "end_time", clock(window.hours.end), from);
        to_.set(ObjectType::time_window, name, "applies_on_holidays", on_holidays ? "True" : "False", from);
        to_.set(ObjectType::time_window, name, "type", "prime", from);
    }

    // Returns the value for the attribute. The scheduler writes its files into a folder of its own, so a
    // path to such a file is reduced to its name.
    std::string value_of(const Setting& setting) {
        const auto* attribute = objects::find_attribute(ObjectType::policy, setting.option->attribute());
        if (attribute == nullptr || attribute->syntax != objects::Syntax::output_file) return setting.value;
        if (objects::check_output_file(setting.value)) return setting.value;
        std::string name = setting.value.substr(setting.value.rfind('/') + 1);
        if (!objects::check_output_file(name)) name = attribute->name;
        to_.note(fmt::format("{}: {} is written as {}/{} in the scheduler's sched_priv", source(setting),
                             setting.value, objects::kOutputFolder, name));
        return name;
    }

    std::string source(const Setting& setting) const {
        return fmt::format("{}:{} {}", file_->file, setting.line, setting.name);
    }

    void prime_time(const ConfigFile& file) {
        const Setting* start = file.find("PRIME_TIME_START");
        const Setting* end = file.find("PRIME_TIME_END");
        if (start == nullptr || end == nullptr) return;
        to_.create(ObjectType::time_window, kPrimeTime);
        const std::string hours = fmt::format("{} and {}", source(*start), end->name);
        to_.set(ObjectType::time_window, kPrimeTime, "rrule", kWorkDays, hours);
        to_.set(ObjectType::time_window, kPrimeTime, "start_time", start->value, source(*start));
        to_.set(ObjectType::time_window, kPrimeTime, "end_time", end->value, source(*end));
        to_.set(ObjectType::time_window, kPrimeTime, "applies_on_holidays", "False", hours);
        to_.set(ObjectType::time_window, kPrimeTime, "type", "prime", hours);
    }

    const std::string* non_work_days_of(const std::string& rule) const {
        if (to_.current() == nullptr) return nullptr;
        const auto days = to_.current()->non_work_days();
        const auto found = std::ranges::find_if(days, [&](const std::string& entry) {
            const auto parts = rrule::NamedDays::split(entry);
            return parts.rule == rule && parts.days == 1;
        });
        return found == days.end() ? nullptr : &*found;
    }

    Changes& to_;
    const ConfigFile* file_ = nullptr;
    std::set<std::string> route_queues_;
};

// Removes values from `policies` that qmgr printed too, since the print counts. A printed backfill_depth
// counts only where sched_config has backfill on.
void leave_to_print(const Legacy& files, const Ledger& before, SchedPolicies& policies) {
    const auto is_printed = [&](const SchedValue& value) {
        if (files.qmgr_print) return files.qmgr_print->setting(value.attribute) != nullptr;
        return std::ranges::any_of(before.lines, [&](const LedgerLine& line) {
            return line.part == Part::server && line.type == ObjectType::policy &&
                   line.attribute == value.attribute;
        });
    };
    for (auto* values : {&policies.all_time, &policies.prime, &policies.non_prime}) {
        const bool no_backfill = has_no_backfill(*values);
        std::erase_if(*values, [&](const SchedValue& value) {
            return is_printed(value) && !(no_backfill && value.attribute == kDepth);
        });
    }
}

// Returns the queues and resources that the files may name: those of `server`, and those of the older server.
Surroundings known_of(const Legacy& files, const Surroundings& server) {
    Surroundings known = server;
    const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    const auto optional = [](const std::optional<QmgrPrint>& print) { return print ? &*print : nullptr; };
    for (const QmgrPrint* of : {optional(files.qmgr_print), optional(files.resourcedef),
                                files.grid_engine ? &files.grid_engine->resources : nullptr}) {
        if (of == nullptr) continue;
        const QmgrPrint& print = *of;
        for (const PrintedQueue& queue : print.queues)
            if (!queue.route) known.queues.push_back(queue.name);
        add(known.consumables, print.consumables);
        add(known.others, print.others);
        add(known.vnode_booleans, print.vnode_booleans);
    }
    return known;
}

// Returns when prime time is by the holidays file or, without one, by that of an earlier migration. An Origin
// scheduler's holidays leave it always prime time.
PrimeTime prime_time(const Legacy& files, const Ledger& before) {
    if (files.origin_holidays) return PrimeTime::always;
    return files.pbs_holidays ? prime_time(*files.pbs_holidays) : prime_time(before);
}

// Computes the values of default_policy and of the policies of prime and non-prime time from sched_config. An
// attribute that qmgr_print has too is left out. resource_group decides whether the policies get an fs_group,
// and the holidays file whether policies by time are needed. For files that are missing, those of earlier
// migrations count.
Result<SchedPolicies> policies_of(const Legacy& files, const Surroundings& known, const Ledger& before) {
    // Give the policies an fs_group if a formula has terms of fairshare, even without resource_group: OpenPBS
    // then treats every entity as unknown, with shares and usage.
    const PrintedSetting* printed = files.qmgr_print ? files.qmgr_print->setting(kFormula) : nullptr;
    std::string formula = files.sched_formula ? files.sched_formula->formula
                                              : policy_value(before, Part::formula, kPolicy, kFormula);
    if (printed != nullptr) {
        formula = printed->value;
    } else if (const auto kept = policy_value(before, Part::server, kPolicy, kFormula);
               !files.qmgr_print && !kept.empty()) {
        formula = kept;
    }
    const bool in_formula = std::ranges::any_of(
        objects::share_terms(), [&](std::string_view term) { return objects::formula_names(formula, term); });
    const bool tree = files.resource_group ? !files.resource_group->groups.empty()
                                           : before.has(ObjectType::fs_group, kGroup, "tree_element");
    auto policies = to_policies(*files.sched_config, known, kGroup, tree || in_formula);
    if (!policies) return policies;
    if (prime_time(files, before) == PrimeTime::never && policies->by_time()) {
        policies->all_time = std::move(policies->non_prime);
        policies->prime.clear();
        policies->non_prime.clear();
    }
    leave_to_print(files, before, *policies);
    return policies;
}

// Finds the queues that run at certain times only. If the server's queues are unknown, the queues count to
// which an earlier migration has given a type. If a print comes without a sched_config, which an earlier
// migration has read, the usual prefixes (p_, np_, ded) don't count: only the print's execution_types do.
std::vector<FoundQueueType> queue_types_of(const Legacy& files, const Surroundings& server,
                                           const Ledger& before) {
    const SchedConfig* config = files.sched_config ? &*files.sched_config : nullptr;
    const QmgrPrint* print = files.qmgr_print ? &*files.qmgr_print : nullptr;
    Surroundings known = server;
    if (server.queues.empty())
        for (const LedgerLine& line : before.lines)
            if (line.type == ObjectType::queue && line.part == Part::options)
                known.queues.push_back(line.object);
    auto types = find_queue_types(config, print, known);
    if (config == nullptr && print != nullptr && had_sched_config(before))
        std::erase_if(types, [&](const FoundQueueType& found) {
            const auto queue = std::ranges::find(print->queues, found.queue, &PrintedQueue::name);
            return queue == print->queues.end() || queue->execution_type.empty();
        });
    return types;
}

}  // namespace

Result<Conversion> convert(const Legacy& files, const Surroundings& server, const objects::Snapshot* current,
                           const Ledger& before, const ConvertOptions& options) {
    if (auto checked = check_companions(files, before); !checked)
        return tl::unexpected(std::move(checked.error()));
    const Surroundings known = known_of(files, server);
    Changes changes(current, before, server, known, options.strict);
    Converter converter(changes);
    converter.mistakes(files.mistakes);
    std::optional<SchedPolicies> options_of;
    const std::vector<FoundQueueType> types = queue_types_of(files, server, before);
    const bool by_prime = std::ranges::any_of(types, [](const FoundQueueType& queue) {
        return queue.type == "execution_prime" || queue.type == "execution_non_prime";
    });
    const bool has_hours = prime_time(files, before) != PrimeTime::always;
    if (files.config) converter.config(*files.config);
    if (files.sched_config) {
        auto policies = policies_of(files, known, before);
        if (!policies) return tl::unexpected(policies.error());
        options_of = std::move(*policies);
        converter.sched_config(*files.sched_config, *options_of, has_hours || by_prime);
        if (by_prime && !has_hours) converter.always_prime(files.sched_config->file);
    }
    const SchedConfig* config = files.sched_config ? &*files.sched_config : nullptr;
    const SchedPolicies* policies = options_of ? &*options_of : nullptr;
    const bool prints_formula = files.qmgr_print
                                    ? files.qmgr_print->setting(kFormula) != nullptr
                                    : !policy_value(before, Part::server, kPolicy, kFormula).empty();
    if (files.origin_holidays) converter.holidays(*files.origin_holidays, options);
    if (files.pbs_holidays) converter.pbs_holidays(*files.pbs_holidays, options);
    if (files.dedicated_time) converter.dedicated_time(*files.dedicated_time, server.now);
    if (files.resource_group) converter.resource_group(*files.resource_group, config != nullptr);
    if (files.sched_formula && !prints_formula) converter.sched_formula(*files.sched_formula, policies);
    if (files.resourcedef) {
        changes.begin(Part::resourcedef);
        changes.resources(*files.resourcedef, files.qmgr_print ? &*files.qmgr_print : nullptr);
    }
    if (files.qmgr_print) converter.print(*files.qmgr_print, policies);
    if (config != nullptr || files.qmgr_print)
        converter.queue_types(types, config != nullptr ? Part::options : Part::server);
    if (files.grid_engine) convert_grid_engine(changes, *files.grid_engine);
    if (files.usage) converter.usage(*files.usage);
    if (files.decay_usage) converter.decay_usage(*files.decay_usage);
    converter.allocations(files.allocations ? &*files.allocations : nullptr,
                          files.current ? &*files.current : nullptr);
    return changes.finish(converter.route_queues());
}

bool is_converted(const objects::Snapshot& snapshot) {
    const objects::Object* policy = snapshot.policy(kPolicy);
    if (policy == nullptr) return false;
    if (policy->text("algorithm") == "origin") return true;
    // A conversion of sched_config always sets these three attributes, so they show that there was one.
    return policy->is_set("by_queue") && policy->is_set("help_starving_jobs") && policy->is_set("preemption");
}

std::string to_qmgr(const Conversion& conversion) {
    std::string out;
    // Write the commands for the host first: policies may name queues and resources that these commands
    // create.
    for (const PrintedCommand& printed : conversion.host.commands)
        out += objects::to_text(printed.command) + "\n";
    for (const Command& command : conversion.changes.commands) {
        if (command.changes.size() < 2) {
            out += objects::to_text(command) + "\n";
            continue;
        }
        for (const objects::AttributeChange& change : command.changes)
            out += objects::to_text({command.kind, command.type, command.object, {change}}) + "\n";
    }
    // Set execution_type, because OpenPBS's queue_type doesn't take these types.
    for (const QueueType& type : conversion.queue_types)
        out += type.to.empty() ? fmt::format("unset queue {} execution_type\n", type.queue)
                               : fmt::format("set queue {} execution_type = {}\n", type.queue, type.to);
    return out;
}

}  // namespace pbs::migrate
