// Reads the resource_group file of the schedulers of PBS and TORQUE, sched_priv/resource_group: the fairshare
// tree (OpenPBS, src/scheduler/pbs_resource_group and fairshare.cpp).
//
// Format: a line is empty; a comment, which begins with '#' or '*' after any white space; or
//
//     name number parent shares
//
// with the name of an entity or a group, the number of the group that its children make, its parent, which is
// root or the name of an earlier line, and its shares among the children of that parent. The tree follows
// from the parents alone, not from the numbers. Words behind the shares are ignored, as by pbs_sched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct ShareGroup {
    std::string name;
    std::string parent;  // "root", or the name of an earlier element
    std::int32_t shares = 0;
    int number = 0;  // number of the group that its children make
    int line = 0;

    // Returns the element of the attribute tree_element: "name:parent=shares".
    std::string element() const;
};

struct ResourceGroup {
    std::string file;
    std::vector<ShareGroup> groups;  // in the order of the file, each name once
    std::vector<std::string> notes;  // on lines that an fs_group doesn't need, with the reason
    // Missing words, names that the file has twice or that an fs_group can't have, parents that no earlier
    // line names, and words in place of numbers and shares. These lines are left out, as by pbs_sched.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
ResourceGroup parse_resource_group(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
