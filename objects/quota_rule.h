// The rules of quotas. A rule says which jobs on which vnodes it limits, and how much these jobs may use
// together. pbs_quota(7B) describes the language:
//
//     users=LIST groups=LIST projects=LIST queues=LIST vnodes=LIST shapes=LIST to RES=LIMIT[,RES=LIMIT...]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace pbs::objects {

enum class QuotaSubject : std::uint8_t { users, groups, projects, queues, vnodes, shapes };
inline constexpr std::array<std::string_view, 6> kQuotaSubjects = {"users",  "groups", "projects",
                                                                   "queues", "vnodes", "shapes"};

// A list of names with shell patterns, such as {alice,b*,!bob}.
struct QuotaFilter {
    bool each = false;                // in braces: each value has a counter of its own
    std::vector<std::string> among;   // patterns; empty: all values
    std::vector<std::string> except;  // patterns of excluded values
    // The columns of these patterns in the text of the rule, from 1.
    std::vector<std::size_t> among_at{};
    std::vector<std::size_t> except_at{};

    // Returns whether the filter selects a value, such as the name of a user. `matches(pattern)` returns
    // whether a pattern matches this value.
    template <class Matches>
    bool has(Matches matches) const {
        for (const std::string& pattern : except)
            if (matches(pattern)) return false;
        for (const std::string& pattern : among)
            if (matches(pattern)) return true;
        return among.empty();
    }
    friend bool operator==(const QuotaFilter& a, const QuotaFilter& b) {
        return a.each == b.each && a.among == b.among && a.except == b.except;
    }
};

// Returns whether a shell pattern (*, ? and [..]) matches the whole text.
bool matches_pattern(const std::string& pattern, const std::string& text);
// Returns whether the text has a character that makes it a pattern: *, ? or [.
bool is_pattern(std::string_view text);

// A pattern of the filter `vnodes`: it matches names of vnodes or, as in rack:b*, the values of a resource
// that vnodes have.
struct VnodePattern {
    std::string_view resource;  // empty: names of vnodes
    std::string_view pattern;
};
VnodePattern vnode_pattern(std::string_view text);

struct QuotaLimit {
    std::string resource;    // "jobs" counts jobs
    std::string most;        // a value of the resource's type, or a formula in parentheses
    std::size_t column = 0;  // column of the limit in the text of the rule, from 1
    // Returns whether the limit is a formula over the resources_available of the counter's vnodes.
    bool is_formula() const { return most.starts_with('('); }
    friend bool operator==(const QuotaLimit& a, const QuotaLimit& b) {
        return a.resource == b.resource && a.most == b.most;
    }
};

struct QuotaRule {
    std::string name;
    std::array<std::optional<QuotaFilter>, kQuotaSubjects.size()> filters{};  // by QuotaSubject
    std::vector<QuotaLimit> limits;

    const std::optional<QuotaFilter>& filter(QuotaSubject subject) const {
        return filters[static_cast<std::size_t>(subject)];
    }
    // Returns whether each counter of the rule has vnodes of its own, so that a formula over these vnodes may
    // be its limit: the vnodes are in braces, or are one named vnode.
    bool counts_by_vnodes() const;
    // Returns a remark, with its column, on the first element of a filter that can't match anything, such as
    // `users=@` or a pattern without its closing bracket; empty: there is none.
    std::string futile_element() const;
    // Returns the rule without its name, in canonical form.
    std::string text() const;
    // Returns whether every job that the other rule is about matches this rule, too: behind this one, the
    // other rule is never reached. False also if the texts don't show it.
    bool covers(const QuotaRule& other) const;
    friend bool operator==(const QuotaRule&, const QuotaRule&) = default;
};

// Reads an element of the attribute `rule`: "NAME: TEXT". The error is a remark on the mistake with its
// column.
tl::expected<QuotaRule, std::string> parse_quota_rule(std::string_view element);

// Return the NAME and the TEXT of an element "NAME: TEXT".
std::string_view quota_rule_name(std::string_view element);
std::string_view quota_rule_text(std::string_view element);

// A rule in which two values of the attribute `rule` differ.
struct QuotaRuleChange {
    std::string name;
    std::optional<std::string> before;  // the text; nullopt: there was no such rule
    std::optional<std::string> after;
};
struct QuotaRuleChanges {
    std::vector<QuotaRuleChange> rules;  // those that are gone, then the others in their order
    // Changing these rules one by one, by name, would leave them in another order than that of the second
    // value.
    bool reordered = false;
};
// Returns the differences between two values, which are elements "NAME: TEXT".
QuotaRuleChanges quota_rule_changes(const std::vector<std::string>& before,
                                    const std::vector<std::string>& after);
// Returns the names of the rules in their order, separated by commas.
std::string quota_rule_names(const std::vector<std::string>& elements);

}  // namespace pbs::objects
