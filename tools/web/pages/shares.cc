#include "tools/web/pages/pages.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "ifl/cmds/fairshare_format.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "objects/value.h"
#include "values/text.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

struct Element {
    std::string name;
    std::int64_t shares = 0;
};
// Elements by their parent, in the order of the attribute.
using Tree = std::map<std::string, std::vector<Element>, std::less<>>;

constexpr std::string_view kRoot = "root";

// Reads a tree from the attribute tree_element in canonical form: "group01:root=30,user1:group01=20".
Tree read_tree(std::string_view text, std::int64_t unknown) {
    Tree tree;
    for (const std::string_view one : values::split(text, ',')) {
        const objects::TreeElement parts = objects::tree_element(values::trim(one));
        if (parts.name.empty()) continue;
        tree[std::string(parts.parent)].push_back(
            {std::string(parts.name), cmds::parse_integer(parts.shares).value_or(0)});
    }
    // Add "unknown", which stands for all entities that aren't in the tree.
    tree[std::string(kRoot)].push_back({"unknown", unknown});
    return tree;
}

// Adds the elements below a parent, depth first, each with its part of the whole machine: the product of the
// parts along its path.
void add_below(const Tree& tree, std::string_view parent, std::size_t depth, double part, Json& out) {
    const auto below = tree.find(parent);
    if (below == tree.end()) return;
    double all = 0;
    for (const Element& element : below->second) all += static_cast<double>(element.shares);
    for (const Element& element : below->second) {
        const double own = all > 0 ? part * static_cast<double>(element.shares) / all : 0;
        out.push_back({{"name", element.name},
                       {"parent", parent},
                       {"depth", depth},
                       {"shares", element.shares},
                       {"part", own}});
        add_below(tree, element.name, depth + 1, own, out);
    }
}

Json users_of(const batch_status* policies, std::string_view group) {
    Json out = Json::array();
    for (; policies != nullptr; policies = policies->next)
        if (value_of(policies->attribs, "fairshare_group").value_or("") == group)
            out.push_back({{"policy", view(policies->name)},
                           {"fairshare", value_of(policies->attribs, "fairshare").value_or("") == "True"}});
    return out;
}

Json element_json(const cmds::ShareElement& element) {
    return {{"name", element.name},
            {"parent", element.parent},
            {"kind", element.is_group ? "group" : "entity"},
            {"depth", element.depth},
            {"shares", element.shares},
            {"target", element.target},
            {"actual", element.actual},
            {"usage", element.usage},
            {"place", element.place == 0 ? Json(nullptr) : Json(element.place)}};
}

// Returns the usage of a group's tree, for each scheduler that has it.
Json usage_json(const std::vector<cmds::ShareTree>& trees, std::string_view group) {
    Json out = Json::array();
    for (const cmds::ShareTree& tree : trees) {
        if (tree.name != group) continue;
        Json elements = Json::array();
        for (const cmds::ShareElement& element : tree.elements) elements.push_back(element_json(element));
        out.push_back({{"sched", tree.sched},
                       {"usage_formula", tree.usage_formula},
                       {"last_decay", tree.last_decay ? Json(*tree.last_decay) : Json(nullptr)},
                       {"next_decay", tree.next_decay ? Json(*tree.next_decay) : Json(nullptr)},
                       {"elements", std::move(elements)}});
    }
    return out;
}

// Asks for the usage of shares. Returns nothing if users may not see each other's jobs: this program may run
// as a manager, to whom the server shows the usage of all users.
std::vector<cmds::ShareTree> ask_usage(Link& server, const SiteView& site) {
    std::vector<cmds::ShareTree> trees;
    if (!shows_jobs_of_others(site.server->attribs)) return trees;
    for (const batch_status* sched = site.scheds; sched != nullptr; sched = sched->next) {
        // Take a refusal for an empty list: the scheduler has no shares, or the server doesn't know them.
        const cmds::StatusList usage = server.take(pbs_statfairshare(server.handle(), sched->name, nullptr));
        for (cmds::ShareTree& tree : cmds::share_trees(usage.get())) trees.push_back(std::move(tree));
    }
    return trees;
}

Answer ask_shares(Link& server, const Query&) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    const std::vector<cmds::ShareTree> usage = ask_usage(server, replies->view());
    const cmds::StatusList groups = server.take(pbs_statfsgroup(server.handle(), nullptr, nullptr, nullptr));
    if (server.error() != PBSE_NONE && server.error() != PBSE_NOSUP) return refused(server);
    return shares_answer(replies->view(), groups.get(), usage);
}

}  // namespace

Answer shares_answer(const SiteView& site, const batch_status* groups,
                     const std::vector<cmds::ShareTree>& usage) {
    Answer answer = answer_of(site, calendar_of(site));
    answer.json["server_name"] = view(site.server->name);
    Json list = Json::array();
    for (; groups != nullptr; groups = groups->next) {
        const auto text = [&](const char* name) {
            return value_of(groups->attribs, name).value_or(std::string_view());
        };
        Json tree = Json::array();
        const auto unknown = cmds::parse_integer(text("unknown_shares")).value_or(0);
        add_below(read_tree(text("tree_element"), unknown), kRoot, 0, 1, tree);
        list.push_back({{"name", view(groups->name)},
                        {"entity", text("entity")},
                        {"usage_formula", text("usage_formula")},
                        {"decay_time", text("decay_time")},
                        {"decay_factor", text("decay_factor")},
                        {"enforce_no_shares", text("enforce_no_shares") == "True"},
                        {"comment", text("comment")},
                        {"policies", users_of(site.policies, view(groups->name))},
                        {"tree", std::move(tree)},
                        {"usage", usage_json(usage, view(groups->name))}});
    }
    answer.json["groups"] = std::move(list);
    return answer;
}

const Page kSharesPage{.name = "shares",
                       .title = "Shares",
                       .parameters = {},
                       .good_for = std::chrono::seconds(10),
                       .ask = ask_shares};

}  // namespace pbs::web
