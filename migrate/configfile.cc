#include "migrate/configfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "migrate/arguments.h"
#include "migrate/sched_config.h"
#include "migrate/words.h"
#include "objects/queue_roles.h"
#include "objects/spelling.h"
#include "objects/value.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using T = ArgumentType;

// The options, as the guide spells them. `other_name`: a different spelling in the guide's overview or
// elsewhere.
constexpr Option kOptions[] = {
    // Queues
    {"SUBMIT_QUEUE", T::queue},
    {"BATCH_QUEUES", T::queues},
    {"SPECIAL_QUEUE", T::queue},
    {"DEDICATED_QUEUES", T::queues, "DEDICATED_QUEUE"},
    {"EXTERNAL_QUEUES", T::queues},
    {"BACKGROUND_QUEUE_NAME", T::queue},
    {"CHALLENGE_QUEUE_NAME", T::queue},
    {"SCHED_HOST", T::host},
    {"SERVER_HOST", T::host},
    // Prime time
    {"PRIME_TIME_WALLT_LIMIT", T::timespec},
    {"PRIME_TIME_START", T::clock},
    {"PRIME_TIME_END", T::clock},
    {"ENFORCE_PRIME_TIME", T::boolean},
    // Walltime limits by size
    {"SMALL_JOB_MAX", T::integer},
    {"WALLT_LIMIT_SMALL_JOB", T::timespec, "WALLT_SMALL_LIMIT"},
    {"WALLT_LIMIT_LARGE_JOB", T::timespec, "WALLT_LARGE_LIMIT"},
    {"PRIME_TIME_SMALL_NODE_LIMIT", T::integer},
    {"PRIME_TIME_SMALL_WALLT_LIMIT", T::timespec},
    // Dedicated time
    {"ENFORCE_DEDICATED_TIME", T::boolean},
    {"DEDICATED_TIME_COMMAND", T::program},
    {"DEDICATED_TIME_CACHE_SECS", T::integer},
    {"SYSTEM_NAME", T::host},
    {"MAX_DEDICATED_JOBS", T::integer},
    // Draining
    {"NONPRIME_DRAIN_SYS", T::boolean, "NON_PRIME_DRAIN_SYS"},
    {"NP_DRAIN_BACKTIME", T::timespec},
    {"NP_DRAIN_IDLETIME", T::timespec},
    // Hosts
    {"MAX_JOBS", T::integer},
    {"MIN_JOBS", T::integer},
    {"MAX_USER_RUN_JOBS", T::integer},
    {"TARGET_LOAD_PCT", T::percentage},
    {"TARGET_LOAD_VARIANCE", T::variance},
    {"HIGH_SYSTIME", T::percentage},
    // Allocations and past usage
    {"ENFORCE_ALLOCATION", T::boolean},
    {"SCHED_ACCT_DIR", T::pathname},
    {"SORT_BY_PAST_USAGE", T::boolean},
    {"DECAY_FACTOR", T::real},
    {"OA_DECAY_FACTOR", T::real},
    // Waiting jobs
    {"MAX_QUEUED_TIME", T::timespec},
    {"INTERACTIVE_LONG_WAIT", T::timespec},
    // Other options
    {"SORTED_JOB_DUMPFILE", T::pathname, "SORTED_JOB_FILE"},
    {"MANAGE_HPM_COUNTERS", T::boolean},
    {"REVOKE_HPM_COUNTERS", T::boolean},
    {"SCHED_RESTART_ACTION", T::restart},
    {"SMALL_QUEUED_TIME", T::timespec},
    {"AVOID_FRAGMENTATION", T::boolean},
    {"TEST_ONLY", T::boolean},
    {"FAKE_MACHINE_MULT", T::integer},
};

