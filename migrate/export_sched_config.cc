// Exports the sched_config file of PBS.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "migrate/export_parts.h"
#include "migrate/sched_config.h"
#include "migrate/sched_policies.h"

namespace pbs::migrate {
namespace {

using A = SchedArgument;
using T = SchedTarget;
using objects::Object;
using objects::ObjectType;

// Resources that jobs don't use up: pbs_sched compares them only if the option `resources` names them.
constexpr std::string_view kOtherResources = "aoe, arch, eoe, host, vnode";

std::string effective(const Object& object, const objects::Attribute& attribute) {
    const objects::Value* value = object.value(attribute.name);
    return value == nullptr ? std::string() : objects::format_value(attribute, *value);
}

class Writer {
  public:
    explicit Writer(const ExportSource& source)
        : source_(source),
          policies_(policies_of(source)),
          before_(parse_sched_config(source.before, "sched_config")) {}

    Exported write() {
        out_.text = "# Made from the policies of the scheduler\n";
        if (policies_.all_time == nullptr || policies_.prime == nullptr || policies_.non_prime == nullptr) {
            leave_out(fmt::format("sched {}: it has no policy", source_.sched));
            return std::move(out_);
        }
        tell_all_time();
        group_ = fs_group_of(source_);
        std::set<std::string_view> done;
        for (const SchedOption& option : sched_options()) {
            if (option.target == T::removed || !done.insert(option.attribute).second) continue;
            if (option.target == T::policy) policy_option(option);
            if (option.target == T::fs_group && group_ != nullptr) group_option(option);
        }
        for (const Object* policy : policies()) others(*policy, done);
        if (!written_.contains("dedicated_prefix")) queue_prefix("dedicated_prefix", "execution_dedicated");
        queue_prefix("primetime_prefix", "execution_prime");
        queue_prefix("nonprimetime_prefix", "execution_non_prime");
        for (const SchedSetting& setting : before_.settings)
            if (setting.option->argument == A::prefix ? !written_.contains(setting.option->name)
                                                      : setting.option->target == T::removed)
                keep(setting);
        // Write all three prefixes: without its line pbs_sched takes every queue to have the prefix, that is,
        // to be one of dedicated time, prime time or non-prime time.
        for (const std::string_view option : {"dedicated_prefix", "primetime_prefix", "nonprimetime_prefix"})
            if (!written_.contains(option)) out_.text += fmt::format("{}: {}\n", option, kNoPrefix);
        return std::move(out_);
    }

  private:
    bool by_time() const { return policies_.prime != policies_.non_prime; }

    std::vector<const Object*> policies() const {
        if (!by_time()) return {policies_.prime};
        return {policies_.prime, policies_.non_prime};
    }

    // Reports attributes of the all-time policy that differ from both the prime and the non-prime policy: the
    // file has columns for prime and non-prime time only.
    void tell_all_time() {
        if (!by_time()) return;
        const Object& all_time = *policies_.all_time;
        for (const objects::Attribute& attribute : objects::attributes(ObjectType::policy))
            if (attribute.name != "comment" &&
                effective(all_time, attribute) != effective(*policies_.prime, attribute) &&
                effective(all_time, attribute) != effective(*policies_.non_prime, attribute))
                leave_out(
                    fmt::format("policy {} {} = {}: the file has values for prime and non-prime time only",
                                all_time.name(), attribute.name, effective(all_time, attribute)));
    }

    void policy_option(const SchedOption& option) {
        const auto& attribute = *objects::find_attribute(ObjectType::policy, option.attribute);
        const std::string prime = text_of(option, *policies_.prime, attribute);
        const std::string non_prime = text_of(option, *policies_.non_prime, attribute);
        if (prime == non_prime) return lines(option, attribute, *policies_.prime, "");
        if ((option.flags & kByTimeFlag) == 0) {
            leave_out(fmt::format("policy {} {} = {}: {} is the same at all times in the file",
                                  policies_.non_prime->name(), attribute.name, non_prime, option.name));
            return lines(option, attribute, *policies_.prime, "");
        }
        lines(option, attribute, *policies_.prime, "\tprime");
        lines(option, attribute, *policies_.non_prime, "\tnon_prime");
    }

