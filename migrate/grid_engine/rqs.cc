// Reads srqs: a resource quota set becomes a quota, with its rules.
//
// Lists of users and groups of hosts are replaced by their members, from su/ and shgrp/. A rule that a quota
// can't express is left out. If rules follow it, the quota is switched off, because they would count the jobs
// of the missing rule.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "migrate/grid_engine/output.h"
#include "migrate/grid_engine/resource_names.h"
#include "migrate/words.h"
#include "objects/forms.h"
#include "objects/quota_rule.h"
#include "objects/value.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

// The limit that stands for no limit, for a rule all of whose limits are INFINITY.
constexpr std::string_view kNoLimit = "jobs=2147483647";

struct ListElement {
    std::string_view text;  // without the '!'
    bool excluded = false;
};

struct FilterList {
    std::string_view subject;
    bool each = false;  // in braces: each value has a counter of its own
    std::vector<ListElement> elements;
};

constexpr std::array<std::string_view, 5> kSubjects = {"users", "projects", "pes", "queues", "hosts"};

class QuotaSetReader {
  public:
    QuotaSetReader(Output& out, const File& file)
        : out_(out), file_(file), sc_(out.folder().find("sc")), complexes_(sc_) {}

    void read() {
        for (const Line& line : file_.lines) {
            line_ = &line;
            lines_.push_back(&line);
            const std::string_view text = values::trim(line.text);
            if (text == "{" && !inside_) {
                begin();
            } else if (text == "}" && inside_) {
                end();
            } else if (inside_) {
                setting();
            } else {
                wrong(
                    text, "",
                    fmt::format("found {}, expected an opening brace on a line of its own", in_quotes(text)));
            }
        }
        if (!inside_) return;
        line_ = begin_;
        wrong(begin_->text, "", "the set has no closing brace, expected one on a line of its own");
    }

  private:
    void wrong(std::string_view part, std::string_view option, std::string message) {
        wrong_ = true;
        out_.problem(file_, *line_, part, option, std::move(message));
    }

    void begin() {
        inside_ = true;
        begin_ = line_;
        lines_ = {line_};
        name_.clear();
        rules_.clear();
        rule_names_.clear();
        given_names_.clear();
        seen_.clear();
        rule_number_ = 0;
        enabled_line_ = description_line_ = nullptr;
        enabled_ = false;
        wrong_ = left_out_ = incomplete_ = false;
    }

    void setting() {
        const Field field = field_of(*line_);
        if (field.name == "limit") return limit(field);
        if (!out_.is_first(file_, *line_, field.name, seen_)) {
            wrong_ = true;
            return;
        }
        if (field.value.empty())
            return wrong(field.name, "", fmt::format("{} has no value, expected one", in_quotes(field.name)));
        if (field.name == "name") {
            given_name_ = field.value;
            name_ = out_.name_of(file_, *line_, field.value, "quota");
        } else if (field.name == "description") {
            description_line_ = line_;
            description_ = field.value;
        } else if (field.name == "enabled") {
            const auto read = objects::parse_boolean("enabled", values::lowered(field.value));
            if (!read)
                return wrong(field.value, field.name,
                             fmt::format("{} is neither TRUE nor FALSE", in_quotes(field.value)));
            enabled_ = *read;
            enabled_line_ = line_;
        } else {
            wrong(
                field.name, "",
                fmt::format("found {}, expected name, description, enabled or limit", in_quotes(field.name)));
        }
    }