// An option, and the options that have to be set if it is on: the guide marks them "(required)". The table
// lacks options with a default, such as SORT_BY_PAST_USAGE beside the decay factors, and
// DEDICATED_TIME_CACHE_SECS, which the guide's overview calls optional.
struct Requirement {
    std::string_view option;
    std::array<std::string_view, 3> needs;
    // The case in which the Origin scheduler itself refused to start without `needs`. `never`: only the guide
    // requires them.
    enum { never, with_prime_time, always } enforced = never;
};
constexpr Requirement kRequirements[] = {
    {"DEDICATED_QUEUES", {"DEDICATED_TIME_COMMAND"}},
    {"PRIME_TIME_WALLT_LIMIT", {"PRIME_TIME_START", "PRIME_TIME_END"}},
    {"PRIME_TIME_START", {"PRIME_TIME_END", "PRIME_TIME_WALLT_LIMIT"}},
    {"PRIME_TIME_END", {"PRIME_TIME_START", "PRIME_TIME_WALLT_LIMIT"}},
    {"ENFORCE_PRIME_TIME",
     {"PRIME_TIME_START", "PRIME_TIME_END", "PRIME_TIME_WALLT_LIMIT"},
     Requirement::always},
    {"SMALL_JOB_MAX", {"WALLT_LIMIT_SMALL_JOB", "WALLT_LIMIT_LARGE_JOB"}, Requirement::always},
    {"WALLT_LIMIT_SMALL_JOB", {"SMALL_JOB_MAX"}},
    {"WALLT_LIMIT_LARGE_JOB", {"SMALL_JOB_MAX"}},
    {"PRIME_TIME_SMALL_NODE_LIMIT", {"PRIME_TIME_SMALL_WALLT_LIMIT"}, Requirement::with_prime_time},
    {"PRIME_TIME_SMALL_NODE_LIMIT", {"PRIME_TIME_WALLT_LIMIT", "ENFORCE_PRIME_TIME"}},
    {"PRIME_TIME_SMALL_WALLT_LIMIT", {"PRIME_TIME_SMALL_NODE_LIMIT"}, Requirement::with_prime_time},
    {"PRIME_TIME_SMALL_WALLT_LIMIT", {"PRIME_TIME_WALLT_LIMIT", "ENFORCE_PRIME_TIME"}},
    {"ENFORCE_DEDICATED_TIME", {"DEDICATED_TIME_COMMAND"}, Requirement::always},
    {"DEDICATED_TIME_COMMAND", {"ENFORCE_DEDICATED_TIME"}},
    {"DEDICATED_TIME_CACHE_SECS", {"ENFORCE_DEDICATED_TIME"}},
    {"SYSTEM_NAME", {"ENFORCE_DEDICATED_TIME"}},
    {"NONPRIME_DRAIN_SYS", {"ENFORCE_PRIME_TIME"}},
    {"NP_DRAIN_BACKTIME", {"NP_DRAIN_IDLETIME", "NONPRIME_DRAIN_SYS", "ENFORCE_PRIME_TIME"}},
    {"NP_DRAIN_IDLETIME", {"NP_DRAIN_BACKTIME", "NONPRIME_DRAIN_SYS", "ENFORCE_PRIME_TIME"}},
    {"ENFORCE_ALLOCATION", {"SCHED_ACCT_DIR"}},
    {"SCHED_ACCT_DIR", {"ENFORCE_ALLOCATION"}},
    {"INTERACTIVE_LONG_WAIT", {"ENFORCE_PRIME_TIME"}},
    {"REVOKE_HPM_COUNTERS", {"MANAGE_HPM_COUNTERS"}, Requirement::always},
    {"SMALL_QUEUED_TIME", {"MAX_QUEUED_TIME"}},
    {"FAKE_MACHINE_MULT", {"TEST_ONLY"}},
};

// Setting::value of an option whose argument can't be read.
constexpr const char* kBad = "?";

// Options that even a minimal configuration needs.
constexpr std::string_view kAlways[] = {"SUBMIT_QUEUE", "BATCH_QUEUES"};

const Option* find_option(std::string_view name) {
    for (const Option& option : kOptions)
        if (option.name == name || (!option.other_name.empty() && option.other_name == name)) return &option;
    return nullptr;
}

// Returns the message for a name that is no option. It suggests the option that was perhaps meant.
std::string unknown_option(std::string_view name) {
    const std::string upper = values::uppered(name);
    if (find_option(upper) != nullptr)
        return fmt::format("{} is not an option: names are upper-case, expected {}", in_quotes(name), upper);
    std::string message = fmt::format("{} is not an option of the Origin scheduler", in_quotes(name));
    for (const Option& option : kOptions) {
        if (objects::nearly_same(upper, option.name))
            return message + fmt::format(", perhaps {} was meant", option.name);
    }
    return message;
}

