// Reads sstree: the share tree becomes the fs_group of the policy.
//
// A node has lines id=, name=, type=, shares= and childnodes=. Leaves of the tree are users (type 0) and
// projects (type 1). Below a project, a leaf `default` stands for all users without a leaf of their own. All
// entities of an fs_group are of one kind: users; accounts, in place of projects; or pairs of group and user,
// with the group in place of the project.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>

#include "migrate/grid_engine/output.h"
#include "migrate/words.h"
#include "objects/value.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

constexpr std::string_view kDefault = "default";

struct TreeNode {
    std::vector<const Line*> lines{};
    std::string_view id{};
    std::string_view name;
    const Line* name_line = nullptr;
    std::string_view children;  // the value of childnodes
    const Line* children_line = nullptr;
    std::int32_t shares = 1;
    bool project = false;
    bool reached = false;
    std::vector<TreeNode*> below{};

    bool is_default() const { return name == kDefault && !project && below.empty(); }
};

class ShareTreeReader {
  public:
    ShareTreeReader(Output& out, const File& file) : out_(out), file_(file) {}

    void read() {
        for (const Line& line : file_.lines) read_line(line);
        if (wrong_ || nodes_.empty()) return;
        TreeNode& root = nodes_.front();
        root.reached = true;
        connect(root);
        for (const TreeNode& node : nodes_)
            if (!node.reached)
                wrong(node, *node.lines.front(), node.id,
                      "is no node's child, expected all nodes below the first one");
        if (!wrong_) make(root);
    }

  private:
    void wrong(const TreeNode& node, const Line& line, std::string_view part, std::string message) {
        wrong_ = true;
        out_.problem(file_, line, part, node.name, std::move(message));
    }

    void read_line(const Line& line) {
        const Field field = field_of(line);
        if (field.name == "id") {
            nodes_.emplace_back().id = field.value;
            seen_.clear();
        } else if (nodes_.empty()) {
            wrong_ = true;
            return out_.problem(file_, line, field.name, "",
                                fmt::format("found {}, expected a node's id=", in_quotes(field.name)));
        }
        TreeNode& node = nodes_.back();
        node.lines.push_back(&line);
        if (!seen_.insert(field.name).second)
            return wrong(node, line, field.name,
                         fmt::format("{} is there twice, expected it once", printable(field.name)));
        if (field.value.empty()) return wrong(node, line, field.name, "has no value, expected one behind =");
        if (field.name == "id") {
            if (!values::digits<std::int64_t>(field.value))
                return wrong(node, line, field.value,
                             fmt::format("{} is no number of a node", in_quotes(field.value)));
            if (!by_id_.emplace(field.value, nodes_.size() - 1).second)
                wrong(node, line, field.value, "is the id of an earlier node, expected each id once");
        } else if (field.name == "name") {
            node.name = field.value;
            node.name_line = &line;
        } else if (field.name == "type") {
            node.project = field.value == "1";
            if (field.value != "0" && field.value != "1")
                wrong(node, line, field.value,
                      fmt::format("{} is no type, expected 0 (user) or 1 (project)", in_quotes(field.value)));
        } else if (field.name == "shares") {
            const auto shares = values::digits<std::int32_t>(field.value);
            if (!shares)
                return wrong(node, line, field.value,
                             fmt::format("{} is no number of shares, expected 0 to 2147483647",
                                         in_quotes(field.value)));
            node.shares = *shares;
        } else if (field.name == "childnodes") {
            node.children = field.value;
            node.children_line = &line;
        } else {
            wrong(node, line, field.name,
                  fmt::format("found {}, expected id, name, type, shares or childnodes",
                              in_quotes(field.name)));
        }
    }

    // Gives each node the nodes below it, from the root down.
    void connect(TreeNode& root) {
        std::vector<TreeNode*> waiting{&root};
        while (!waiting.empty()) {
            TreeNode& node = *waiting.back();
            waiting.pop_back();
            if (node.name.empty())
                wrong(node, *node.lines.front(), node.id, "this node has no name=, expected one");
            if (node.children.empty() || node.children == "NONE") continue;
            for (const std::string_view part : values::split(node.children, ',')) {
                const std::string_view id = values::trim(part);
                const auto found = by_id_.find(id);
                if (found == by_id_.end()) {
                    wrong(node, *node.children_line, id, fmt::format("there is no node {}", in_quotes(id)));
                    continue;
                }
                TreeNode& child = nodes_[found->second];
                if (child.reached) {
                    wrong(node, *node.children_line, id,
                          fmt::format("node {} is below another node already", in_quotes(id)));
                    continue;
                }
                child.reached = true;
                node.below.push_back(&child);
                waiting.push_back(&child);
            }
        }
    }