    void end() {
        inside_ = false;
        if (wrong_) return;
        if (name_.empty()) return wrong(line_->text, "", "the set has no name, expected a line name");
        if (!set_names_.insert(given_name_).second)
            return wrong(line_->text, name_, "is the name of an earlier set, expected another name");
        const std::string quota = out_.new_quota(file_, lines_, name_, given_name_);
        for (const Wanted& rule : rules_)
            out_.set(ObjectType::quota, quota, "rule", rule.value, rule.from, rule.key);
        describe(quota);
        const Line& at = enabled_line_ != nullptr ? *enabled_line_ : *begin_;
        if (incomplete_ && enabled_)
            out_.note(file_, at, name_,
                      "the quota is switched off, as it lacks rules: set quota " + quota +
                          " enabled = True switches it on as it is");
        out_.set(ObjectType::quota, quota, "enabled", enabled_ && !incomplete_ ? "True" : "False",
                 place_of(file_, {&at}, "enabled"));
    }

    void describe(const std::string& quota) {
        if (description_line_ == nullptr) return;
        std::string_view text = description_;
        if (text.size() > 1 && text.front() == '"' && text.back() == '"')
            text = text.substr(1, text.size() - 2);
        if (text.empty() || text == "NONE")
            return out_.left_out(file_, *description_line_, "description", "nothing to carry over: NONE");
        out_.set_checked(file_, *description_line_, {"description", description_}, ObjectType::quota, quota,
                         "comment", std::string(text));
    }

    // ---- A rule: limit [name NAME] [SUBJECT LIST]... to RESOURCE=LIMIT,...

    void limit(const Field& field) {
        rest_ = field.value;
        std::string_view name;
        std::vector<FilterList> filters;
        for (;;) {
            const std::string_view word = take_word();
            if (word.empty()) return wrong(rest_, "limit", "the rule ends, expected 'to' and limits");
            if (word == "to") break;
            if (word == "name") {
                name = take_word();
                continue;
            }
            if (std::ranges::find(kSubjects, word) == kSubjects.end())
                return wrong(word, "limit",
                             fmt::format("found {}, expected name, {} or to", in_quotes(word),
                                         fmt::join(kSubjects, ", ")));
            if (std::ranges::find(filters, word, &FilterList::subject) != filters.end())
                return wrong(word, "limit", fmt::format("{} is there twice", word));
            FilterList filter{word, false, {}};
            if (!take_list(filter)) return;
            filters.push_back(std::move(filter));
        }
        if (rest_.empty()) return wrong(rest_, "limit", "the rule ends, expected limits such as slots=10");
        rule(name, filters, rest_);
    }

    std::string_view take_word() {
        const std::string_view word = word_at(rest_, 0);
        rest_ =
            values::trim(rest_.substr(static_cast<std::size_t>(word.data() - rest_.data()) + word.size()));
        return word;
    }

    // Reads a list. Blanks may be in its braces and behind its commas.
    bool take_list(FilterList& filter) {
        std::size_t end = 0;
        if (rest_.starts_with('{')) {
            filter.each = true;
            end = rest_.find('}');
            if (end == std::string_view::npos) {
                wrong(rest_, "limit", "the list has no closing brace, expected one");
                return false;
            }
        } else {
            for (end = 0; end < rest_.size(); ++end) {
                if (!values::is_space(rest_[end])) continue;
                const std::string_view before = values::trim(rest_.substr(0, end));
                if (!before.ends_with(',') && !values::trim(rest_.substr(end)).starts_with(',')) break;
            }
        }
        std::string_view list = rest_.substr(filter.each ? 1 : 0, filter.each ? end - 1 : end);
        for (const std::string_view part : values::split(list, ',')) {
            std::string_view element = values::trim(part);
            const bool excluded = element.starts_with('!');
            if (excluded) element.remove_prefix(1);
            if (element.empty() || element.find_first_of("{}!\"'= \t") != std::string_view::npos) {
                wrong(part, "limit",
                      fmt::format("found {}, expected a name or pattern", in_quotes(values::trim(part))));
                return false;
            }
            filter.elements.push_back({element, excluded});
        }
        rest_ = values::trim(rest_.substr(std::min(filter.each ? end + 1 : end, rest_.size())));
        return true;
    }

