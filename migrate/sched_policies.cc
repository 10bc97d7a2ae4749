#include "migrate/sched_policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "ifl/attributes/built_in_resources.h"
#include "migrate/qmgr_print.h"
#include "migrate/words.h"
#include "objects/resources.h"

namespace pbs::migrate {
namespace {

using A = SchedArgument;
using T = SchedTarget;
using Settings = std::vector<const SchedSetting*>;

std::string joined(const std::vector<std::string>& items) {
    return fmt::format("{}", fmt::join(items, ","));
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        out.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

// Returns the order of jobs: the value of sort_by, else the job_sort_keys. With sort_by: multi_sort, the keys
// count, too.
std::string job_order(const Settings& settings) {
    const auto sort_by = std::ranges::find(settings, A::sort_by, [](auto* s) { return s->option->argument; });
    const bool multi_sort = sort_by != settings.end() && (*sort_by)->value == "multi_sort";
    if (sort_by != settings.end() && !multi_sort) return (*sort_by)->value;
    std::vector<std::string> keys;
    for (const SchedSetting* setting : settings) {
        const bool counts = setting->option->argument == A::job_sort_key ||
                            (multi_sort && setting->option->argument == A::key);
        if (counts && !setting->value.empty() && std::ranges::find(keys, setting->value) == keys.end())
            keys.push_back(setting->value);
    }
    return joined(keys);
}

// Joins the values of lines of one list, each value once.
std::string elements(const Settings& settings) {
    std::vector<std::string> list;
    for (const SchedSetting* setting : settings)
        if (!setting->value.empty() && std::ranges::find(list, setting->value) == list.end())
            list.push_back(setting->value);
    return joined(list);
}

class Converter {
  public:
    Converter(const SchedConfig& file, const Surroundings& server, const std::string& fs_group, bool shares)
        : file_(file), server_(server), fs_group_(fs_group), shares_(shares) {}

    Result<SchedPolicies> convert() {
        if (has_fairshare()) out_.fs_group = values(T::fs_group, kPrimeTime);
        out_.all_time = values(T::policy, kPrimeTime);
        auto non_prime = values(T::policy, kNonPrimeTime);
        if (!same_values(out_.all_time, non_prime)) {
            out_.prime = out_.all_time;
            out_.non_prime = std::move(non_prime);
        }
        tell_removed();
        tell_programs();
        note_checked();
        tell_unknown_resources();
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        return std::move(out_);
    }

  private:
    bool has_fairshare() const {
        return shares_ || std::ranges::any_of(file_.settings, [](const SchedSetting& s) {
                   return s.option->target == T::fs_group ||
                          (s.option->attribute == "fairshare" && s.value == "True") ||
                          (s.option->attribute == "job_sort_key" && s.value.starts_with("fairshare_perc"));
               });
    }

    // Returns whether the file is TORQUE's: an option in force is one that only TORQUE's scheduler read.
    bool is_torques() const {
        return std::ranges::any_of(file_.settings, [](const SchedSetting& s) {
            return (s.option->flags & torque) != 0 && s.columns != 0;
        });
    }

    static bool same_values(const std::vector<SchedValue>& a, const std::vector<SchedValue>& b) {
        return std::ranges::equal(a, b, [](const SchedValue& x, const SchedValue& y) {
            return x.attribute == y.attribute && x.value == y.value;
        });
    }

    // Returns a value for each attribute that the file sets in this column, or for which the old schedulers
    // had another default.
    std::vector<SchedValue> values(T target, unsigned column) {
        std::vector<SchedValue> out;
        std::set<std::string_view> done;
        for (const SchedOption& option : sched_options()) {
            if (option.target != target || !done.insert(option.attribute).second) continue;
            if (option.attribute == "fairshare" && has_fairshare())
                out.push_back({"fairshare_group", fs_group_, std::string(option.name), 0});
            const Settings settings = settings_of(target, option.attribute, column);
            std::string text = settings.empty() ? std::string(option.absent) : text_of(option, settings);
            if (text.empty()) continue;
            if (option.attribute == "provision_policy" && left_out(*settings.back(), text)) continue;
            SchedValue value{std::string(option.attribute), std::move(text), std::string(option.name), 0};
            if (!settings.empty()) {
                value.option = settings.front()->option->name;
                value.line = settings.front()->line;
            }
            check(value, target);
            // With TORQUE's scheduler all queues took turns, whatever their priorities.
            if (option.attribute == "round_robin" && value.value == "True" && is_torques())
                out.push_back({"round_robin_all", value.value, value.option, value.line});
            out.push_back(std::move(value));
        }
        return out;
    }

    // Returns whether a provision_policy is left out, and adds a note the first time. Any value but the
    // default is: only pbs_sched provisions vnodes, and the server would refuse the value.
    bool left_out(const SchedSetting& setting, std::string_view value) {
        const auto* attribute = objects::find_attribute(objects::ObjectType::policy, "provision_policy");
        if (server_.same_scheduler || value == attribute->default_value) return false;
        if (!std::exchange(told_of_provisioning_, true))
            note(setting, "is left out: this server provisions no vnodes");
        return true;
    }

    Settings settings_of(T target, std::string_view attribute, unsigned column) const {
        Settings found;
        for (const SchedSetting& setting : file_.settings)
            if (setting.option->target == target && setting.option->attribute == attribute &&
                (setting.columns & column) != 0)
                found.push_back(&setting);
        return found;
    }

    std::string text_of(const SchedOption& option, const Settings& settings) const {
        if (option.attribute == "job_sort_key") return job_order(settings);
        if (option.attribute == "node_sort_key") return elements(settings);
        if (option.argument == A::resources) return excluded(settings);
        if (option.argument == A::prefix) return joined(queues_with(settings.back()->value));
        return (option.flags & repeats) != 0 ? elements(settings) : settings.back()->value;
    }

    // Returns the value of exclude_resources: the consumable resources and the site's own ones that the
    // option `resources` doesn't name, since the older schedulers didn't check them.
    std::string excluded(const Settings& settings) const {
        const auto usual = usual_consumables();
        std::set<std::string> left(usual.begin(), usual.end());
        // Skip the built-in resources, which a running server also reports.
        for (const auto* names : {&server_.consumables, &server_.others})
            for (const std::string& name : *names)
                if (ifl::find_built_in_resource(name) == nullptr) left.insert(name);
        for (const SchedSetting* setting : settings)
            for (const std::string& name : split(setting->value)) left.erase(name);
        for (const std::string& name : server_.vnode_booleans) left.erase(name);
        return joined({left.begin(), left.end()});
    }

    void note_checked() {
        const objects::ResourceNames usual;
        std::set<std::string> names;
        for (const SchedSetting& setting : file_.settings)
            if (setting.option->name == "resources")
                for (std::string& name : split(setting.value))
                    if (!usual.contains(name)) names.insert(std::move(name));
        out_.checked.assign(names.begin(), names.end());
    }

    // Adds a note for each name in the option `resources` that is no known resource, as the older schedulers
    // logged it.
    void tell_unknown_resources() {
        for (const SchedSetting& setting : file_.settings) {
            if (setting.option->name != "resources") continue;
            for (const std::string& name : split(setting.value)) {
                const bool is_new = std::ranges::find(out_.checked, name) != out_.checked.end() &&
                                    std::ranges::find(told_resources_, name) == told_resources_.end();
                if (!is_new || known_resource(name)) continue;
                told_resources_.push_back(name);
                note(setting, fmt::format("'{}' is not a known resource; the name counts once it is",
                                          printable(name)));
            }
        }
    }

    bool known_resource(const std::string& name) const {
        return std::ranges::any_of(
            std::array{&server_.consumables, &server_.others, &server_.vnode_booleans},
            [&](const auto* names) { return std::ranges::find(*names, name) != names->end(); });
    }

    std::vector<std::string> queues_with(const std::string& prefix) const {
        std::vector<std::string> found;
        for (const std::string& queue : server_.queues)
            if (!prefix.empty() && queue.starts_with(prefix)) found.push_back(queue);
        std::ranges::sort(found);
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    // Checks a whole value: the parser has checked single lines, but a list of many may be too long.
    void check(const SchedValue& value, T target) {
        const auto type = target == T::fs_group ? objects::ObjectType::fs_group : objects::ObjectType::policy;
        const auto parsed =
            objects::parse_value(*objects::find_attribute(type, value.attribute), value.value);
        if (!parsed) problems_.push_back({file_.file, value.line, 0, value.option, parsed.error().message});
    }

    void tell_removed() {
        for (const SchedSetting& setting : file_.settings) {
            const SchedOption& option = *setting.option;
            if (option.target != T::removed && option.argument != A::prefix) continue;
            if (setting.value == kNoPrefix) continue;
            const auto queues =
                option.argument == A::prefix ? queues_with(setting.value) : std::vector<std::string>{};
            if (server_.same_scheduler) {
                if (option.target == T::removed)
                    note(setting,
                         "stays in the file, where pbs_sched reads it; policies have no attribute for it");
            } else if (option.target == T::removed) {
                std::string text = fmt::format("is removed: {}", option.instead);
                if (!queues.empty()) text += fmt::format(", for {}", fmt::join(queues, ", "));
                if (queues.empty() && option.argument == A::prefix && !setting.value.empty())
                    text +=
                        fmt::format("; no queue's name begins with {} yet: migrate again once there is one",
                                    setting.value);
                note(setting, std::move(text));
            } else if (queues.empty() && !setting.value.empty()) {
                note(setting,
                     fmt::format("no queue's name begins with {}; dedicated_queues of the policy names the "
                                 "queues themselves: migrate again once there is one",
                                 setting.value));
            }
        }
    }

    // Adds a note for each program of server_dyn_res that ran with root's rights under pbs_sched and loses
    // them.
    void tell_programs() {
        if (server_.same_scheduler) return;
        for (const SchedSetting& setting : file_.settings)
            if (setting.option->name == "server_dyn_res" &&
                !server_.root_programs.contains(objects::dynamic_resource(setting.value)))
                note(setting,
                     fmt::format("{} runs without root's rights unless server_priv/root_programs lists it; "
                                 "the first start of a server lists the programs that root has configured",
                                 objects::dynamic_resource(setting.value)));
    }

    void note(const SchedSetting& setting, std::string text) {
        out_.notes.push_back(to_text(
            Problem{file_.file, setting.line, 0, std::string(setting.option->name), std::move(text)}));
    }

    const SchedConfig& file_;
    const Surroundings& server_;
    const std::string& fs_group_;
    bool shares_;
    bool told_of_provisioning_ = false;
    std::vector<std::string> told_resources_;
    SchedPolicies out_;
    Problems problems_;
};

}  // namespace

std::optional<bool> Surroundings::has(objects::ObjectType type, std::string_view name) const {
    const auto in = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, name) != names.end();
    };
    if (type == objects::ObjectType::queue && !queues.empty()) return in(queues);
    if (type == objects::ObjectType::resource && !(consumables.empty() && others.empty()))
        return in(consumables) || in(others);
    return std::nullopt;
}

Result<SchedPolicies> to_policies(const SchedConfig& file, const Surroundings& server,
                                  const std::string& fs_group, bool shares) {
    return Converter(file, server, fs_group, shares).convert();
}

std::vector<std::string> usual_consumables() {
    std::vector<std::string> names;
    for (const ifl::BuiltInResource& resource : ifl::built_in_resources())
        if (uses_up(resource.flags)) names.emplace_back(resource.name);
    std::ranges::sort(names);
    return names;
}

objects::Object policy_object(const std::string& name, const std::vector<SchedValue>& values) {
    objects::Object policy(objects::ObjectType::policy, name);
    for (const SchedValue& value : values) {
        const objects::Attribute& attribute =
            *objects::find_attribute(objects::ObjectType::policy, value.attribute);
        if (auto parsed = objects::parse_value(attribute, value.value))
            policy.assign(attribute, *std::move(parsed));
    }
    return policy;
}

}  // namespace pbs::migrate
