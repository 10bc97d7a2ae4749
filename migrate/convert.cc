#include "migrate/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "migrate/host_check.h"
#include "migrate/infer_holiday.h"
#include "migrate/sweep.h"
#include "migrate/words.h"
#include "objects/formula.h"
#include "objects/output_file.h"
#include "objects/quota_rule.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "objects/value.h"
#include "rrule/non_work_days.h"
#include "rrule/plain_text.h"

namespace pbs::migrate {
namespace {

using objects::Command;
using objects::CommandKind;
using objects::ObjectType;
using objects::Operation;

constexpr const char* kPolicy = "default_policy";
constexpr const char* kPrimePolicy = "default_policy_prime";
constexpr const char* kNonPrimePolicy = "default_policy_non_prime";
constexpr const char* kGroup = "default_fs_group";
constexpr const char* kSched = "default";
constexpr const char* kPrimeTime = "prime_time";
constexpr const char* kDedicatedTime = "dedicated_time";
constexpr const char* kDepth = "backfill_depth";
constexpr const char* kWorkDays = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";

// Numbers objects of one kind: name, name_2, name_3.
std::string numbered(const char* name, std::size_t index) {
    return index == 0 ? name : fmt::format("{}_{}", name, index + 1);
}

// Does a sched_config file turn backfill off (backfill: False)?
bool has_no_backfill(const std::vector<SchedValue>& values) {
    return std::ranges::any_of(
        values, [](const SchedValue& value) { return value.attribute == kDepth && value.value == "0"; });
}

std::string clock(int minute) {
    return fmt::format("{:02}:{:02}:00", minute / 60, minute % 60);
}

class Converter {
  public:
    // `server` describes the server that takes the files over; `known` adds the queues and resources of the
    // older server.
    Converter(const objects::Snapshot* current, const Ledger& before, const Surroundings& server,
              const Surroundings& known, bool strict)
        : current_(current), before_(before), server_(server), strict_(strict) {
        for (const auto* names : {&known.consumables, &known.others})
            for (const std::string& name : *names) resources_.add(name);
    }

    void mistakes(const Problems& mistakes) {
        for (const Problem& mistake : mistakes) out_.report.notes.push_back(note_of(mistake));
    }

    void config(const ConfigFile& file) {
        begin(Part::options);
        file_ = &file;
        set(ObjectType::policy, kPolicy, "algorithm", "origin", file.file);
        for (const Setting& setting : file.settings)
            set(ObjectType::policy, kPolicy, setting.option->attribute(), value_of(setting), source(setting));
        prime_time(file);
        notes(file.notes);
        tell_unless_in_force();
    }

    void sched_config(const SchedConfig& file, const SchedPolicies& policies, bool prime_is_known) {
        begin(Part::options);
        if (!policies.fs_group.empty()) {
            create(ObjectType::fs_group, kGroup);
            set_all(ObjectType::fs_group, kGroup, policies.fs_group, file.file);
        }
        set_all(ObjectType::policy, kPolicy, policies.all_time, file.file);
        if (policies.by_time()) {
            create(ObjectType::policy, kPrimePolicy);
            set_all(ObjectType::policy, kPrimePolicy, policies.prime, file.file);
            create(ObjectType::policy, kNonPrimePolicy);
            set_all(ObjectType::policy, kNonPrimePolicy, policies.non_prime, file.file);
            set(ObjectType::sched, kSched, "policy",
                fmt::format("{},p:{},np:{}", kPolicy, kPrimePolicy, kNonPrimePolicy), file.file);
            const bool window = current_ != nullptr && !current_->time_windows_of_type("prime").empty();
            if (!prime_is_known && !window)
                out_.report.notes.emplace_back(fmt::format(
                    "{}: prime and non-prime time have different values, but there is no time_window of type "
                    "prime: until there is one, {} is in force at all times, with the values of prime time",
                    file.file, kPolicy));
        } else {
            tell_unless_in_force();
        }
        for (const std::string& resource : policies.checked)
            record(ObjectType::resource, resource, kChecked, "True");
        notes(file.notes);
        notes(policies.notes);
    }