    void rule(std::string_view name, const std::vector<FilterList>& filters, std::string_view limits) {
        if (!name.empty() && !given_names_.insert(name).second)
            return wrong(
                name, "limit",
                fmt::format("{} is the name of an earlier rule, expected each name once", in_quotes(name)));
        const std::string key = rule_key(name);
        why_not_ = {};
        never_ = shapes_ = unlimited_ = false;
        bool by_hosts = false;
        std::string text;
        for (const FilterList& filter : filters) text += filter_text(filter, by_hosts);
        text += "to " + limits_text(limits, by_hosts);
        if (never_) return out_.note(file_, *line_, key, "the rule is left out: a list in it has no members");
        if (!why_not_.empty()) {
            left_out_ = true;
            return out_.note(file_, *line_, key, "the rule is left out: " + why_not_);
        }
        if (unlimited_)
            out_.note(file_, *line_, key,
                      fmt::format("INFINITY is {} here, which no job reaches: a rule has a limit", kNoLimit));
        incomplete_ = incomplete_ || left_out_;
        if (wrong_) return;
        const auto* row = objects::find_attribute(ObjectType::quota, "rule");
        if (const auto read = objects::value_of_items(*row, {fmt::format("{}: {}", key, text)}); !read)
            return wrong(limits, "limit", read.error().message);
        if (shapes_)
            out_.note(file_, *line_, key,
                      "jobs of several chunks (multi) are those that had a parallel environment (pes)");
        rules_.push_back({ObjectType::quota, {}, "rule", text, place_of(file_, {line_}, "limit"), key});
    }

    // Returns a rule's key: its name, or one made from its position. A number makes it unique in its set.
    std::string rule_key(std::string_view name) {
        rule_number_ = std::max(rule_number_, rule_names_.size() + 1);
        const std::string wish =
            name.empty() ? fmt::format("rule_{}", rule_number_) : out_.name_of(file_, *line_, name, "rule");
        std::string key = wish;
        while (!rule_names_.insert(key).second)
            key = numbered_name(name.empty() ? "rule" : wish, ++rule_number_);
        if (key != wish)
            out_.note(file_, *line_, wish,
                      fmt::format("is called {} here: an earlier rule has the name", key));
        return key;
    }

    // ---- Filters

    std::string filter_text(const FilterList& filter, bool& by_hosts) {
        const std::string why_not_before = std::exchange(why_not_, {});
        std::vector<std::string> among;
        std::vector<std::string> except;
        // The list's words, and the members that they stand for, each with whether it is excluded. These sets
        // find repeated ones, which are ignored.
        std::set<std::pair<bool, std::string_view>> words;
        std::set<std::pair<bool, std::string>> seen;
        bool expanded = false;
        for (const ListElement& element : filter.elements) {
            expanded = expanded || !element.excluded;
            if (!words.emplace(element.excluded, element.text).second) continue;
            for (std::string& member : members(filter, element))
                if (seen.emplace(element.excluded, member).second)
                    (element.excluded ? except : among).push_back(std::move(member));
        }
        if (expanded && among.empty() && why_not_.empty()) never_ = true;
        if (!why_not_before.empty()) why_not_ = why_not_before;
        if (among.empty() && except.empty()) return {};
        if (filter.subject == "hosts")
            by_hosts = filter.each || (among.size() == 1 && !objects::is_pattern(among.front()));
        const bool pes = filter.subject == "pes";
        const bool braces = !pes && (filter.each || (filter.subject == "hosts" && by_hosts));
        for (const std::string& name : except) among.push_back("!" + name);
        const std::string_view subject = pes                         ? "shapes"
                                         : filter.subject == "hosts" ? "vnodes"
                                                                     : filter.subject;
        return fmt::format("{}={}{}{} ", subject, braces ? "{" : "", fmt::join(among, ","),
                           braces ? "}" : "");
    }