    // Returns an attribute's text for the file: the value that was set, or a default that differs from the
    // old scheduler's. Empty: no line is needed.
    static std::string text_of(const SchedOption& option, const Object& object,
                               const objects::Attribute& attribute) {
        if (object.set_value(attribute) == nullptr && option.absent.empty()) return {};
        return effective(object, attribute);
    }

    void lines(const SchedOption& option, const objects::Attribute& attribute, const Object& object,
               const std::string& column) {
        const std::string text = text_of(option, object, attribute);
        if (text.empty()) return;
        switch (option.argument) {
            case A::resources:
                return line(option, resources(object), column);
            case A::prefix:
                return prefix(option, object);
            case A::backfill:
                return backfill(option, object, column);
            case A::log_filter:
                return log_filter(option, object, column);
            default:
                break;
        }
        if (!attribute.is_list()) return line(option, text, column);
        for (const std::string& element : object.list(attribute.name))
            if (option.name == "server_dyn_res" && source_.root_programs != nullptr &&
                !source_.root_programs->contains(element))
                leave_out(
                    fmt::format("policy {} server_dyn_res = {}: pbs_sched would run it as root, and "
                                "server_priv/root_programs doesn't list it",
                                object.name(), element));
            else
                line(option, option.argument == A::job_sort_key ? old_name(element) : element, column);
    }

    // Translates a resource of job_sort_key to the name that pbs_sched has for it.
    static std::string old_name(const std::string& key) {
        constexpr std::string_view kNow = "fairshare_perc";
        return key.starts_with(kNow) ? "fair_share_perc" + key.substr(kNow.size()) : key;
    }

    // Returns the value of the option `resources`: all resources that exclude_resources doesn't name.
    std::string resources(const Object& policy) const {
        const auto excluded = policy.list("exclude_resources");
        std::vector<std::string> names = usual_consumables();
        for (const std::string& name : source_.consumables)
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        std::erase_if(names, [&](const std::string& name) {
            return std::find(excluded.begin(), excluded.end(), name) != excluded.end();
        });
        names.push_back(std::string(kOtherResources));
        for (const std::string& name : source_.others)
            if (std::ranges::find(names, name) == names.end() &&
                std::ranges::find(excluded, name) == excluded.end())
                names.push_back(name);
        return fmt::format("{}", fmt::join(names, ", "));
    }

    void prefix(const SchedOption& option, const Object& policy) {
        const auto queues = policy.list("dedicated_queues");
        std::vector<std::string> names(queues.begin(), queues.end());
        for (const std::string& name : queues_of("execution_dedicated"))
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        if (const SchedSetting* old = old_prefix(option.name, names)) return keep(*old);
        if (const std::string common = common_prefix(names); !common.empty()) return line(option, common, "");
        leave_out(fmt::format("policy {} dedicated_queues = {}: no prefix selects these queues alone",
                              policy.name(), fmt::join(names, ",")));
    }

    std::vector<std::string> queues_of(std::string_view type) const {
        std::vector<std::string> names;
        for (const FoundQueueType& queue : source_.queue_types)
            if (queue.type == type) names.push_back(queue.queue);
        return names;
    }

    void queue_prefix(std::string_view option, std::string_view type) {
        const std::vector<std::string> names = queues_of(type);
        // Write the option anew if the server's queue types are known: the earlier file's prefix may
        // contradict them.
        const bool says_other = source_.knows_queue_types && has(option);
        if (names.empty() && !says_other) return;
        if (const SchedSetting* old = old_prefix(option, names)) return keep(*old);
        const std::string common = common_prefix(names);
        for (const std::string& name : names)
            if (common.empty())
                leave_out(fmt::format(
                    "queue {} execution_type = {}: no prefix selects the queues of this type alone", name,
                    type));
        if (common.empty() && !says_other) return;
        out_.text += fmt::format("{}: {}\n", option, common.empty() ? kNoPrefix : common);
        written_.insert(option);
    }

    // Copies a line of the earlier file.
    void keep(const SchedSetting& setting) {
        const char* column = setting.columns == kPrimeTime      ? "\tprime"
                             : setting.columns == kNonPrimeTime ? "\tnon_prime"
                                                                : "";
        line(*setting.option, setting.value, column);
    }

    // Returns whether the earlier file has the option.
    bool has(std::string_view option) const {
        return std::ranges::any_of(before_.settings, [option](const SchedSetting& setting) {
            return setting.option->name == option;
        });
    }

    // Returns the earlier file's line of the option if its prefix still selects exactly these queues; null:
    // none.
    const SchedSetting* old_prefix(std::string_view option, const std::vector<std::string>& queues) const {
        const auto found = std::ranges::find_if(before_.settings, [option](const SchedSetting& setting) {
            return setting.option->name == option;
        });
        if (found == before_.settings.end() || found->value.empty()) return nullptr;
        const bool same = std::ranges::all_of(source_.queues, [&](const std::string& queue) {
            return queue.starts_with(found->value) == (std::ranges::find(queues, queue) != queues.end());
        });
        return same ? &*found : nullptr;
    }

    // Returns the longest common prefix of these names with which no other queue's name begins; empty: none.
    std::string common_prefix(const std::vector<std::string>& names) const {
        if (names.empty()) return {};
        std::string common = names.front().substr(0, 15);
        for (const std::string& name : names)
            while (!name.starts_with(common)) common.pop_back();
        const bool others = std::ranges::any_of(source_.queues, [&](const std::string& queue) {
            return queue.starts_with(common) && std::ranges::find(names, queue) == names.end();
        });
        return others ? std::string() : common;
    }

    void backfill(const SchedOption& option, const Object& policy, const std::string& column) {
        const auto depth = policy.integer("backfill_depth");
        line(option, depth == 0 ? "False" : "True", column);
        if (depth > 1)
            leave_out(
                fmt::format("policy {} backfill_depth = {}: the file has True and False only: set server "
                            "backfill_depth = {}",
                            policy.name(), depth, depth));
    }

    void log_filter(const SchedOption& option, const Object& policy, const std::string& column) {
        const auto events = policy.integer("log_event");
        line(option, std::to_string(kAllEvents & ~events), column);
        if ((events & ~kAllEvents) != 0)
            leave_out(fmt::format("policy {} log_event = {}: the file has classes up to {} only",
                                  policy.name(), events, kAllEvents));
    }

    void group_option(const SchedOption& option) {
        const auto& attribute = *objects::find_attribute(ObjectType::fs_group, option.attribute);
        const std::string text = text_of(option, *group_, attribute);
        if (!text.empty()) line(option, text, "");
    }

    // Reports attributes of the policies that the file can't express.
    void others(const Object& policy, const std::set<std::string_view>& done) {
        for (const auto& [index, value] : policy.values()) {
            const objects::Attribute& attribute = objects::attributes(ObjectType::policy)[index];
            if (done.contains(attribute.name) || attribute.name == "comment") continue;
            // Skip a value equal to the default, such as the first start of a server sets: the file needs no
            // line for it.
            if (effective(policy, attribute) == attribute.default_value) continue;
            if (attribute.name == "fairshare_group") {
                if (group_ != nullptr && policy.text("fairshare_group") != group_->name())
                    leave_out(setting_text(policy, attribute, value) + ": the file can have one tree only");
                continue;
            }
            const std::string instead = attribute.name == "job_sort_formula"
                                            ? ": with PBS it is an attribute of the server"
                                            : ": the file has no such option";
            leave_out(setting_text(policy, attribute, value) + instead);
        }
    }

    void line(const SchedOption& option, const std::string& text, const std::string& column) {
        const bool blanks = text.find_first_of(" \t#") != std::string::npos;
        const bool quoted = text.find('"') != std::string::npos;
        if (quoted && text.find('\'') != std::string::npos) {
            leave_out(
                fmt::format("{} {}: a value in the file can't have both kinds of quotes", option.name, text));
            return;
        }
        const char* quote = quoted ? "'" : blanks || text.empty() ? "\"" : "";
        out_.text += fmt::format("{}: {}{}{}{}\n", option.name, quote, text, quote, column);
        written_.insert(option.name);
    }

    void leave_out(std::string text) { out_.left_out.push_back(std::move(text)); }

    static constexpr unsigned kByTimeFlag = SchedOptionFlag::by_time;

    const ExportSource& source_;
    PoliciesByTime policies_;
    SchedConfig before_;
    std::set<std::string_view> written_;  // options with a line
    const Object* group_ = nullptr;
    Exported out_;
};

}  // namespace

Exported export_sched_config(const ExportSource& source) {
    return Writer(source).write();
}

}  // namespace pbs::migrate
