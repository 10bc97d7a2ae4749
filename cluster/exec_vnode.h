// Reads and writes the text of an exec_vnode:
// "(n1:ncpus=2:mem=1048576kb)+(n2:ncpus=2)+(n1:ncpus=1+n2:ncpus=1)". A pair of parentheses is a chunk. A
// chunk on several vnodes of a host has a part for each vnode.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/place.h"
#include "ifl/error.h"

namespace pbs::cluster {

// A chunk's part on one vnode. The members are views of the text that was read.
struct Share {
    std::string_view vnode;
    std::vector<std::string_view> amounts;  // "ncpus=2"
    bool joined = false;                    // a part of the same chunk as the share before it
};

// Reads an exec_vnode, with or without parentheses. PBSE_BADATVAL: the parentheses don't match.
ifl::Result<std::vector<Share>> parse_exec_vnode(std::string_view text);

// Reads an exec_vnode that a server wrote. Returns an empty list if the text can't be read.
std::vector<Share> shares_of(std::string_view exec_vnode);

// An amount such as "ncpus=2": the name, and the value, which is empty if there is no '='.
struct WrittenAmount {
    std::string_view resource;
    std::string_view value;
};
WrittenAmount amount_in(std::string_view text);

// A function that returns a resource's name, and its amount as text. An empty name leaves the amount out.
using AmountWriter =
    std::function<std::pair<std::string, std::string>(std::uint32_t resource, std::int64_t amount)>;

// Writes an exec_vnode. `chunks`: the request, a schedselect. As in OpenPBS, the amounts of a place are in
// the order of the chunk, followed by amounts that the chunk doesn't have.
std::string exec_vnode_text(std::span<const Place> places, const AmountWriter& write,
                            std::string_view chunks);

}  // namespace pbs::cluster