    // Returns the words of a quota's rule that stand for an element of a list.
    std::vector<std::string> members(const FilterList& filter, const ListElement& element) {
        const std::string_view subject = filter.subject;
        const std::string_view name = element.text;
        if (subject == "pes") {
            if (name == "*" && (element.excluded || !filter.each)) {
                shapes_ = true;
                return {"multi"};
            }
            why_not_ = "jobs have no parallel environments here, which a rule could name or count by each";
            return {};
        }
        if (subject == "queues" && name.find('@') != std::string_view::npos) {
            why_not_ = fmt::format("{} is a queue on some hosts, and a filter has queues or vnodes",
                                   in_quotes(name));
            return {};
        }
        if (subject == "hosts") {
            return hosts_of(name);
        }
        if (subject == "users" && name.starts_with('@')) return users_of(name);
        return {std::string(name)};
    }

    std::vector<std::string> users_of(std::string_view list) {
        const File* file = out_.folder().find("su", list.substr(1));
        if (file == nullptr) {
            out_.note(file_, *line_, list,
                      fmt::format("means the group {}, as there is no file su/{} with the list",
                                  list.substr(1), printable(list.substr(1))));
            return {std::string(list)};
        }
        std::vector<std::string> users;
        for (const Line& line : file->lines) {
            const Field field = field_of(line);
            if (field.name != "entries" || field.value == "NONE") continue;
            for (const std::string_view user : values::split_trimmed(field.value, ','))
                if (!user.empty()) users.emplace_back(user);
        }
        return users;
    }

    // Returns the host that a rule's word names, or the hosts of the group that it names. There is no limit
    // to the depth of groups in groups.
    std::vector<std::string> hosts_of(std::string_view word) {
        struct Names {
            std::vector<std::string_view> names;
            std::size_t next = 0;
        };
        std::vector<std::string> hosts;
        std::set<std::string_view> groups;
        std::vector<Names> open(1);
        open.front().names = {word};
        while (!open.empty()) {
            Names& inner = open.back();
            if (inner.next == inner.names.size()) {
                open.pop_back();
                continue;
            }
            const std::string_view name = inner.names[inner.next++];
            if (!name.starts_with('@')) {
                add_host(name, hosts);
            } else if (groups.insert(name).second) {
                open.push_back({names_in_group(word, name), 0});
            }
        }
        return hosts;
    }

    // Returns the hosts and groups in the group of hosts `group`. `word`: the word of the rule that led to
    // it, for messages.
    std::vector<std::string_view> names_in_group(std::string_view word, std::string_view group) {
        std::vector<std::string_view> names;
        const File* file = out_.folder().find("shgrp", group);
        if (file == nullptr) {
            wrong(word, "limit",
                  fmt::format("there is no group of hosts {}, expected the file shgrp/{} with it (qconf "
                              "-shgrp {})",
                              in_quotes(group), printable(group), printable(group)));
            return names;
        }
        for (const Line& line : file->lines) {
            const Field field = field_of(line);
            if (field.name != "hostlist" || field.value == "NONE") continue;
            const auto more = values::words(field.value);
            names.insert(names.end(), more.begin(), more.end());
        }
        return names;
    }

    // Adds a host. Its domain is dropped: values of the resource `host` have none.
    void add_host(std::string_view name, std::vector<std::string>& hosts) {
        const std::size_t dot = std::min(name.find('.'), name.size());
        if (dot < name.size() && objects::is_pattern(name)) {
            why_not_ = fmt::format("{} is a pattern of names with their domain, which hosts don't have here",
                                   in_quotes(name));
            return;
        }
        hosts.push_back(fmt::format("host:{}", name.substr(0, dot)));
    }

    // ---- Limits