    // Adds the resources that resourcedef or another file defines, except those that `print` (may be null)
    // defines as well.
    void resourcedef(const QmgrPrint& file, const QmgrPrint* print, Part part = Part::resourcedef) {
        begin(part);
        notes(file.notes);
        out_.host.file = file.file;
        for (const PrintedCommand& printed : file.commands) {
            const Command& command = printed.command;
            const bool there = server_.has(ObjectType::resource, command.object) == true &&
                               !before_.has(ObjectType::resource, command.object, "");
            if (there && part == Part::grid_engine && command.kind == CommandKind::create)
                out_.report.notes.push_back(fmt::format(
                    "{}:{}: {}: is left out: the server has this resource already, with a type and "
                    "flags of its own",
                    file.file, printed.line, command.object));
            if (there || (print != nullptr && print->makes(command.object))) continue;
            out_.host.commands.push_back(printed);
            out_.host.commands.back().file = file.file;
            if (command.kind == CommandKind::create) record(command.type, command.object, "", "");
        }
    }

    // Converts the print of qmgr. Its settings for policies go into the policies that `options` make or, if
    // `options` is null, into default_policy.
    void print(const QmgrPrint& file, const SchedPolicies* options) {
        begin(Part::server);
        notes(file.notes);
        out_.host.file = file.file;
        out_.host.commands.insert(out_.host.commands.end(), file.commands.begin(), file.commands.end());
        for (const PrintedQueue& queue : file.queues)
            if (queue.route) route_queues_.insert(queue.name);
        for (const PrintedCommand& printed : file.commands)
            if (printed.command.kind == CommandKind::create)
                record(printed.command.type, printed.command.object, "", "");
        policy_print(file, kPolicy, options == nullptr ? nullptr : &options->all_time);
        if (options == nullptr || !options->by_time()) return;
        policy_print(file, kPrimePolicy, &options->prime);
        policy_print(file, kNonPrimePolicy, &options->non_prime);
    }

    // Converts the formula that PBS kept in sched_priv/sched_formula.
    void sched_formula(const SchedFormula& file, const SchedPolicies* options) {
        begin(Part::formula);
        if (file.formula.empty()) return;
        const std::string from = fmt::format("{}:{}", file.file, file.line);
        formula(file.formula, from, kPolicy);
        if (options == nullptr || !options->by_time()) return;
        formula(file.formula, from, kPrimePolicy);
        formula(file.formula, from, kNonPrimePolicy);
    }

    // Converts what Grid Engine's qconf printed.
    void grid_engine(const GridEngine& files) {
        resourcedef(files.resources, nullptr, Part::grid_engine);
        for (auto wanted = files.wanted.begin(); wanted != files.wanted.end();) {
            if (!wanted->key.empty()) {
                const auto end = std::find_if(wanted, files.wanted.end(), [&](const Wanted& other) {
                    return other.object != wanted->object || other.key.empty();
                });
                set_elements(std::span(wanted, end));
                wanted = end;
                continue;
            }
            if (wanted->attribute.empty()) {
                create(wanted->type, wanted->object);
            } else {
                set(wanted->type, wanted->object, wanted->attribute, wanted->value, wanted->from);
            }
            ++wanted;
        }
        notes(files.notes);
        tell_unless_in_force();
    }

    // Makes a time_window of prime time that is always open: for pbs_sched it was always prime time if no
    // holidays file had a year.
    void always_prime(const std::string& file) {
        if (current_ != nullptr)
            for (const objects::Object* window : current_->time_windows_of_type("prime"))
                if (!before_.has(ObjectType::time_window, window->name(), "")) return;
        begin(Part::options);
        prime_window(kPrimeTime, {"FREQ=DAILY", PrimeHours{}, 0}, file, true);
    }

    void queue_types(const std::vector<FoundQueueType>& found, Part part) {
        begin(part);
        for (const FoundQueueType& queue : found) {
            const bool known = before_.has(ObjectType::queue, queue.queue, "execution_type", queue.type);
            out_.report.lines.push_back(
                {queue.source, fmt::format("queue {} execution_type", queue.queue), queue.type, !known});
            record(ObjectType::queue, queue.queue, "execution_type", queue.type);
            if (!known)
                out_.queue_types.push_back(
                    {queue.queue, recorded(ObjectType::queue, queue.queue, "execution_type"), queue.type});
        }
    }

