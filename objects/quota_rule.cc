#include "objects/quota_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "objects/forms.h"
#include "objects/value.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

constexpr std::array<std::string_view, 4> kShapes = {"array", "interactive", "multi", "single"};

using Remark = tl::unexpected<std::string>;

bool is_name_or_pattern(std::string_view element);

// Reads the text of a rule from the left. Counts columns from 1.
class RuleReader {
  public:
    explicit RuleReader(std::string_view text) : text_(text) {}

    tl::expected<void, std::string> read(QuotaRule& rule) {
        for (;;) {
            const std::string_view word = next_word();
            if (word.empty()) return mistake(at_, "the rule ends, expected 'to' and limits");
            if (word == "to") break;
            if (auto done = filter(word, rule); !done) return done;
        }
        return limits(rule);
    }

  private:
    Remark mistake(std::size_t at, std::string_view what) const {
        return Remark(fmt::format("column {}: {}", at + 1, what));
    }

    std::string_view next_word() {
        while (at_ < text_.size() && values::is_space(text_[at_])) ++at_;
        std::size_t end = at_;
        while (end < text_.size() && !values::is_space(text_[end])) ++end;
        begin_ = at_;
        at_ = end;
        return text_.substr(begin_, end - begin_);
    }

    tl::expected<void, std::string> filter(std::string_view word, QuotaRule& rule) {
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const auto* subject = std::ranges::find(kQuotaSubjects, name);
        if (subject == kQuotaSubjects.end() || equals == std::string_view::npos)
            return mistake(begin_, fmt::format("found '{}', expected {}=LIST or 'to'", word,
                                               fmt::join(kQuotaSubjects, "=LIST, ")));
        const auto index = static_cast<std::size_t>(subject - kQuotaSubjects.begin());
        if (rule.filters[index]) return mistake(begin_, fmt::format("{} is there twice", name));
        auto filter = list(static_cast<QuotaSubject>(index), word.substr(equals + 1), begin_ + equals + 1);
        if (!filter) return tl::unexpected(filter.error());
        rule.filters[index] = std::move(*filter);
        return {};
    }

    tl::expected<QuotaFilter, std::string> list(QuotaSubject subject, std::string_view text, std::size_t at) {
        QuotaFilter filter;
        if (text.starts_with('{')) {
            if (text.size() < 2 || text.back() != '}') return mistake(at, "expected a closing brace");
            filter.each = true;
            text = text.substr(1, text.size() - 2);
            ++at;
        }
        for (std::string_view element : values::split(text, ',')) {
            const std::size_t length = element.size();
            const bool excluded = element.starts_with('!');
            if (excluded) element.remove_prefix(1);
            if (element.empty()) return mistake(at, "an element is empty, expected a name or pattern");
            if (!is_name_or_pattern(element))
                return mistake(at, fmt::format("found '{}', expected a name or pattern", element));
            if (subject == QuotaSubject::shapes && !is_pattern(element) &&
                std::ranges::find(kShapes, element) == kShapes.end())
                return mistake(at, fmt::format("found '{}', expected {}", element, fmt::join(kShapes, ", ")));
            if (subject == QuotaSubject::vnodes && filter.each && !excluded && !filter.among.empty() &&
                vnode_pattern(element).resource != vnode_pattern(filter.among.front()).resource)
                return mistake(at, "expected names of vnodes, or values of one resource, within braces");
            (excluded ? filter.except : filter.among).emplace_back(element);
            (excluded ? filter.except_at : filter.among_at).push_back(at + (excluded ? 2 : 1));
            at += length + 1;
        }
        return filter;
    }

    tl::expected<void, std::string> limits(QuotaRule& rule) {
        while (at_ < text_.size() && values::is_space(text_[at_])) ++at_;
        std::size_t at = at_;
        for (const std::string_view part : split_limits(text_.substr(at_))) {
            const std::string_view limit = values::trim(part);
            const std::size_t equals = limit.find('=');
            const std::string_view resource = values::trim(limit.substr(0, equals));
            const std::string_view most =
                equals == std::string_view::npos ? "" : values::trim(limit.substr(equals + 1));
            const bool formula = most.starts_with('(');
            if (!is_resource_name(resource) || most.empty() ||
                (!formula && (std::ranges::any_of(most, values::is_space) ||
                              most.find_first_of("\"'=") != std::string_view::npos)))
                return mistake(at, fmt::format("found '{}', expected RESOURCE=LIMIT", limit));
            if (most.starts_with('-'))
                return mistake(at, fmt::format("found '{}', expected a limit of at least 0", limit));
            if (formula) {
                if (!rule.counts_by_vnodes())
                    return mistake(at, "a formula needs vnodes in braces, or one vnode");
            } else if (resource == "jobs" && !std::ranges::all_of(most, values::is_digit)) {
                return mistake(at, fmt::format("found '{}', expected a number of jobs", limit));
            }
            if (std::ranges::find(rule.limits, resource, &QuotaLimit::resource) != rule.limits.end())
                return mistake(at, fmt::format("{} is limited twice", resource));
            rule.limits.push_back({std::string(resource), std::string(most), at + 1});
            at += part.size() + 1;
        }
        return {};
    }