    std::string limits_text(std::string_view limits, bool by_hosts) {
        std::vector<std::string> out;
        std::set<std::string> named;
        for (const std::string_view part : values::split(limits, ',')) {
            const std::string_view limit = values::trim(part);
            const std::size_t equals = std::min(limit.find('='), limit.size());
            const std::string_view name = values::trim(limit.substr(0, equals));
            const std::string_view value = values::trim(limit.substr(std::min(equals + 1, limit.size())));
            if (name.empty() || value.empty()) {
                wrong(part, "limit", fmt::format("found {}, expected RESOURCE=LIMIT", in_quotes(limit)));
                continue;
            }
            const ComplexName complex = complexes_.find(name);
            if (complex.resource.empty()) {
                why_not_ = fmt::format("no resource here has {}", in_quotes(name));
                continue;
            }
            if (!objects::is_resource_name(complex.resource)) {
                why_not_ = fmt::format("no resource here can be called {}", in_quotes(complex.resource));
                continue;
            }
            if (values::uppered(value) == "INFINITY") continue;
            if (!named.insert(complex.resource).second) {
                why_not_ = fmt::format("{} limits {} a second time", in_quotes(name), complex.resource);
                continue;
            }
            const auto most = value.find('$') == std::string_view::npos ? amount(complex, value)
                                                                        : formula(complex, value, by_hosts);
            if (most) out.push_back(fmt::format("{}={}", complex.resource, *most));
        }
        if (out.empty()) {
            unlimited_ = true;
            return std::string(kNoLimit);
        }
        return fmt::format("{}", fmt::join(out, ","));
    }

    std::optional<std::string> amount(const ComplexName& complex, std::string_view value) {
        if (complex.type == ComplexType::text) return std::string(value);
        if (complex.type == ComplexType::time) {
            const auto seconds = seconds_of(value);
            if (!seconds) {
                wrong(value, "limit",
                      fmt::format("{} is no time, expected HH:MM:SS or seconds", in_quotes(value)));
                return std::nullopt;
            }
            return complex.own
                       ? std::to_string(*seconds)
                       : fmt::format("{:02}:{:02}:{:02}", *seconds / 3600, *seconds / 60 % 60, *seconds % 60);
        }
        const auto number = amount_of(value);
        if (!number || *number < 0 || *number > 9e15) {
            wrong(value, "limit",
                  fmt::format("{} is no amount, expected a number such as 10 or 4G", in_quotes(value)));
            return std::nullopt;
        }
        // If the file sc is missing, a multiplier behind the value shows that a complex of the site is a
        // size.
        const bool size = complex.type == ComplexType::size ||
                          (complex.own && sc_ == nullptr && !values::is_digit(value.back()));
        return size ? size_text(*number) : fmt::format("{}", *number);
    }

    static std::string size_text(double bytes) {
        constexpr std::array<std::string_view, 4> kUnits = {"b", "kb", "mb", "gb"};
        std::size_t unit = 0;
        bytes = std::floor(bytes);
        while (unit + 1 < kUnits.size() && bytes >= 1024 && std::fmod(bytes, 1024) == 0) {
            bytes /= 1024;
            ++unit;
        }
        return fmt::format("{:.0f}{}", bytes, kUnits[unit]);
    }

    static std::optional<std::int64_t> seconds_of(std::string_view text) {
        std::int64_t seconds = 0;
        const auto parts = values::split(text, ':');
        if (parts.size() > 3) return std::nullopt;
        for (const std::string_view part : parts) {
            // An empty part between colons counts as 0.
            const auto number = part.empty() && parts.size() > 1 ? 0 : values::digits<std::int32_t>(part);
            if (!number) return std::nullopt;
            seconds = seconds * 60 + *number;
        }
        return seconds;
    }

    // Converts a dynamic limit, a sum such as $num_proc*2+4 over resources of the hosts that the rule counts
    // by.
    std::optional<std::string> formula(const ComplexName& limited, std::string_view text, bool by_hosts) {
        if (!by_hosts) {
            wrong(text, "limit", "a dynamic limit needs hosts in braces, or one host");
            return std::nullopt;
        }
        std::string out;
        for (std::size_t at = 0; at < text.size();) {
            // A term ends at the next sign, except a sign directly behind '*', which belongs to the number.
            std::size_t end = at + 1;
            for (char before = text[at]; end < text.size(); ++end) {
                if ((text[end] == '+' || text[end] == '-') && before != '*') break;
                if (!values::is_space(text[end])) before = text[end];
            }
            std::string_view term = text.substr(at, end - at);
            at = end;
            const bool minus = term.front() == '-';
            if (minus || term.front() == '+') term.remove_prefix(1);
            const auto read = formula_term(limited, term, minus);
            if (!read) return std::nullopt;
            if (!out.empty() && !read->starts_with('-')) out += '+';
            out += *read;
        }
        return fmt::format("({})", out);
    }