    void resource_group(const ResourceGroup& file, bool in_policies) {
        begin(Part::resource_group);
        notes(file.notes);
        if (file.groups.empty()) return;
        create(ObjectType::fs_group, kGroup);
        std::string elements;
        for (const ShareGroup& group : file.groups)
            elements += (elements.empty() ? "" : ",") + group.element();
        set(ObjectType::fs_group, kGroup, "tree_element", elements,
            fmt::format("{}:{}", file.file, file.groups.front().line));
        if (!in_policies)
            out_.report.notes.push_back(fmt::format(
                "{}: the tree is in use once a policy names it: set policy {} fairshare_group = {}",
                file.file, kPolicy, kGroup));
    }

    void holidays(const HolidaysFile& file, const ConvertOptions& options) {
        begin(Part::holidays);
        out_.holidays = true;
        for (const Holiday& day : file.days)
            holiday({file.file, day.line, day.description, day.day_of_year, file.year, day.rule()}, options);
    }

    void pbs_holidays(const PbsHolidays& file, const ConvertOptions& options) {
        begin(Part::holidays);
        out_.holidays = true;
        notes(file.notes);
        if (!file.in_use()) {
            out_.report.notes.emplace_back(
                fmt::format("{}: without YEAR the file has no effect: it is always prime time", file.file));
            return;
        }
        const auto windows = prime_windows(file);
        for (std::size_t i = 0; i < windows.size(); ++i)
            prime_window(numbered(kPrimeTime, i), windows[i], file.file);
        for (const PbsHoliday& day : file.days)
            holiday({file.file, day.line, day.description, day.day_of_year, file.year, day.rule()}, options);
        if (!file.days.empty() && !options.infer)
            out_.report.notes.emplace_back(
                fmt::format("{}: the holidays of {} apply in every year by their day number, as with PBS: "
                            "those after February fall on another date in leap years than in other years; "
                            "MM/DD in non_work_days keeps the date",
                            file.file, file.year));
    }

    // Converts the usage of entities. Groups need none: the tree adds it up.
    void usage(const FairshareUsage& file) {
        if (file.entities.empty() && !file.mistakes.empty()) return;
        const bool there = current_ != nullptr && current_->fs_group(kGroup) != nullptr;
        if (!there && !out_.ledger.has(ObjectType::fs_group, kGroup, "")) {
            out_.report.notes.push_back(
                fmt::format("{}: the usage is left out: there is no fs_group {}", file.file, kGroup));
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
        notes(file.notes);
        usage_of("past_usage", file.file, std::move(batch));
    }

    // Reports the allocation files and leaves them alone: the accounting package keeps them.
    void allocations(const Allocations* allocations, const CurrentUsage* current) {
        const auto used = current == nullptr ? std::map<std::string, double>{} : current->groups();
        if (current != nullptr)
            out_.report.notes.push_back(
                fmt::format("{}: {} of {}; checked and not converted: it stays a file", current->file,
                            counted(current->uses.size(), "record"), counted(used.size(), "group")));
        if (allocations == nullptr) return;
        notes(allocations->notes);
        const auto unlimited = std::ranges::count_if(allocations->groups, &Allocation::unlimited);
        out_.report.notes.push_back(
            fmt::format("{}: {}, {} of them without a limit; checked and not converted: it stays a file, "
                        "in the folder that sched_acct_dir of {} names",
                        allocations->file, counted(allocations->groups.size(), "group"), unlimited, kPolicy));
        for (const Allocation& group : allocations->groups) {
            const auto found = used.find(group.group);
            if (group.unlimited() || found == used.end() || found->second <= group.node_hours) continue;
            out_.report.notes.push_back(fmt::format("{}:{}: {} has used {:.3f} of {:.3f} node-hours",
                                                    allocations->file, group.line, printable(group.group),
                                                    found->second, group.node_hours));
        }
    }

    void dedicated_time(const DedicatedTime& file, const std::optional<std::chrono::sys_seconds>& now) {
        begin(Part::dedicated_time);
        std::vector<DedicatedPeriod> ahead;
        for (const DedicatedPeriod& period : file.periods) {
            // Compare with a day to spare: the period is in local time, and no zone is further than a day
            // from UTC.
            if (!now || period.to.time_since_epoch() + std::chrono::days{1} >= now->time_since_epoch()) {
                ahead.push_back(period);
            } else {
                out_.report.notes.emplace_back(
                    fmt::format("{}:{}: the dedicated time is over and left out", file.file, period.line));
            }
        }
        const auto windows = dedicated_windows(ahead);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const std::string name = numbered(kDedicatedTime, i);
            const std::string from = fmt::format("{}:{}", file.file, windows[i].line);
            create(ObjectType::time_window, name);
            set(ObjectType::time_window, name, "rrule", windows[i].rrule, from);
            set(ObjectType::time_window, name, "start_time", clock(windows[i].start), from);
            set(ObjectType::time_window, name, "end_time", clock(windows[i].end), from);
            set(ObjectType::time_window, name, "type", "dedicated", from);
        }
    }

