// The rules of quotas: a rule says whose jobs it is about, on which vnodes, and the most that they may use
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

    // Is the value in the list? `matches(pattern)` tells whether a pattern matches it.
    template <class Matches>
    bool has(Matches matches) const {
        for (const std::string& pattern : except)
            if (matches(pattern)) return false;
        for (const std::string& pattern : among)
            if (matches(pattern)) return true;
        return among.empty();
    }
    friend bool operator==(const QuotaFilter&, const QuotaFilter&) = default;
};

// Does a shell pattern (*, ? and [..]) match the whole text?
bool matches_pattern(const std::string& pattern, const std::string& text);
// Has the text a character that makes it a pattern?
bool is_pattern(std::string_view text);

// A pattern of the filter `vnodes`: for names of vnodes, or for the values that vnodes have of a resource, as
// in rack:b*.
struct VnodePattern {
    std::string_view resource;  // empty: names of vnodes
    std::string_view pattern;
};
VnodePattern vnode_pattern(std::string_view text);

struct QuotaLimit {
    std::string resource;    // "jobs" counts jobs
    std::string most;        // a value of the resource's type, or a formula in parentheses
    std::size_t column = 0;  // of the limit in the text of the rule, from 1
    // A formula over the resources_available of the counter's vnodes.
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
    // Has each counter of the rule vnodes of its own, so that a formula over them may be its limit? It has if
    // the vnodes are in braces, or are one named vnode.
    bool counts_by_vnodes() const;
    // The rule without its name, in canonical form.
    std::string text() const;
    // Does every job that the other rule is about match this rule, too? Then the other is never reached
    // behind this one. False also where the texts don't show that.
    bool covers(const QuotaRule& other) const;
    friend bool operator==(const QuotaRule&, const QuotaRule&) = default;
};

// Reads an element of the attribute `rule`: "NAME: TEXT". The error is a remark on the mistake with its
// column.
tl::expected<QuotaRule, std::string> parse_quota_rule(std::string_view element);

// The name of such an element.
std::string_view quota_rule_name(std::string_view element);

}  // namespace pbs::objects