    // Splits limits at commas that are outside of parentheses.
    static std::vector<std::string_view> split_limits(std::string_view text) {
        std::vector<std::string_view> parts;
        std::size_t begin = 0;
        int depth = 0;
        for (std::size_t at = 0; at <= text.size(); ++at) {
            if (at == text.size() || (text[at] == ',' && depth <= 0)) {
                parts.push_back(text.substr(begin, at - begin));
                begin = at + 1;
            } else if (text[at] == '(' || text[at] == ')') {
                depth += text[at] == '(' ? 1 : -1;
            }
        }
        return parts;
    }

    std::string_view text_;
    // End and beginning of the last word that was read.
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
};

// Returns whether the element has only characters of names and patterns; ! is one of these behind [.
bool is_name_or_pattern(std::string_view element) {
    for (std::size_t at = element.find_first_of("{}!\"'="); at != std::string_view::npos;
         at = element.find_first_of("{}!\"'=", at + 1))
        if (element[at] != '!' || at == 0 || element[at - 1] != '[') return false;
    return true;
}

// Returns whether each [ of a pattern has its ]. Directly behind [, [! and [^, a ] is one of the characters.
bool closes_brackets(std::string_view pattern) {
    for (std::size_t at = pattern.find('['); at != std::string_view::npos; at = pattern.find('[', at)) {
        ++at;
        if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
        at = pattern.find(']', at + 1);
        if (at == std::string_view::npos) return false;
    }
    return true;
}

// Returns the reason why an element of a filter matches nothing, whatever there is; empty: it may match.
std::string futility(QuotaSubject subject, const std::string& element) {
    if (!closes_brackets(element)) return fmt::format("'{}' matches nothing: expected ] behind [", element);
    if (subject == QuotaSubject::users && element == "@")
        return "'@' matches nothing: expected the name of a group behind it";
    const VnodePattern parts = vnode_pattern(element);
    if (subject == QuotaSubject::vnodes && element.find(':') != std::string::npos &&
        (parts.resource.empty() || parts.pattern.empty()))
        return fmt::format("'{}' matches nothing: expected RESOURCE:VALUE", element);
    const auto is_shape = [&](std::string_view shape) {
        return matches_pattern(element, std::string(shape));
    };
    if (subject == QuotaSubject::shapes && std::ranges::none_of(kShapes, is_shape))
        return fmt::format("'{}' matches none of {}", element, fmt::join(kShapes, ", "));
    return {};
}

bool is_all(const std::optional<QuotaFilter>& filter) {
    return !filter ||
           (filter->except.empty() &&
            (filter->among.empty() || std::ranges::find(filter->among, "*") != filter->among.end()));
}

}  // namespace

bool is_pattern(std::string_view text) {
    return text.find_first_of("*?[") != std::string_view::npos;
}

