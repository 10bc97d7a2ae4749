// Trees of shares, as pbs_fairshare prints them: text, JSON and a picture.
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

// An element of a tree of shares: the root, a group, or an entity, such as a user.
struct ShareElement {
    std::string name;
    std::string parent;  // empty: the element is the root
    bool is_group = false;
    std::size_t depth = 0;  // levels below the root
    std::int64_t shares = 0;
    double target = 0;  // target and actual: fractions of 1
    double actual = 0;
    double usage = 0;
    double decayed = 0;
    double long_usage = 0;  // all usage so far, without decays
    double tree_usage = 0;
    double factor = 0;
    // For tickets_share, by the present jobs, as fractions of 1: `level`, the part of the shares of the
    // siblings that have jobs; `short_target`, the part of these siblings' tickets; `overall_short_target`,
    // the part of all tickets. `jobs` and `running` count the entity's own jobs, and those of them that run.
    double level = 0;
    double short_target = 0;
    double overall_short_target = 0;
    std::int64_t jobs = 0;
    std::int64_t running = 0;
    std::int64_t place = 0;  // 0: the element is a group
};

struct ShareTree {
    std::string name;  // the fs_group's name
    std::string sched;
    std::string entity;
    std::string usage_formula;
    std::int64_t unknown_shares = 0;
    bool enforce_no_shares = false;
    bool counts_usage = true;     // a policy goes by these shares
    std::int64_t decay_time = 0;  // seconds
    double decay_factor = 1;
    std::optional<std::int64_t> half_life{};  // seconds; decay_time and decay_factor follow from it
    std::int64_t now = 0;                     // seconds since the Epoch
    std::optional<std::int64_t> last_decay;
    std::optional<std::int64_t> next_decay;
    std::vector<ShareElement> elements;  // a group before its members
};

// The trees in a reply of pbs_statfairshare(). A number that can't be read is 0.
std::vector<ShareTree> share_trees(const batch_status* list);

// A job's tickets, by their kinds.
struct JobTickets {
    std::string job;
    std::string owner;
    std::string queue;
    bool runs = false;
    double by_override = 0;
    double functional = 0;
    double share = 0;
    double tickets = 0;     // the sum of the three
    double normalised = 0;  // the sum, brought from the range of all jobs to 0..1
};

// A reply of pbs_statfairshare() with "tickets=True".
struct TicketList {
    std::string sched;
    std::string policy;
    std::int64_t now = 0;  // seconds since the Epoch
    std::vector<JobTickets> jobs;
};
TicketList ticket_list(const batch_status* list);
std::string tickets_text(const TicketList& list);
// {"sched": ..., "policy": ..., "now": ..., "jobs": [...]}.
std::string tickets_json(const TicketList& list);

// The tree reduced to the path from the root to an element. nullopt: the element isn't there.
std::optional<ShareTree> path_to(const ShareTree& tree, std::string_view name);

// The trees as tables, indented by depth.
std::string shares_text(const std::vector<ShareTree>& trees);
// The names of all elements of the trees, indented by depth, with their shares in brackets.
std::string shares_outline(const std::vector<ShareTree>& trees);
// The path from the root to an entity, with the entity's values that formulas read.
std::string entity_text(const ShareTree& path);

// The result of compare_shares().
struct ShareComparison {
    std::string first;  // the entity that goes first; empty: they are equal
    std::string text;
};
// Finds out which of two entities goes first. From the root down, the first level where their usages in
// proportion to the targets differ decides: the smaller one goes first. If no level differs, the entity
// nearer to the root goes first. Errors: an entity isn't in the tree, or is a group.
Result<ShareComparison> compare_shares(const ShareTree& tree, const std::string& a, const std::string& b);

// The trees as JSON, {"trees": [...]}. Members are named like the attributes; numbers are numbers, instants
// seconds since the Epoch.
std::string shares_json(const std::vector<ShareTree>& trees);

// A picture (SVG 1.1): each element with a bar for its actual part of the machine, and a mark at its target
// by the shares.
std::string shares_svg(const std::vector<ShareTree>& trees);

}  // namespace pbs::cmds