    std::optional<std::string> formula_term(const ComplexName& limited, std::string_view text, bool minus) {
        const std::string_view term = values::trim(text);
        const std::size_t star = term.find('*');
        std::string_view name = values::trim(term.substr(0, star));
        std::string_view weight = "1";
        if (star != std::string_view::npos) weight = values::trim(term.substr(star + 1));
        if (!name.starts_with('$')) std::swap(name, weight);
        // A term may also be a number alone: after the swap it is in `weight`.
        const bool complex_is_there = name.starts_with('$');
        const auto number = amount_of(weight);
        if (!number || (!complex_is_there && star != std::string_view::npos)) {
            wrong(text, "limit",
                  fmt::format("found {}, expected a number, or $COMPLEX with a weight", in_quotes(term)));
            return std::nullopt;
        }
        double factor = *number;
        if (limited.type == ComplexType::size) factor /= 1024;  // a formula counts sizes in kilobytes
        const std::string_view sign = minus != (factor < 0) ? "-" : "";
        factor = std::abs(factor);
        if (!complex_is_there) return fmt::format("{}{}", sign, factor);
        const ComplexName complex = complexes_.find(name.substr(1));
        if (complex.resource.empty() || complex.type == ComplexType::text) {
            why_not_ = fmt::format("{} is a load or a text, which no limit reads yet", in_quotes(name));
            return std::nullopt;
        }
        if (!objects::is_resource_name(complex.resource)) {
            why_not_ = fmt::format("no resource here can be called {}", in_quotes(complex.resource));
            return std::nullopt;
        }
        if (complex.type == ComplexType::size) factor *= 1024;
        return factor == 1 ? fmt::format("{}{}", sign, complex.resource)
                           : fmt::format("{}{}*{}", sign, complex.resource, factor);
    }

    Output& out_;
    const File& file_;
    const File* sc_;
    const ComplexNames complexes_;
    const Line* line_ = nullptr;
    std::string_view rest_;
    std::set<std::string_view> set_names_;  // names of sets as they are in the file
    // About the quota set that is being read:
    bool inside_ = false;
    bool wrong_ = false;
    bool enabled_ = false;
    bool left_out_ = false;    // a rule is left out
    bool incomplete_ = false;  // rules follow one that is left out, and would count its jobs
    const Line* begin_ = nullptr;
    std::vector<const Line*> lines_;
    const Line* enabled_line_ = nullptr;
    const Line* description_line_ = nullptr;
    std::set<std::string, std::less<>> seen_;  // settings of the set
    std::string name_;
    std::string_view given_name_;  // the set's name as it is in the file
    std::string_view description_;
    std::vector<Wanted> rules_;
    std::set<std::string> rule_names_;
    std::set<std::string_view> given_names_;  // names of rules as they are in the file
    std::size_t rule_number_ = 0;             // the last number in a made name of a rule
    // About the rule that is being read:
    std::string why_not_;     // the reason why a quota can't express it; empty: it can
    bool never_ = false;      // the rule matches no job
    bool unlimited_ = false;  // all of its limits are INFINITY
    bool shapes_ = false;     // the rule is about shapes of jobs, in place of parallel environments
};

}  // namespace

void read_quotas(Output& out) {
    if (const File* file = out.folder().find("srqs")) QuotaSetReader(out, *file).read();
}

}  // namespace pbs::migrate::grid_engine
