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
constexpr const char* kPrimeTime = "prime_time";
constexpr const char* kWorkDays = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";

class Converter {
  public:
    explicit Converter(const objects::Snapshot* current) : current_(current) {}

    void config(const ConfigFile& file) {
        file_ = &file;
        set(ObjectType::policy, kPolicy, "algorithm", "origin", file.file);
        for (const Setting& setting : file.settings)
            set(ObjectType::policy, kPolicy, setting.option->attribute, setting.value, source(setting));
        prime_time(file);
        out_.report.notes.insert(out_.report.notes.end(), file.notes.begin(), file.notes.end());
        if (current_ != nullptr && current_->policy_slots("default").all_time != kPolicy)
            out_.report.notes.emplace_back(fmt::format(
                "the scheduler `default` doesn't run {0}: set sched default policy = {0} puts it in force",
                kPolicy));
    }

    void holidays(const HolidaysFile& file) {
        for (const Holiday& day : file.days) {
            Report::Line line{fmt::format("{}:{} {}", file.file, day.line, day.description),
                              "server non_work_days", day.rule(), true};
            if (day.description.empty()) line.source.pop_back();
            if (is_non_work_day(day.rule())) {
                line.changed = false;
            } else {
                out_.changes.commands.push_back({CommandKind::set,
                                                 ObjectType::server,
                                                 "",
                                                 {{"non_work_days", day.rule(), Operation::increment}}});
            }
            out_.report.lines.push_back(std::move(line));
        }
    }

    Result<Conversion> finish() {
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        return std::move(out_);
    }

  private:
    std::string source(const Setting& setting) const {
        return fmt::format("{}:{} {}", file_->file, setting.line, setting.name);
    }

    void prime_time(const ConfigFile& file) {
        const Setting* start = file.find("PRIME_TIME_START");
        const Setting* end = file.find("PRIME_TIME_END");
        if (start == nullptr || end == nullptr) return;
        if (current_ == nullptr || current_->time_window(kPrimeTime) == nullptr)
            out_.changes.commands.push_back({CommandKind::create, ObjectType::time_window, kPrimeTime, {}});
        const std::string hours = fmt::format("{} and {}", source(*start), end->name);
        set(ObjectType::time_window, kPrimeTime, "rrule", kWorkDays, hours);
        set(ObjectType::time_window, kPrimeTime, "start_time", start->value, source(*start));
        set(ObjectType::time_window, kPrimeTime, "end_time", end->value, source(*end));
        set(ObjectType::time_window, kPrimeTime, "applies_on_holidays", "False", hours);
        set(ObjectType::time_window, kPrimeTime, "type", "prime", hours);
    }

    // Sets an attribute unless it has that value already. A value equal to the default is set too, so that
    // the file's choice survives a change of defaults and can be seen.
    void set(ObjectType type, const char* object, std::string_view name, const std::string& text,
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

std::string to_qmgr(const objects::ChangeSet& changes) {
    std::string out;
    for (const Command& command : changes.commands) out += objects::to_text(command) + "\n";
    return out;
}

}  // namespace pbs::migrate