bool matches_pattern(const std::string& pattern, const std::string& text) {
    // Most names differ in the first character, or at least before the first special one.
    constexpr std::string_view kSpecial = "*?[\\";
    if (!pattern.empty() && kSpecial.find(pattern.front()) == std::string_view::npos &&
        (text.empty() || text.front() != pattern.front()))
        return false;
    if (!is_pattern(pattern)) return pattern == text;
    const std::size_t literal = pattern.find_first_of(kSpecial);
    return text.compare(0, literal, pattern, 0, literal) == 0 &&
           fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

VnodePattern vnode_pattern(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return {"", text};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

bool QuotaRule::counts_by_vnodes() const {
    const auto& vnodes = filter(QuotaSubject::vnodes);
    return vnodes && (vnodes->each || (vnodes->among.size() == 1 && !is_pattern(vnodes->among.front()) &&
                                       vnode_pattern(vnodes->among.front()).resource.empty()));
}

std::string QuotaRule::futile_element() const {
    for (std::size_t i = 0; i < filters.size(); ++i) {
        if (!filters[i]) continue;
        for (const auto& [elements, columns] : {std::pair(&filters[i]->among, &filters[i]->among_at),
                                                {&filters[i]->except, &filters[i]->except_at}})
            for (std::size_t n = 0; n < elements->size(); ++n)
                if (const std::string why = futility(static_cast<QuotaSubject>(i), (*elements)[n]);
                    !why.empty())
                    return fmt::format("column {}: {}", (*columns)[n], why);
    }
    return {};
}

std::string QuotaRule::text() const {
    std::string out;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        if (!filters[i]) continue;
        std::vector<std::string> all = filters[i]->among;
        for (const std::string& pattern : filters[i]->except) all.push_back('!' + pattern);
        out += fmt::format("{}={}{}{} ", kQuotaSubjects[i], filters[i]->each ? "{" : "", fmt::join(all, ","),
                           filters[i]->each ? "}" : "");
    }
    out += "to ";
    std::string_view separator;
    for (const QuotaLimit& limit : limits) {
        out += fmt::format("{}{}={}", separator, limit.resource, limit.most);
        separator = ",";
    }
    return out;
}

bool QuotaRule::covers(const QuotaRule& other) const {
    for (std::size_t i = 0; i < filters.size(); ++i) {
        const auto& mine = filters[i];
        // Don't compare by is_all() here: without a filter of projects, a rule is also about jobs without a
        // project.
        const bool all = static_cast<QuotaSubject>(i) == QuotaSubject::projects ? !mine : is_all(mine);
        if (all || (mine && other.filters[i] && mine->among == other.filters[i]->among &&
                    mine->except == other.filters[i]->except))
            continue;
        if (!mine->except.empty() || !other.filters[i] || other.filters[i]->among.empty()) return false;
        for (const std::string& pattern : other.filters[i]->among)
            if (std::ranges::find(mine->among, pattern) == mine->among.end() && !is_all(mine)) return false;
    }
    return true;
}

tl::expected<QuotaRule, std::string> parse_quota_rule(std::string_view element) {
    const std::size_t colon = element.find(':');
    const std::string_view name = values::trim(element.substr(0, colon));
    if (colon == std::string_view::npos || !check_name("rule", name))
        return tl::unexpected(fmt::format("found '{}', expected the name of a rule and a colon", name));
    QuotaRule rule;
    rule.name = name;
    if (auto done = RuleReader(values::trim(element.substr(colon + 1))).read(rule); !done)
        return tl::unexpected(done.error());
    return rule;
}

std::string_view quota_rule_name(std::string_view element) {
    return element.substr(0, element.find(':'));
}

std::string_view quota_rule_text(std::string_view element) {
    return values::trim(element.substr(std::min(quota_rule_name(element).size() + 1, element.size())));
}

QuotaRuleChanges quota_rule_changes(const std::vector<std::string>& before,
                                    const std::vector<std::string>& after) {
    const auto by_name = [](const std::vector<std::string>& elements) {
        std::map<std::string_view, std::string_view> texts;
        for (const std::string_view element : elements)
            texts.emplace(quota_rule_name(element), quota_rule_text(element));
        return texts;
    };
    const auto was = by_name(before);
    const auto is = by_name(after);
    QuotaRuleChanges found;
    std::vector<std::string_view> one_by_one;  // the order that changes by name would leave
    for (const auto& element : before) {
        const std::string_view name = quota_rule_name(element);
        if (is.contains(name))
            one_by_one.push_back(name);
        else
            found.rules.push_back({std::string(name), std::string(was.at(name)), std::nullopt});
    }
    for (const auto& element : after) {
        const std::string_view name = quota_rule_name(element);
        const std::string_view text = quota_rule_text(element);
        const auto old = was.find(name);
        if (old == was.end()) {
            one_by_one.push_back(name);
            found.rules.push_back({std::string(name), std::nullopt, std::string(text)});
        } else if (old->second != text) {
            found.rules.push_back({std::string(name), std::string(old->second), std::string(text)});
        }
    }
    found.reordered = !std::ranges::equal(one_by_one, after, {}, {}, quota_rule_name);
    return found;
}

std::string quota_rule_names(const std::vector<std::string>& elements) {
    std::vector<std::string_view> names;
    for (const std::string_view element : elements) names.push_back(quota_rule_name(element));
    return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace pbs::objects
