// Exports the configuration file of an Origin scheduler.
#include <fmt/format.h>

#include <algorithm>

#include "migrate/configfile.h"
#include "migrate/export_parts.h"

namespace pbs::migrate {
namespace {

// Policy attributes that have no line in the file and aren't reported as left out: prime_time() writes the
// hours of prime time, and the file has no place for the algorithm and the comment.
constexpr std::string_view kOthers[] = {"algorithm", "comment", "prime_time_start", "prime_time_end"};

class ConfigFileWriter {
  public:
    explicit ConfigFileWriter(const ExportSource& source) : source_(source) {}

    Exported write() {
        const PoliciesByTime policies = policies_of(source_);
        if (policies.all_time == nullptr) {
            out_.left_out.push_back(fmt::format("sched {}: it has no policy", source_.sched));
            return std::move(out_);
        }
        const objects::Object& policy = *policies.all_time;
        out_.text = fmt::format("# policy {}\n", policy.name());
        if (policy.text("algorithm") != "origin")
            leave_out(
                fmt::format("policy {} algorithm = {}: the file is for a scheduler that orders jobs as "
                            "algorithm origin does",
                            policy.name(), policy.text("algorithm")));
        for (const objects::Object* other : {policies.prime, policies.non_prime})
            if (other != &policy && other != nullptr)
                leave_out(fmt::format("sched {} policy {}: the file has one policy for all times",
                                      source_.sched, other->name()));
        options(policy);
        prime_time(policy);
        others(policy);
        return std::move(out_);
    }

  private:
    void options(const objects::Object& policy) {
        for (const Option& option : pbs::migrate::options()) {
            const std::string name = option.attribute();
            if (std::ranges::find(kOthers, name) != std::end(kOthers)) continue;
            const auto* attribute = objects::find_attribute(objects::ObjectType::policy, name);
            const objects::Value* value = policy.set_value(*attribute);
            if (value == nullptr) continue;
            line(option.name, objects::format_value(*attribute, *value));
        }
    }

    // Writes the hours of prime time. They come from the time_window if there is one, since administrators
    // change the hours there.
    void prime_time(const objects::Object& policy) {
        const auto windows = source_.snapshot.time_windows_of_type("prime");
        const objects::Object* hours = nullptr;
        for (const objects::Object* window : windows) {
            if (hours == nullptr && is_working_days(*window)) {
                hours = window;
            } else {
                leave_out(
                    fmt::format("time_window {}: prime time in the file has one start and one end, on "
                                "Mondays to Fridays that aren't holidays",
                                window->name()));
            }
        }
        const objects::Object* from = hours != nullptr ? hours : windows.empty() ? &policy : nullptr;
        if (from == nullptr) return;
        const bool window = from == hours;
        time("PRIME_TIME_START", *from, window ? "start_time" : "prime_time_start", window ? "00:00:00" : "");
        time("PRIME_TIME_END", *from, window ? "end_time" : "prime_time_end", window ? "24:00:00" : "");
    }

    static bool is_working_days(const objects::Object& window) {
        if (window.boolean("applies_on_holidays")) return false;
        const auto week = week_hours(window);
        objects::Object days = window;
        const auto* rrule = objects::find_attribute(objects::ObjectType::time_window, "rrule");
        days.assign(*rrule, objects::Value(std::string("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")));
        return week && *week == week_hours(days);
    }

    void time(std::string_view option, const objects::Object& object, const char* name,
              const std::string& otherwise) {
        const auto* attribute = objects::find_attribute(object.type(), name);
        const objects::Value* value = object.set_value(*attribute);
        const std::string text = value == nullptr ? otherwise : objects::format_value(*attribute, *value);
        if (!text.empty()) line(option, text);
    }

    // Reports attributes of the policy and other objects that the file can't express.
    void others(const objects::Object& policy) {
        for (const auto& [index, value] : policy.values()) {
            const objects::Attribute& attribute = objects::attributes(objects::ObjectType::policy)[index];
            const bool option = std::ranges::any_of(pbs::migrate::options(), [&](const Option& one) {
                return one.attribute() == attribute.name;
            });
            if (!option && std::ranges::find(kOthers, attribute.name) == std::end(kOthers))
                leave_out(setting_text(policy, attribute, value) + ": the file has no such option");
        }
        for (const objects::Object* window : source_.snapshot.time_windows_of_type("dedicated"))
            leave_out(fmt::format(
                "time_window {}: the Origin scheduler takes dedicated times from DEDICATED_TIME_COMMAND",
                window->name()));
    }

    void line(std::string_view option, const std::string& text) {
        if (text.find_first_of(" \t#") != std::string::npos) {
            leave_out(fmt::format("{} {}: an argument in the file can't have blanks or #", option, text));
        } else {
            out_.text += fmt::format("{}\t{}\n", option, text);
        }
    }

    void leave_out(std::string text) { out_.left_out.push_back(std::move(text)); }

    const ExportSource& source_;
    Exported out_;
};

}  // namespace

Exported export_configfile(const ExportSource& source) {
    return ConfigFileWriter(source).write();
}

}  // namespace pbs::migrate