    void make(const TreeNode& root) {
        for (const TreeNode& node : nodes_) {
            if (!node.project) continue;
            projects_ = true;
            for (const TreeNode* child : node.below)
                if (!child->is_default()) pairs_ = true;
        }
        std::vector<const Line*> lines;
        for (const TreeNode& node : nodes_) lines.insert(lines.end(), node.lines.begin(), node.lines.end());
        const std::string from = place_of(file_, lines, "share tree");
        add_below(root, "root", "");
        out_.create(ObjectType::fs_group, kGroup, from);
        if (!elements_.empty())
            out_.set(ObjectType::fs_group, kGroup, "tree_element",
                     fmt::format("{}", fmt::join(elements_, ",")), from);
        out_.set(ObjectType::fs_group, kGroup, "entity",
                 pairs_      ? "egroup:euser"
                 : projects_ ? "Account_Name"
                             : "euser",
                 from);
        if (pairs_ || projects_)
            out_.note(
                file_, *lines.front(), "share tree",
                pairs_ ? "an fs_group has no projects: entities are pairs of group and user, with groups of "
                         "the projects' names"
                       : "an fs_group has no projects: entities are accounts of the projects' names "
                         "(qsub -A)");
        out_.set(ObjectType::fs_group, kGroup, "unknown_shares", std::to_string(unknown_shares_.value_or(0)),
                 from);
        out_.set(ObjectType::policy, kPolicy, "fairshare_group", kGroup, from);
    }

    // Adds the elements below a node. `project`: the node's own name if it is a project, else that of the
    // project that it is in.
    void add_below(const TreeNode& node, const std::string& parent, const std::string& project) {
        struct Step {
            const TreeNode* node;
            std::string parent;
            std::string project;
        };
        std::vector<Step> steps{{&node, parent, project}};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step step = steps[i];
            for (const TreeNode* child : step.node->below) {
                const std::string in = child->project ? std::string(child->name) : step.project;
                const std::string name = add(*child, step.parent, step.project);
                if (!name.empty()) steps.push_back({child, name, in});
            }
        }
    }

    // Adds an element for a node. Returns its name; empty: the node is left out.
    std::string add(const TreeNode& node, const std::string& parent, const std::string& project) {
        if (node.is_default()) return add_default(node, parent);
        const bool leaf = node.below.empty();
        std::string name(node.name);
        if (leaf && pairs_) {
            if (project.empty() || node.project)
                return leave_out(
                    node, node.project ? "is left out: it has no users, and entities are pairs of group and "
                                         "user; its jobs are those of unknown entities"
                                       : "is left out: the user is in no project, and entities are pairs of "
                                         "group and user");
            name = fmt::format("{}:{}", project, name);
        }
        if (leaf && projects_ && !pairs_ && !node.project)
            return leave_out(node,
                             "is left out: the user is in no project, and entities are accounts of the "
                             "projects' names");
        const std::string wish = name;
        while (!leaf && (name == "root" || names_.contains(name)))
            name = fmt::format("{}_{}", wish, ++copies_[wish]);
        if (name != wish)
            out_.note(file_, *node.lines.front(), node.name, fmt::format("is called {} here", name));
        if (!names_.insert(name).second)
            return leave_out(node, "is left out: an fs_group has each entity once, where it comes first");
        std::string element = fmt::format("{}:{}={}", name, parent, node.shares);
        const auto* row = objects::find_attribute(ObjectType::fs_group, "tree_element");
        if (const auto read = objects::value_of_items(*row, {element}); !read) {
            wrong(node, *node.name_line, node.name, read.error().message);
            return {};
        }
        elements_.push_back(std::move(element));
        return name;
    }

    std::string add_default(const TreeNode& node, const std::string& parent) {
        if (projects_ && !pairs_ && parent != "root")
            return leave_out(node, "is left out: all users of an account are one entity");
        if (unknown_shares_) return leave_out(node, "is left out: an earlier node default is unknown_shares");
        unknown_shares_ = node.shares;
        return leave_out(node,
                         "becomes unknown_shares: all users that aren't in the tree have these shares "
                         "together, below the root, where Grid Engine gave them to each");
    }

    std::string leave_out(const TreeNode& node, std::string_view why) {
        out_.note(file_, *node.lines.front(), node.name, why);
        return {};
    }

    Output& out_;
    const File& file_;
    std::vector<TreeNode> nodes_;
    std::map<std::string_view, std::size_t> by_id_;
    std::set<std::string_view> seen_;  // the settings of the node that is being read
    std::set<std::string> names_;
    std::map<std::string, int> copies_;  // by name of a group: the last number that was appended to it
    std::vector<std::string> elements_;
    std::optional<std::int32_t> unknown_shares_;
    bool projects_ = false;
    bool pairs_ = false;
    bool wrong_ = false;
};

}  // namespace

void read_share_tree(Output& out) {
    if (const File* file = out.folder().find("sstree")) ShareTreeReader(out, *file).read();
}

}  // namespace pbs::migrate::grid_engine