    Result<Conversion> finish() {
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        notes(leave_out_refused(out_.host, server_));
        Swept swept = sweep(before_, out_.ledger, parts_, current_, server_);
        auto& lines = out_.report.lines;
        lines.insert(lines.end(), swept.lines.begin(), swept.lines.end());
        notes(swept.notes);
        auto& commands = out_.changes.commands;
        commands.insert(commands.end(), swept.commands.begin(), swept.commands.end());
        out_.queue_types.insert(out_.queue_types.end(), swept.queue_types.begin(), swept.queue_types.end());
        out_.ledger = std::move(swept.ledger);
        if (!server_.same_scheduler) {
            for (const auto& [key, object] : made_) notes(objects::unsupported_lines(object));
            notes_on_queues();
        }
        return std::move(out_);
    }

  private:
    // Assigns the following changes to this part of the configuration.
    void begin(Part part) {
        part_ = part;
        parts_.insert(part);
    }

    void record(ObjectType type, const std::string& object, std::string_view attribute,
                const std::string& value) {
        LedgerLine line{part_, type, object, std::string(attribute), value};
        if (recorded_.insert(fmt::format("{}\t{}\t{}\t{}", static_cast<int>(type), object, attribute, value))
                .second)
            out_.ledger.lines.push_back(std::move(line));
    }

    // Returns the value that an earlier migration gave an attribute; empty: none did.
    std::string recorded(ObjectType type, const std::string& object, std::string_view attribute) const {
        const auto found = std::ranges::find_if(before_.lines, [&](const LedgerLine& line) {
            return line.type == type && line.object == object && line.attribute == attribute;
        });
        return found == before_.lines.end() ? std::string() : found->value;
    }

    // Converts the printed settings for one policy. `options` are the policy's values from sched_config: if
    // they turn backfill off, a printed backfill_depth doesn't count.
    void policy_print(const QmgrPrint& file, const char* policy, const std::vector<SchedValue>* options) {
        for (const PrintedSetting& printed : file.settings) {
            const std::string from = fmt::format("{}:{} {}", file.file, printed.line, printed.printed);
            if (printed.value.empty()) continue;
            if (printed.attribute != kDepth || options == nullptr || !has_no_backfill(*options)) {
                set(ObjectType::policy, policy, printed.attribute, printed.value, from);
            } else {
                out_.report.notes.push_back(
                    fmt::format("{}: the line is left out of {}, which has backfill False", from, policy));
            }
        }
    }

    void formula(const std::string& text, const std::string& from, const char* policy) {
        set(ObjectType::policy, policy, "job_sort_formula", text, from);
    }

    void notes(const std::vector<std::string>& more) {
        out_.report.notes.insert(out_.report.notes.end(), more.begin(), more.end());
    }

