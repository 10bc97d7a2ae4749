// Trees of shares, as pbs_fairshare shows them: text, JSON and a picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// An element of a tree: the root, a group, or an entity.
struct ShareElement {
    std::string name;
    std::string parent;  // empty: it is the root
    bool is_group = false;
    std::size_t depth = 0;  // below the root
    std::int64_t shares = 0;
    double target = 0;  // fractions of 1
    double actual = 0;
    double usage = 0;
    double decayed = 0;
    double tree_usage = 0;
    double factor = 0;
    std::int64_t place = 0;  // 0: it is a group
};

struct ShareTree {
    std::string name;  // of the fs_group
    std::string sched;
    std::string entity;
    std::string usage_formula;
    std::int64_t unknown_shares = 0;
    bool enforce_no_shares = false;
    std::int64_t decay_time = 0;  // seconds
    double decay_factor = 1;
    std::int64_t now = 0;  // seconds since the Epoch
    std::optional<std::int64_t> last_decay;
    std::optional<std::int64_t> next_decay;
    std::vector<ShareElement> elements;  // a group before what is in it
};

// From a reply of pbs_statfairshare(). What can't be read of a number is 0.
std::vector<ShareTree> share_trees(const batch_status* list);

// The way from the root down to an element, and nothing else of the tree. Nothing: it isn't there.
std::optional<ShareTree> path_to(const ShareTree& tree, std::string_view name);

// A table, indented as the tree is.
std::string shares_text(const std::vector<ShareTree>& trees);
// The tree alone: names, and shares in brackets.
std::string shares_outline(const std::vector<ShareTree>& trees);
// The way to an entity, with what formulas read of it.
std::string entity_text(const ShareTree& path);

// Which of two entities goes first, and where on their ways that is decided: each has usage by its part of
// the machine. Errors: one of them isn't there, or is a group.
struct ShareComparison {
    std::string first;  // empty: they stand equal
    std::string text;
};
Result<ShareComparison> compare_shares(const ShareTree& tree, const std::string& a, const std::string& b);

// {"trees": [...]}, whose members are named as the attributes; numbers are numbers, instants seconds since
// the Epoch.
std::string shares_json(const std::vector<ShareTree>& trees);

// A picture (SVG 1.1): each element with a bar of what it has had of the machine, and a mark at what it has
// by its shares.
std::string shares_svg(const std::vector<ShareTree>& trees);

}  // namespace pbs::cmds