class ConfigFileReader {
  public:
    explicit ConfigFileReader(const std::string& file) : file_(file) { result_.file = file; }

    void read_line(std::string_view line, int number) {
        const auto words = words_of(line, '#');
        if (words.empty()) return;
        const Option* option = find_option(words[0].text);
        if (option == nullptr)
            return problem(number, words[0].column, words[0].text, unknown_option(words[0].text));
        const std::string_view name = words[0].text;
        if (words.size() == 1)
            return problem(number, words[0].column + static_cast<int>(name.size()), name,
                           "the argument is missing, expected one");
        if (words.size() > 2)
            mistake(number, words[2].column, name,
                    fmt::format("{} is one word too many, expected one argument without white space",
                                in_quotes(words[2].text)),
                    "it is left out");
        set(*option, name, words[1], number);
    }

    Result<ConfigFile> finish() {
        for (const Option& option : kOptions)
            if (const auto found = settings_.find(&option); found != settings_.end())
                result_.settings.push_back(found->second);
        require();
        check_queue_roles();
        if (problems_.empty()) return std::move(result_);
        std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
            return std::pair(a.line, a.column) < std::pair(b.line, b.column);
        });
        return tl::unexpected(std::move(problems_));
    }

  private:
    void problem(int line, int column, std::string_view option, std::string message) {
        problems_.push_back({file_, line, column,
                             in_quotes(option).substr(1, std::min<std::size_t>(option.size(), 60)),
                             std::move(message)});
    }

    void mistake(int line, int column, std::string_view option, std::string message, std::string then) {
        result_.mistakes.push_back(
            {file_, line, column, std::string(option), std::move(message), false, std::move(then)});
    }

    void set(const Option& option, std::string_view name, const Word& argument, int line) {
        // Store the option even if its argument is bad, so that the option isn't also reported as missing.
        Setting setting{&option, std::string(name), std::string(argument.text), kBad, line, argument.column};
        const auto value = read_argument(option.type, argument.text);
        if (!value) {
            problem(line, argument.column, name,
                    fmt::format("{} is not {}", in_quotes(argument.text), value.error()));
        } else {
            setting.value = option.type == T::program ? absolute(*value) : *value;
            check_attribute(setting);
        }
        if (option.type == T::boolean && value && *value == "False" && !plainly_false(argument.text))
            note(line, name,
                 fmt::format("{} is read as False, as any word but true, yes, on and 1",
                             in_quotes(argument.text)));
        store(std::move(setting));
    }

    // Makes a program's path absolute, because the server may run it from any folder. A relative path starts
    // in the scheduler's folder, where the configuration file is.
    std::string absolute(const std::string& program) const {
        if (program.starts_with('/')) return program;
        std::error_code ignored;
        const auto folder = std::filesystem::absolute(file_, ignored).parent_path();
        return (folder / program).lexically_normal().string();
    }

    // Checks the value against the range that the policy attribute allows.
    void check_attribute(const Setting& setting) {
        const auto* attribute =
            objects::find_attribute(objects::ObjectType::policy, setting.option->attribute());
        if (attribute == nullptr)
            return problem(setting.line, setting.column, setting.name,
                           "there is no such attribute of a policy");
        if (const auto value = objects::parse_value(*attribute, setting.value); !value)
            problem(setting.line, setting.column, setting.name, value.error().message);
    }

    // Returns the first element that both lists contain; empty if they share none.
    static std::string first_common(std::string_view a, std::string_view b) {
        const std::string all = "," + std::string(a) + ",";
        while (!b.empty()) {
            std::string element(b.substr(0, b.find(',')));
            if (all.find("," + element + ",") != std::string::npos) return element;
            b.remove_prefix(std::min(element.size() + 1, b.size()));
        }
        return {};
    }

    // Stores a setting. A later one replaces an earlier one, but lists of queues append.
    void store(Setting setting) {
        const auto [found, fresh] = settings_.try_emplace(setting.option, setting);
        if (fresh) return;
        Setting& old = found->second;
        if (setting.option->type == T::queues) {
            if (const std::string twice = first_common(old.value, setting.value); !twice.empty())
                return problem(
                    setting.line, setting.column, setting.name,
                    fmt::format("{} is in the list already, since line {}", in_quotes(twice), old.line));
            old.argument += "," + setting.argument;
            old.value += "," + setting.value;
            return;
        }
        note(setting.line, setting.name,
             fmt::format("replaces the value {} of line {}", in_quotes(old.argument), old.line));
        old = std::move(setting);
    }

    void note(int line, std::string_view name, const std::string& message) {
        result_.notes.push_back(fmt::format("{}:{}: {}: {}", file_, line, name, message));
    }

    void check_queue_roles() {
        const auto setting = [&](std::string_view attribute) -> const Setting* {
            const auto found = std::ranges::find_if(
                result_.settings, [&](const Setting& one) { return one.option->attribute() == attribute; });
            return found == result_.settings.end() ? nullptr : &*found;
        };
        const auto clash = objects::clashing_queues([&](std::string_view attribute) {
            std::vector<std::string> queues;
            if (const Setting* found = setting(attribute))
                for (const std::string_view queue : values::split_trimmed(found->value, ','))
                    if (queue != kBad) queues.emplace_back(queue);
            return queues;
        });
        if (!clash) return;
        const Setting& first = *setting(clash->attribute);
        const Setting& other = *setting(clash->other);
        problem(first.line, first.column, first.name,
                fmt::format("{} is in {} of line {} too, expected another queue", in_quotes(clash->queue),
                            other.name, other.line));
    }

    void require() {
        for (const std::string_view name : kAlways)
            if (result_.find(name) == nullptr && !misspelled(name))
                problem(0, 0, name, "is missing, expected in every configuration");
        for (const Requirement& requirement : kRequirements) {
            const Setting* setting = result_.find(requirement.option);
            if (setting == nullptr || !setting->on()) continue;
            for (const std::string_view need : requirement.needs) {
                if (need.empty() || result_.find(need) != nullptr || misspelled(need)) continue;
                std::string message = fmt::format("needs {} too, which isn't set", need);
                if (enforced(requirement)) {
                    problem(setting->line, 0, setting->name, std::move(message));
                } else {
                    mistake(setting->line, 0, setting->name, std::move(message), "it is set without it");
                }
            }
        }
    }

    bool enforced(const Requirement& requirement) const {
        if (requirement.enforced != Requirement::with_prime_time)
            return requirement.enforced == Requirement::always;
        const Setting* prime_time = result_.find("ENFORCE_PRIME_TIME");
        return prime_time != nullptr && prime_time->on();
    }

    // Returns whether a problem is about a word that is this option's name in any case of letters. The option
    // then isn't also reported as missing.
    bool misspelled(std::string_view name) const {
        return std::any_of(problems_.begin(), problems_.end(),
                           [&](const Problem& p) { return values::uppered(p.option) == name; });
    }

    const std::string& file_;
    ConfigFile result_;
    std::map<const Option*, Setting> settings_;
    Problems problems_;
};

}  // namespace

std::span<const Option> options() {
    return kOptions;
}

std::string Option::attribute() const {
    return values::lowered(name);
}

bool Setting::on() const {
    switch (option->type) {
        case T::boolean:
            return value != "False";
        case T::integer:
        case T::percentage:
            return value != "0";
        case T::timespec:
            return value != "00:00:00";
        default:
            return true;
    }
}

const Setting* ConfigFile::find(std::string_view option) const {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [&](const Setting& s) { return s.option->name == option; });
    return found == settings.end() ? nullptr : &*found;
}

bool is_configfile(std::string_view text) {
    std::size_t own = 0;
    std::size_t others = 0;
    for_each_line(text, [&](std::string_view line, int) {
        const auto words = words_of(line, '#');
        if (words.empty()) return;
        const std::string_view name = words[0].text.substr(0, words[0].text.find(':'));
        own += find_option(name) != nullptr ? 1 : 0;
        others +=
            std::ranges::find(sched_options(), name, &SchedOption::name) != sched_options().end() ? 1 : 0;
    });
    return own > others;
}

Result<ConfigFile> parse_configfile(std::string_view text, const std::string& file) {
    ConfigFileReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate
