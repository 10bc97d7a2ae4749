#include "migrate/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "objects/snapshot.h"
#include "objects/value.h"

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
constexpr const char* kWorkDays = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";

// name, name_2, name_3
std::string numbered(const char* name, std::size_t index) {
    return index == 0 ? name : fmt::format("{}_{}", name, index + 1);
}

std::string clock(int minute) {
    return fmt::format("{:02}:{:02}:00", minute / 60, minute % 60);
}

class Converter {
  public:
    explicit Converter(const objects::Snapshot* current) : current_(current) {}

    void config(const ConfigFile& file) {
        file_ = &file;
        set(ObjectType::policy, kPolicy, "algorithm", "origin", file.file);
        for (const Setting& setting : file.settings)
            set(ObjectType::policy, kPolicy, setting.option->attribute, setting.value, source(setting));
        prime_time(file);
        notes(file.notes);
        tell_unless_in_force();
    }

    void sched_config(const SchedConfig& file, const SchedPolicies& policies, bool prime_is_known) {
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
                out_.report.notes.emplace_back(
                    fmt::format("{}: prime and non-prime time differ, and no time_window of type prime says "
                                "which is which: "
                                "until there is one, {} runs at all times, with the values of prime time",
                                file.file, kPolicy));
        } else {
            tell_unless_in_force();
        }
        notes(file.notes);
        notes(policies.notes);
    }

    void holidays(const HolidaysFile& file) {
        for (const Holiday& day : file.days) non_work_day(file.file, day.line, day.description, day.rule());
    }

    void pbs_holidays(const PbsHolidays& file) {
        if (!file.in_use()) {
            out_.report.notes.emplace_back(
                fmt::format("{}: without YEAR the file means nothing: it is always prime time", file.file));
            return;
        }
        const auto windows = prime_windows(file);
        for (std::size_t i = 0; i < windows.size(); ++i)
            prime_window(numbered(kPrimeTime, i), windows[i], file.file);
        for (const PbsHoliday& day : file.days)
            non_work_day(file.file, day.line, day.description, day.rule());
        if (!file.days.empty())
            out_.report.notes.emplace_back(
                fmt::format("{}: the holidays of {} count in every year by their number, as they did; 02/29 "
                            "moves those after it by a day: MM/DD in non_work_days doesn't move",
                            file.file, file.year));
    }

    void dedicated_time(const DedicatedTime& file, const std::optional<std::chrono::sys_seconds>& now) {
        std::vector<DedicatedPeriod> ahead;
        for (const DedicatedPeriod& period : file.periods) {
            // No zone is further than a day from UTC.
            if (!now || period.to.time_since_epoch() + std::chrono::days{1} >= now->time_since_epoch()) {
                ahead.push_back(period);
            } else {
                out_.report.notes.emplace_back(
                    fmt::format("{}:{}: is over, left out", file.file, period.line));
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
        return std::move(out_);
    }

  private:
    void notes(const std::vector<std::string>& more) {
        out_.report.notes.insert(out_.report.notes.end(), more.begin(), more.end());
    }

    void tell_unless_in_force() {
        if (current_ != nullptr && current_->policy_slots(kSched).all_time != kPolicy)
            out_.report.notes.emplace_back(fmt::format(
                "the scheduler `{1}` doesn't run {0}: set sched {1} policy = {0} puts it in force", kPolicy,
                kSched));
    }

    void non_work_day(const std::string& file, int number, const std::string& description,
                      const std::string& rule) {
        Report::Line line{fmt::format("{}:{} {}", file, number, description), "server non_work_days", rule,
                          true};
        if (description.empty()) line.source.pop_back();
        if (is_non_work_day(rule)) {
            line.changed = false;
        } else {
            out_.changes.commands.push_back(
                {CommandKind::set, ObjectType::server, "", {{"non_work_days", rule, Operation::increment}}});
        }
        out_.report.lines.push_back(std::move(line));
    }

    void prime_window(const std::string& name, const PrimeWindow& window, const std::string& file) {
        const std::string from = window.line == 0 ? file : fmt::format("{}:{}", file, window.line);
        create(ObjectType::time_window, name);
        set(ObjectType::time_window, name, "rrule", window.rrule, from);
        set(ObjectType::time_window, name, "start_time", clock(window.hours.start), from);
        set(ObjectType::time_window, name, "end_time", clock(window.hours.end), from);
        set(ObjectType::time_window, name, "applies_on_holidays", "False", from);
        set(ObjectType::time_window, name, "type", "prime", from);
    }

    void create(ObjectType type, const std::string& object) {
        if (current_ == nullptr || current_->find(type, object) == nullptr)
            out_.changes.commands.push_back({CommandKind::create, type, object, {}});
    }

    void set_all(ObjectType type, const std::string& object, const std::vector<SchedValue>& values,
                 const std::string& file) {
        for (const SchedValue& value : values) {
            const std::string line = value.line == 0 ? std::string() : fmt::format(":{}", value.line);
            set(type, object, value.attribute, value.value,
                fmt::format("{}{} {}{}", file, line, value.option, value.line == 0 ? " (not set)" : ""));
        }
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
        if (!value) return refuse(from, value.error().message);
        const objects::Object* there = current_ == nullptr ? nullptr : current_->find(type, object);
        const objects::Value* old = there == nullptr ? nullptr : there->set_value(*attribute);
        const std::string shown = objects::format_value(*attribute, *value);
        const bool changed = old == nullptr || *old != *value;
        out_.report.lines.push_back(
            {from, fmt::format("{} {} {}", objects::type_name(type), object, attribute->name), shown,
             changed});
        if (changed)
            out_.changes.commands.push_back(
                {CommandKind::set, type, object, {{std::string(attribute->name), shown, Operation::set}}});
    }

    void refuse(const std::string& from, std::string message) {
        problems_.push_back({from, 0, 0, "", std::move(message)});
    }

    bool is_non_work_day(const std::string& rule) const {
        if (current_ == nullptr) return false;
        const auto days = current_->non_work_days();
        return std::find(days.begin(), days.end(), rule) != days.end();
    }

    const objects::Snapshot* current_;
    const ConfigFile* file_ = nullptr;
    Conversion out_;
    Problems problems_;
};

}  // namespace

Result<Conversion> convert(const std::optional<ConfigFile>& config,
                           const std::optional<HolidaysFile>& holidays, const objects::Snapshot* current) {
    Converter converter(current);
    if (config) converter.config(*config);
    if (holidays) converter.holidays(*holidays);
    return converter.finish();
}

Result<Conversion> convert(const SchedConfig& file, const std::optional<PbsHolidays>& holidays,
                           const Surroundings& server, const objects::Snapshot* current,
                           const std::optional<DedicatedTime>& dedicated) {
    auto policies = to_policies(file, server, kGroup);
    if (!policies) return tl::unexpected(std::move(policies.error()));
    const bool known = holidays && holidays->in_use();
    if (known && prime_windows(*holidays).empty() && policies->by_time()) {
        policies->all_time = std::move(policies->non_prime);
        policies->prime.clear();
        policies->non_prime.clear();
    }
    Converter converter(current);
    converter.sched_config(file, *policies, known);
    if (holidays) converter.pbs_holidays(*holidays);
    if (dedicated) converter.dedicated_time(*dedicated, server.now);
    return converter.finish();
}

bool is_converted(const objects::Snapshot& snapshot) {
    const objects::Object* policy = snapshot.policy(kPolicy);
    if (policy == nullptr) return false;
    if (policy->text("algorithm") == "origin") return true;
    // Of a sched_config file these are always set.
    return policy->is_set("by_queue") && policy->is_set("help_starving_jobs") && policy->is_set("preemption");
}

std::string to_qmgr(const objects::ChangeSet& changes) {
    std::string out;
    for (const Command& command : changes.commands) out += objects::to_text(command) + "\n";
    return out;
}

}  // namespace pbs::migrate