    // Returns the policies that the migration makes, or the scheduler's present ones if it makes none.
    std::vector<const objects::Object*> policies() const {
        std::vector<const objects::Object*> found;
        for (const auto& [key, object] : made_)
            if (key.first == ObjectType::policy) found.push_back(&object);
        if (!found.empty() || current_ == nullptr) return found;
        const objects::PolicySlots slots = current_->policy_slots(kSched);
        for (const std::string& name : {slots.all_time, slots.prime, slots.non_prime})
            if (const objects::Object* policy = current_->policy(name)) found.push_back(policy);
        return found;
    }

    // Notes attributes of printed queues that the policies don't act on.
    void notes_on_queues() {
        const std::vector<const objects::Object*> by = policies();
        for (const PrintedCommand& printed : out_.host.commands) {
            const Command& command = printed.command;
            if (command.type != ObjectType::queue || command.changes.empty() ||
                route_queues_.contains(command.object))
                continue;
            const objects::QueueValue value(command.changes[0].name, command.changes[0].value);
            for (const objects::Object* policy : by)
                notes(objects::unsupported_in_queue(*policy, command.object, std::span(&value, 1)));
        }
    }

    void tell_unless_in_force() {
        if (current_ == nullptr || current_->policy_slots(kSched).all_time == kPolicy) return;
        out_.report.notes.emplace_back(
            fmt::format("the scheduler `{1}` doesn't use {0}: set sched {1} policy = {0} puts it in force",
                        kPolicy, kSched));
    }

    void usage_of(const std::string& scope, const std::string& file, objects::UsageBatch batch) {
        out_.report.lines.push_back(
            {file, fmt::format("usage of {}", scope), counted(batch.usage.size(), "record"), true});
        out_.usage.emplace(scope, std::move(batch));
    }

