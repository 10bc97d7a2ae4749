// Exports the resource_group file of PBS.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "migrate/export_parts.h"

namespace pbs::migrate {
namespace {

// First number for a group: 0 is the group of the root's children, 1 the group of entities outside the tree.
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

struct Order {
    std::vector<Element> elements;  // as set, but each parent before its children
    std::vector<Element> left;      // elements that the file can't express, and all elements below these
};

class Sorter {
  public:
    explicit Sorter(std::span<const std::string> tree) {
        for (const std::string& text : tree) {
            elements_.push_back(element_of(text));
            places_.emplace(elements_.back().name, elements_.size() - 1);
        }
        state_.resize(elements_.size(), State::waiting);
    }

    Order run() {
        for (std::size_t i = 0; i < elements_.size(); ++i) add(i);
        return std::move(out_);
    }

  private:
    enum class State : std::uint8_t { waiting, there, left };

    // Adds an element after all of its ancestors that aren't added yet.
    void add(std::size_t element) {
        std::vector<std::size_t> path;
        State state = State::there;
        for (std::optional<std::size_t> at = element; at; at = above(*at)) {
            state = state_[*at];
            if (state != State::waiting) break;
            path.push_back(*at);
            state = State::there;  // in case the parent is the root
        }
        for (; !path.empty(); path.pop_back()) {
            const Element& one = elements_[path.back()];
            if (one.name == "unknown" || one.name == "TREEROOT") state = State::left;
            state_[path.back()] = state;
            (state == State::there ? out_.elements : out_.left).push_back(one);
        }
    }

    // Returns the index of the parent; nullopt: the root. The store has checked that every other parent is an
    // element and that there is no cycle.
    std::optional<std::size_t> above(std::size_t element) const {
        const auto found = places_.find(elements_[element].parent);
        return found == places_.end() ? std::nullopt : std::optional(found->second);
    }

    std::vector<Element> elements_;
    std::unordered_map<std::string_view, std::size_t> places_;  // index by name
    std::vector<State> state_;
    Order out_;
};

Order in_order(std::span<const std::string> tree) {
    return Sorter(tree).run();
}

}  // namespace

Exported export_resource_group(const ExportSource& source) {
    Exported out;
    out.text = "# name\tnumber\tparent\tshares\n";
    const objects::Object* group = fs_group_of(source);
    for (const objects::ObjectPtr& other : source.snapshot.objects(objects::ObjectType::fs_group))
        if (group == nullptr || other->name() != group->name())
            out.left_out.push_back(fmt::format("fs_group {}: the file can have one tree only{}",
                                               other->name(),
                                               group == nullptr ? ", and no policy names this one" : ""));
    if (group == nullptr) return out;
    const Order order = in_order(group->list("tree_element"));
    int number = kFirstNumber;
    for (const Element& element : order.elements)
        out.text += fmt::format("{}\t{}\t{}\t{}\n", element.name, number++, element.parent, element.shares);
    for (const Element& element : order.left)
        out.left_out.push_back(
            fmt::format("fs_group {} tree_element {}:{}={}: unknown and TREEROOT are groups that every tree "
                        "of the file has",
                        group->name(), element.name, element.parent, element.shares));
    return out;
}

}  // namespace pbs::migrate
