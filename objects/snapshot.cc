#include "objects/snapshot.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "objects/draft.h"

namespace pbs::objects {
namespace {

// The defaults of a type, parsed once. nullopt: no default, or one that can't be parsed, which the tests of
// the table find.
using Defaults = std::vector<std::optional<Value>>;

Defaults parse_defaults(ObjectType type) {
    Defaults defaults;
    for (const Attribute& attribute : attributes(type)) {
        std::optional<Value>& value = defaults.emplace_back();
        if (attribute.default_value.empty()) continue;
        Result<Value> parsed = parse_value(attribute, attribute.default_value);
        assert(parsed);
        if (parsed) value = std::move(*parsed);
    }
    return defaults;
}

const Defaults& defaults_of(ObjectType type) {
    static const std::map<ObjectType, Defaults> all = [] {
        std::map<ObjectType, Defaults> result;
        for (ObjectType t : kConfiguredTypes) result.emplace(t, parse_defaults(t));
        return result;
    }();
    return all.at(type);
}

template <class T>
const T* get(const Object& object, std::string_view name) {
    const Value* value = object.value(name);
    return value ? std::get_if<T>(value) : nullptr;
}

}  // namespace

const Value* Object::set_value(const Attribute& attribute) const {
    const std::size_t index = attribute_index(type_, attribute);
    const auto found = std::ranges::lower_bound(values_, index, {}, &std::pair<std::size_t, Value>::first);
    return found != values_.end() && found->first == index ? &found->second : nullptr;
}

bool Object::is_set(std::string_view name) const {
    const Attribute* attribute = find_attribute(type_, name);
    return attribute && set_value(*attribute);
}

const Value* Object::value(std::string_view name) const {
    const Attribute* attribute = find_attribute(type_, name);
    assert(attribute);
    return attribute ? value(*attribute) : nullptr;
}

const Value* Object::value(const Attribute& attribute) const {
    if (const Value* set = set_value(attribute)) return set;
    const std::optional<Value>& value = defaults_of(type_)[attribute_index(type_, attribute)];
    return value ? &*value : nullptr;
}

bool Object::boolean(std::string_view name) const {
    const bool* value = get<bool>(*this, name);
    return value && *value;
}

std::int64_t Object::integer(std::string_view name) const {
    const auto* value = get<std::int64_t>(*this, name);
    return value ? *value : 0;
}

double Object::real(std::string_view name) const {
    const auto* value = get<double>(*this, name);
    return value ? *value : 0;
}

std::chrono::seconds Object::seconds(std::string_view name) const {
    if (const auto* time = get<TimeOfDay>(*this, name)) return time->since_midnight;
    const auto* value = get<std::chrono::seconds>(*this, name);
    return value ? *value : std::chrono::seconds{0};
}

Variance Object::variance(std::string_view name) const {
    const auto* value = get<Variance>(*this, name);
    return value ? *value : Variance{};
}

std::string_view Object::text(std::string_view name) const {
    const auto* value = get<std::string>(*this, name);
    return value ? std::string_view(*value) : std::string_view{};
}

std::span<const std::string> Object::list(std::string_view name) const {
    const auto* value = get<StringList>(*this, name);
    return value ? std::span<const std::string>(*value) : std::span<const std::string>{};
}

void Object::assign(const Attribute& attribute, Value value) {
    kept_.clear();
    const std::size_t index = attribute_index(type_, attribute);
    const auto at = std::ranges::lower_bound(values_, index, {}, &std::pair<std::size_t, Value>::first);
    if (at != values_.end() && at->first == index) {
        at->second = std::move(value);
    } else {
        values_.emplace(at, index, std::move(value));
    }
}

void Object::clear(const Attribute& attribute) {
    kept_.clear();
    std::erase_if(values_,
                  [index = attribute_index(type_, attribute)](const auto& v) { return v.first == index; });
}

std::size_t Snapshot::position(ObjectType type) {
    return static_cast<std::size_t>(std::ranges::find(kConfiguredTypes, type) - kConfiguredTypes.begin());
}

const ObjectList& Snapshot::objects(ObjectType type) const {
    static const ObjectList none;
    const std::size_t index = position(type);
    return index < objects_.size() ? objects_[index] : none;
}

ObjectPtr Snapshot::find_shared(ObjectType type, std::string_view name) const {
    return objects(type).find(name);
}

const Object* Snapshot::find(ObjectType type, std::string_view name) const {
    return find_shared(type, name).get();
}

PolicySlots Snapshot::policy_slots(std::string_view sched) const {
    const Object* object = find(ObjectType::sched, sched);
    return object ? slots_from_list(object->list("policy")) : PolicySlots{};
}

std::span<const std::string> Snapshot::queue_time_windows(std::string_view queue) const {
    const Object* object = find(ObjectType::queue, queue);
    return object ? object->list("time_window") : std::span<const std::string>{};
}

std::span<const std::string> Snapshot::non_work_days() const {
    const Object* object = find(ObjectType::server, "");
    return object ? object->list("non_work_days") : std::span<const std::string>{};
}

std::vector<const Object*> Snapshot::time_windows_of_type(std::string_view type) const {
    std::vector<const Object*> result;
    for (const ObjectPtr& window : objects(ObjectType::time_window)) {
        if (window->text("type") == type) result.push_back(window.get());
    }
    return result;
}

std::vector<std::string> PolicySlots::names() const {
    std::vector<std::string> set;
    for (const std::string* const name : {&all_time, &prime, &non_prime})
        if (!name->empty()) set.push_back(*name);
    return set;
}

PolicySlots slots_from_list(std::span<const std::string> list) {
    PolicySlots slots;
    for (std::string_view element : list) {
        if (element.starts_with("p:")) {
            slots.prime = element.substr(2);
        } else if (element.starts_with("np:")) {
            slots.non_prime = element.substr(3);
        } else {
            slots.all_time = element;
        }
    }
    return slots;
}

std::string_view policy_in_force(const PolicySlots& slots, bool prime_windows, bool prime_time,
                                 bool dedicated_time) {
    std::string_view chosen;
    if (dedicated_time) {
        if (!slots.prime.empty() && !slots.non_prime.empty()) chosen = slots.prime;
    } else if (prime_windows) {
        chosen = prime_time ? slots.prime : slots.non_prime;
    }
    return chosen.empty() ? std::string_view(slots.all_time) : chosen;
}

std::vector<QuotaRule> quota_rules(const Object& quota) {
    std::vector<QuotaRule> rules;
    for (const std::string& element : quota.list("rule"))
        if (auto rule = parse_quota_rule(element)) rules.push_back(*std::move(rule));
    const std::span<const std::string> order = quota.list("rule_order");
    std::ranges::stable_sort(rules, {}, [&](const QuotaRule& rule) {
        return std::ranges::find(order, rule.name) - order.begin();
    });
    return rules;
}

}  // namespace pbs::objects
