// The resource_group file of PBS.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "migrate/export_parts.h"

namespace pbs::migrate {
namespace {

// 0 is the group of the root's children, 1 that of those who aren't in the tree.
constexpr int kFirstNumber = 10;

struct Element {
    std::string_view name;
    std::string_view parent;
    std::string_view shares;
};

Element element_of(std::string_view text) {
    const auto equals = text.rfind('=');
    const auto colon = text.rfind(':', equals);
    return {text.substr(0, colon), text.substr(colon + 1, equals - colon - 1), text.substr(equals + 1)};
}

}  // namespace

Exported export_resource_group(const ExportSource& source) {
    Exported out;
    out.text = "# name\tnumber\tparent\tshares\n";
    const objects::Object* group = fs_group_of(source);
    for (const objects::ObjectPtr& other : source.snapshot.objects(objects::ObjectType::fs_group))
        if (group == nullptr || other->name() != group->name())
            out.left_out.push_back(
                fmt::format("fs_group {}: the scheduler had one tree{}", other->name(),
                            group == nullptr ? ", and no policy says that it is this one" : ""));
    if (group == nullptr) return out;
    std::vector<Element> left;
    for (const std::string& text : group->list("tree_element")) left.push_back(element_of(text));
    // A parent comes before its children.
    std::set<std::string_view> there = {"root"};
    int number = kFirstNumber;
    for (bool found = true; found;) {
        found = false;
        for (auto element = left.begin(); element != left.end();) {
            const bool named = element->name != "unknown" && element->name != "TREEROOT";
            if (!named || !there.contains(element->parent)) {
                ++element;
                continue;
            }
            out.text +=
                fmt::format("{}\t{}\t{}\t{}\n", element->name, number++, element->parent, element->shares);
            there.insert(element->name);
            element = left.erase(element);
            found = true;
        }
    }
    for (const Element& element : left)
        out.left_out.push_back(
            fmt::format("fs_group {} tree_element {}:{}={}: unknown and TREEROOT are groups of "
                        "every tree of the file",
                        group->name(), element.name, element.parent, element.shares));
    return out;
}

}  // namespace pbs::migrate
