#include "ifl/cmds/attr_list.h"
#include "values/number.h"

#include <algorithm>
#include <utility>

namespace pbs::cmds {

void AttrList::add(std::string name, std::string resource, std::string value, batch_op op) {
    entries_.push_back({std::move(name), std::move(resource), std::move(value), op});
}

void AttrList::put(std::string name, std::string resource, std::string value, batch_op op) {
    for (Entry& entry : entries_) {
        if (entry.name == name && entry.resource == resource) {
            entry.value = std::move(value);
            entry.op = op;
            return;
        }
    }
    add(std::move(name), std::move(resource), std::move(value), op);
}

const std::string* AttrList::find(std::string_view name, std::string_view resource) const {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.name == name && e.resource == resource; });
    return entry == entries_.end() ? nullptr : &entry->value;
}

attropl* AttrList::operations() {
    operations_.clear();
    for (Entry& entry : entries_) {
        operations_.push_back({nullptr, entry.name.data(),
                               entry.resource.empty() ? nullptr : entry.resource.data(), entry.value.data(),
                               entry.op});
    }
    for (std::size_t i = 0; i + 1 < operations_.size(); ++i) operations_[i].next = &operations_[i + 1];
    return operations_.empty() ? nullptr : &operations_.front();
}

attrl* AttrList::attributes() {
    attributes_.clear();
    for (Entry& entry : entries_) {
        attributes_.push_back({nullptr, entry.name.data(),
                               entry.resource.empty() ? nullptr : entry.resource.data(), entry.value.data(),
                               entry.op});
    }
    for (std::size_t i = 0; i + 1 < attributes_.size(); ++i) attributes_[i].next = &attributes_[i + 1];
    return attributes_.empty() ? nullptr : &attributes_.front();
}

std::string attribute_name(const attrl& attribute) {
    std::string name(view(attribute.name));
    if (!view(attribute.resource).empty()) {
        name += '.';
        name += view(attribute.resource);
    }
    return name;
}

std::optional<std::string_view> value_of(const attrl* attributes, std::string_view name,
                                         std::string_view resource) {
    for (; attributes != nullptr; attributes = attributes->next)
        if (view(attributes->name) == name && view(attributes->resource) == resource)
            return view(attributes->value);
    return std::nullopt;
}

double real_of(const batch_status& object, std::string_view name) {
    return values::decimal(text_of(object, name)).value_or(0);
}

}  // namespace pbs::cmds