    void holiday(const HolidayLine& day, const ConvertOptions& options) {
        if (const auto mismatch = date_mismatch(day))
            note_once(fmt::format("{}:{}: {}: {}: the day number is used", day.file, day.line,
                                  printable(day.description), *mismatch));
        const std::optional<Proposal> proposal = propose_rule(day);
        if (proposal && options.infer) return non_work_day(day, proposal->rule);
        non_work_day(day, day.rule);
        if (proposal) {
            out_.report.notes.push_back(
                fmt::format("{}:{}: {} is {}: {} needs no yearly update (--infer uses it)", day.file,
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
        record(ObjectType::server, "", "non_work_days", entry);
        if (there == nullptr)
            out_.changes.commands.push_back(
                {CommandKind::set, ObjectType::server, "", {{"non_work_days", entry, Operation::increment}}});
        out_.report.lines.push_back(std::move(line));
    }

    void prime_window(const std::string& name, const PrimeWindow& window, const std::string& file,
                      bool on_holidays = false) {
        const std::string from = window.line == 0 ? file : fmt::format("{}:{}", file, window.line);
        create(ObjectType::time_window, name);
        set(ObjectType::time_window, name, "rrule", window.rrule, from);
        set(ObjectType::time_window, name, "start_time", clock(window.hours.start), from);
        set(ObjectType::time_window, name, "end_time", clock(window.hours.end), from);
        set(ObjectType::time_window, name, "applies_on_holidays", on_holidays ? "True" : "False", from);
        set(ObjectType::time_window, name, "type", "prime", from);
    }

    // Returns the object as it will be after the changes so far.
    objects::Object& made(ObjectType type, const std::string& object) {
        const auto [found, is_new] =
            made_.try_emplace(std::pair(type, object), objects::Object(type, object));
        if (is_new && current_ != nullptr)
            if (const objects::Object* there = current_->find(type, object)) found->second = *there;
        return found->second;
    }

    // Creates an object, and records it as made by a migration only if it is new: the sweep must not delete
    // an object that somebody else created.
    void create(ObjectType type, const std::string& object) {
        made(type, object);
        const bool there = current_ != nullptr && current_->find(type, object) != nullptr;
        if (!there || before_.has(type, object, "")) {
            const bool is_new = !out_.ledger.has(type, object, "");
            record(type, object, "", "");
            if (!there && is_new) out_.changes.commands.push_back({CommandKind::create, type, object, {}});
        }
    }

    void set_all(ObjectType type, const std::string& object, const std::vector<SchedValue>& values,
                 const std::string& file) {
        for (const SchedValue& value : values) {
            const std::string line = value.line == 0 ? std::string() : fmt::format(":{}", value.line);
            set(type, object, value.attribute, value.value,
                fmt::format("{}{} {}{}", file, line, value.option, value.line == 0 ? " (not set)" : ""));
        }
    }

    // Returns the value for the attribute. The scheduler writes its files into a folder of its own, so a
    // path to such a file is reduced to its name.
    std::string value_of(const Setting& setting) {
        const auto* attribute = objects::find_attribute(ObjectType::policy, setting.option->attribute());
        if (attribute == nullptr || attribute->syntax != objects::Syntax::output_file) return setting.value;
        if (objects::check_output_file(setting.value)) return setting.value;
        std::string name = setting.value.substr(setting.value.rfind('/') + 1);
        if (!objects::check_output_file(name)) name = attribute->name;
        out_.report.notes.push_back(fmt::format("{}: {} is written as {}/{} in the scheduler's sched_priv",
                                                source(setting), setting.value, objects::kOutputFolder,
                                                name));
        return name;
    }

    std::string source(const Setting& setting) const {
        return fmt::format("{}:{} {}", file_->file, setting.line, setting.name);
    }

    void prime_time(const ConfigFile& file) {
        const Setting* start = file.find("PRIME_TIME_START");
        const Setting* end = file.find("PRIME_TIME_END");
        if (start == nullptr || end == nullptr) return;
        create(ObjectType::time_window, kPrimeTime);
        const std::string hours = fmt::format("{} and {}", source(*start), end->name);
        set(ObjectType::time_window, kPrimeTime, "rrule", kWorkDays, hours);
        set(ObjectType::time_window, kPrimeTime, "start_time", start->value, source(*start));
        set(ObjectType::time_window, kPrimeTime, "end_time", end->value, source(*end));
        set(ObjectType::time_window, kPrimeTime, "applies_on_holidays", "False", hours);
        set(ObjectType::time_window, kPrimeTime, "type", "prime", hours);
    }

    // Sets an attribute unless it has that value already. A value equal to the default is set too, so that
    // the file's choice survives a change of defaults and can be seen.
    void set(ObjectType type, const std::string& object, std::string_view name, const std::string& text,
             const std::string& from) {
        const objects::Attribute* attribute = objects::find_attribute(type, name);
        if (attribute == nullptr) return refuse(from, fmt::format("there is no attribute {}", name));
        const auto value = objects::parse_value(*attribute, text);
        const bool is_a_formula = attribute->syntax == objects::Syntax::formula;
        if (!value)
            return is_a_formula ? no_formula(from, value.error()) : refuse(from, value.error().message);
        if (is_a_formula && !is_formula(*attribute, text, from)) return;
        const objects::Object* there = current_ == nullptr ? nullptr : current_->find(type, object);
        const objects::Value* old = there == nullptr ? nullptr : there->set_value(*attribute);
        const std::string shown = objects::format_value(*attribute, *value);
        const bool changed = old == nullptr || *old != *value;
        made(type, object).assign(*attribute, *value);
        record(type, object, attribute->name, shown);
        out_.report.lines.push_back(
            {from, fmt::format("{} {} {}", objects::type_name(type), object, attribute->name), shown, changed,
             old == nullptr ? "" : objects::format_value(*attribute, *old)});
        if (changed)
            out_.changes.commands.push_back(
                {CommandKind::set, type, object, {{std::string(attribute->name), shown, Operation::set}}});
    }

    // Sets all elements of an attribute with keys, such as the rules of a quota, in this order.
    void set_elements(std::span<const Wanted> elements) {
        const Wanted& first = elements.front();
        const objects::Attribute& attribute = *objects::find_attribute(first.type, first.attribute);
        const objects::Object* there =
            current_ == nullptr ? nullptr : current_->find(first.type, first.object);
        const std::span<const std::string> before =
            there == nullptr ? std::span<const std::string>() : there->list(first.attribute);
        objects::StringList after;
        for (const Wanted& element : elements) {
            const auto value = objects::value_of_items(attribute, {element.key + ": " + element.value});
            if (!value) return refuse(element.from, value.error().message);
            after.push_back(std::get<objects::StringList>(*value).front());
        }
        // Elements stay at their places if the new ones only follow them: otherwise the old ones go first.
        std::size_t kept = 0;
        while (kept < std::min(before.size(), after.size()) &&
               objects::quota_rule_name(before[kept]) == objects::quota_rule_name(after[kept]))
            ++kept;
        Command gone{CommandKind::unset, first.type, first.object, {}};
        for (const std::string& element : before.subspan(kept))
            gone.changes.push_back(
                {first.attribute, "", Operation::unset, std::string(objects::quota_rule_name(element))});
        if (!gone.changes.empty()) out_.changes.commands.push_back(std::move(gone));
        for (std::size_t i = 0; i < after.size(); ++i) {
            const Wanted& element = elements[i];
            const auto old = std::ranges::find(before, element.key, objects::quota_rule_name);
            const bool changed = i >= kept || before[i] != after[i];
            const auto text = [&](const std::string& whole) { return whole.substr(element.key.size() + 2); };
            out_.report.lines.push_back({element.from,
                                         fmt::format("{} {} {}.{}", objects::type_name(first.type),
                                                     first.object, first.attribute, element.key),
                                         text(after[i]), changed, old == before.end() ? "" : text(*old)});
            if (changed)
                out_.changes.commands.push_back(
                    {CommandKind::set,
                     first.type,
                     first.object,
                     {{first.attribute, text(after[i]), Operation::set, element.key}}});
        }
        record(first.type, first.object, attribute.name, objects::format_value(attribute, after));
        made(first.type, first.object).assign(attribute, std::move(after));
    }

    // Checks a formula. One in another language, such as Python, is left out with a note, and the rest is
    // migrated. Unknown names in a formula cause a note.
    bool is_formula(const objects::Attribute& attribute, const std::string& text, const std::string& from) {
        std::vector<std::string> unknown;
        const bool usage = attribute.name == "usage_formula";
        const auto checked =
            objects::check_formula(attribute.name, text, resources_,
                                   usage ? objects::usage_terms() : objects::job_sort_terms(), &unknown);
        for (const std::string& name : unknown)
            note_once(fmt::format("{}: {}: '{}' is not a known resource, and counts as 0 until it is", from,
                                  attribute.name, name));
        if (!checked) no_formula(from, checked.error());
        return checked.has_value();
    }

    void no_formula(const std::string& from, const objects::Error& error) {
        if (strict_) return refuse(from, error.message);
        note_once(fmt::format("{}: {}; it is left out", from, error.message));
    }

    // Adds a note unless it is there already: several policies may cause the same one.
    void note_once(std::string note) {
        auto& all = out_.report.notes;
        if (std::ranges::find(all, note) == all.end()) all.push_back(std::move(note));
    }

    void refuse(const std::string& from, std::string message) {
        problems_.push_back({from, 0, 0, "", std::move(message)});
    }

    const std::string* non_work_days_of(const std::string& rule) const {
        if (current_ == nullptr) return nullptr;
        const auto days = current_->non_work_days();
        const auto found = std::ranges::find_if(days, [&](const std::string& entry) {
            const auto parts = rrule::NamedDays::split(entry);
            return parts.rule == rule && parts.days == 1;
        });
        return found == days.end() ? nullptr : &*found;
    }

    const objects::Snapshot* current_;
    const Ledger& before_;
    const Surroundings& server_;
    bool strict_;
    objects::ResourceNames resources_;
    const ConfigFile* file_ = nullptr;
    Part part_ = Part::options;
    std::set<Part> parts_;
    std::set<std::string> recorded_;
    std::map<std::pair<ObjectType, std::string>, objects::Object> made_;
    std::set<std::string> route_queues_;  // route queues in the print of qmgr
    Conversion out_;
    Problems problems_;
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

// Adds the older server's queues and resources to those of `server`: the files may name both.
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

// Computes the values of default_policy and of the policies of prime and non-prime time. sched_config gives
// them; resource_group and qmgr_print decide about some.
Result<SchedPolicies> policies_of(const Legacy& files, const Surroundings& known, const Ledger& before) {
    // Formulas with terms of fairshare need an fs_group even without resource_group: OpenPBS then treats
    // every entity as unknown, with shares and usage.
    const PrintedSetting* printed =
        files.qmgr_print ? files.qmgr_print->setting("job_sort_formula") : nullptr;
    const std::string_view formula = printed != nullptr    ? std::string_view(printed->value)
                                     : files.sched_formula ? std::string_view(files.sched_formula->formula)
                                                           : std::string_view();
    const bool in_formula = std::ranges::any_of(objects::share_terms(), [formula](std::string_view term) {
        return objects::formula_names(formula, term);
    });
    const bool tree = files.resource_group ? !files.resource_group->groups.empty()
                                           : before.has(ObjectType::fs_group, kGroup, "tree_element");
    auto policies = to_policies(*files.sched_config, known, kGroup, tree || in_formula);
    if (!policies) return policies;
    const bool never_prime =
        files.pbs_holidays && files.pbs_holidays->in_use() && prime_windows(*files.pbs_holidays).empty();
    if (never_prime && policies->by_time()) {
        policies->all_time = std::move(policies->non_prime);
        policies->prime.clear();
        policies->non_prime.clear();
    }
    leave_to_print(files, before, *policies);
    return policies;
}

}  // namespace

Result<Conversion> convert(const Legacy& files, const Surroundings& server, const objects::Snapshot* current,
                           const Ledger& before, const ConvertOptions& options) {
    const Surroundings known = known_of(files, server);
    Converter converter(current, before, server, known, options.strict);
    converter.mistakes(files.mistakes);
    std::optional<SchedPolicies> options_of;
    const std::vector<FoundQueueType> types =
        find_queue_types(files.sched_config ? &*files.sched_config : nullptr,
                         files.qmgr_print ? &*files.qmgr_print : nullptr, server);
    const bool by_prime = std::ranges::any_of(types, [](const FoundQueueType& queue) {
        return queue.type == "execution_prime" || queue.type == "execution_non_prime";
    });
    const bool has_hours = files.pbs_holidays && files.pbs_holidays->in_use();
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
    const bool prints_formula = files.qmgr_print && files.qmgr_print->setting("job_sort_formula") != nullptr;
    if (files.origin_holidays) converter.holidays(*files.origin_holidays, options);
    if (files.pbs_holidays) converter.pbs_holidays(*files.pbs_holidays, options);
    if (files.dedicated_time) converter.dedicated_time(*files.dedicated_time, server.now);
    if (files.resource_group) converter.resource_group(*files.resource_group, config != nullptr);
    if (files.sched_formula && !prints_formula) converter.sched_formula(*files.sched_formula, policies);
    if (files.resourcedef)
        converter.resourcedef(*files.resourcedef, files.qmgr_print ? &*files.qmgr_print : nullptr);
    if (files.qmgr_print) converter.print(*files.qmgr_print, policies);
    if (config != nullptr || files.qmgr_print)
        converter.queue_types(types, config != nullptr ? Part::options : Part::server);
    if (files.grid_engine) converter.grid_engine(*files.grid_engine);
    if (files.usage) converter.usage(*files.usage);
    if (files.decay_usage) converter.decay_usage(*files.decay_usage);
    converter.allocations(files.allocations ? &*files.allocations : nullptr,
                          files.current ? &*files.current : nullptr);
    return converter.finish();
}

bool is_converted(const objects::Snapshot& snapshot) {
    const objects::Object* policy = snapshot.policy(kPolicy);
    if (policy == nullptr) return false;
    if (policy->text("algorithm") == "origin") return true;
    // A conversion of sched_config always sets these three.
    return policy->is_set("by_queue") && policy->is_set("help_starving_jobs") && policy->is_set("preemption");
}

std::string to_qmgr(const Conversion& conversion) {
    std::string out;
    // Host commands first: policies may name the queues and resources that they create.
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
    for (const QueueType& type : conversion.queue_types)
        out += fmt::format("set queue {} queue_type = {}\n", type.queue,
                           type.to.empty() ? "execution" : type.to);
    return out;
}

}  // namespace pbs::migrate
