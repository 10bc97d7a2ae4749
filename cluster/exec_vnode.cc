#include "cluster/exec_vnode.h"

#include <fmt/format.h>

#include <algorithm>

#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::cluster {

ifl::Result<std::vector<Share>> parse_exec_vnode(std::string_view text) {
    std::vector<Share> shares;
    const auto illegal = [text](std::string_view expected) {
        return tl::unexpected(
            ifl::Error{PBSE_BADATVAL, fmt::format("Illegal place \"{}\": expected {}", text, expected)});
    };
    bool open = false;
    for (std::string_view part : values::split(text, '+')) {
        const bool opens = part.starts_with('(');
        if (opens) part.remove_prefix(1);
        const bool closes = part.ends_with(')');
        if (closes) part.remove_suffix(1);
        if ((opens && open) || (closes && !open && !opens) || part.find_first_of("()") != part.npos)
            return illegal("(vnode:resource=amount+...)+(...)");
        Share share;
        share.amounts = values::split(part, ':');
        share.vnode = share.amounts.front();
        share.amounts.erase(share.amounts.begin());
        share.joined = open;
        shares.push_back(std::move(share));
        open = (open || opens) && !closes;
    }
    if (open) return illegal("a ) at its end");
    return shares;
}

std::vector<Share> shares_of(std::string_view exec_vnode) {
    if (exec_vnode.empty()) return {};
    return parse_exec_vnode(exec_vnode).value_or(std::vector<Share>());
}

WrittenAmount amount_in(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == text.npos) return {text, {}};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string exec_vnode_text(std::span<const Place> places, const AmountWriter& write,
                            std::string_view chunks) {
    std::string out;
    std::vector<std::pair<std::size_t, std::string>> amounts;  // by position in `chunks`
    for (const Place& place : places) {
        amounts.clear();
        for (const auto& [resource, amount] : place.amounts) {
            const auto [name, value] = write(resource, amount);
            if (name.empty()) continue;
            const std::string key = fmt::format(":{}=", name);
            amounts.emplace_back(chunks.find(key), key + value);
        }
        std::ranges::stable_sort(amounts, {}, &std::pair<std::size_t, std::string>::first);
        out += out.empty() ? "(" : place.joined ? "+" : ")+(";
        out += place.node_name;
        for (const auto& [at, amount] : amounts) out += amount;
    }
    if (!out.empty()) out += ')';
    return out;
}

}  // namespace pbs::cluster
