// The configuration at one revision, immutable: scheduling cycles and status requests read it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/object_list.h"
#include "objects/quota_rule.h"
#include "objects/schema.h"
#include "objects/value.h"

namespace pbs::objects {

// A text that is derived from an object and cached in it. A copy of the object, which is made to be changed,
// begins with an empty cache.
class KeptText {
  public:
    KeptText() = default;
    KeptText(const KeptText&) noexcept {}
    KeptText& operator=(const KeptText&) noexcept {
        clear();
        return *this;
    }
    ~KeptText() = default;

    template <class Make>
    const std::string& get(Make&& make) {
        if (!text_) text_ = std::make_unique<const std::string>(make());
        return *text_;
    }
    void clear() { text_.reset(); }

    // The text is derived from the values, so it doesn't count in comparisons.
    friend bool operator==(const KeptText&, const KeptText&) { return true; }

  private:
    std::unique_ptr<const std::string> text_;
};

// An object with the values that were set on it. In a snapshot it is immutable, and shared by all snapshots
// that contain the same object.
//
// The getters by type return the value set, else the default, else a zero of their type (false, 0, empty).
// `name` must be an attribute of the object's type with a fitting syntax. Otherwise they return zero (debug
// builds assert).
class Object {
  public:
    Object(ObjectType type, std::string name) : type_(type), name_(std::move(name)) {}

    ObjectType type() const { return type_; }
    const std::string& name() const { return name_; }

    // Returns whether the attribute was set, rather than left at its default.
    bool is_set(std::string_view name) const;
    // Returns whether the attribute has a value, set or default.
    bool has(std::string_view name) const { return value(name) != nullptr; }
    // Returns the value set, else the default, else null.
    const Value* value(std::string_view name) const;
    const Value* value(const Attribute& attribute) const;

    bool boolean(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    std::chrono::seconds seconds(std::string_view name) const;  // durations and times of day
    Variance variance(std::string_view name) const;
    std::string_view text(std::string_view name) const;  // strings, words, names
    std::span<const std::string> list(std::string_view name) const;

    // Returns the value set; null if the attribute was left at its default.
    const Value* set_value(const Attribute& attribute) const;
    // Returns the values set, in the order of the table, each with its position in the table.
    std::span<const std::pair<std::size_t, Value>> values() const { return values_; }

    // Returns the text cached with this object, which `make()` makes on the first call. All callers must make
    // the same text, since an object has one. For one thread at a time.
    template <class Make>
    std::string_view kept_text(Make&& make) const {
        return kept_.get(std::forward<Make>(make));
    }

    // assign() and clear() change a value. Call them only while the object is being built, before a snapshot
    // shares it.
    void assign(const Attribute& attribute, Value value);
    void clear(const Attribute& attribute);

    friend bool operator==(const Object&, const Object&) = default;

  private:
    ObjectType type_;
    std::string name_;
    std::vector<std::pair<std::size_t, Value>> values_;  // by position, ascending
    mutable KeptText kept_;
};

// The policies of a scheduler (PP-748, interface 1). An empty name: none for these times.
struct PolicySlots {
    std::string all_time;
    std::string prime;
    std::string non_prime;
    bool empty() const { return all_time.empty(); }
    // Returns the names that are set. A policy that is in several slots is there several times.
    std::vector<std::string> names() const;
    friend bool operator==(const PolicySlots&, const PolicySlots&) = default;
};

using values::kConfiguredTypes;

// Returns the rules of a quota, in the order in which a job is compared with them.
std::vector<QuotaRule> quota_rules(const Object& quota);

class Snapshot {
  public:
    // Grows by one for each object that a command changes; 0: there was no command.
    std::uint64_t revision() const { return revision_; }

    // Finds an object by name; null if there is none. The pointer is valid while the snapshot is.
    const Object* find(ObjectType type, std::string_view name) const;
    // Returns all objects of a type in the order of names. The reference is valid while the snapshot is.
    const ObjectList& objects(ObjectType type) const;

    const Object* policy(std::string_view name) const { return find(ObjectType::policy, name); }
    const Object* time_window(std::string_view name) const { return find(ObjectType::time_window, name); }
    const Object* fs_group(std::string_view name) const { return find(ObjectType::fs_group, name); }

    // Returns the policies of a scheduler. All are empty if it has none: it then reads its sched_config file.
    PolicySlots policy_slots(std::string_view sched) const;
    // Returns the names of a queue's time_windows, in the order in which they were set; empty: the queue is
    // always open.
    std::span<const std::string> queue_time_windows(std::string_view queue) const;
    // Returns the server's non_work_days, each a recurrence.
    std::span<const std::string> non_work_days() const;
    // Returns the time_windows of one type: "standard", "prime" or "dedicated".
    std::vector<const Object*> time_windows_of_type(std::string_view type) const;

  private:
    friend class Draft;

    static std::size_t position(ObjectType type);
    ObjectPtr find_shared(ObjectType type, std::string_view name) const;

    std::uint64_t revision_ = 0;
    std::array<ObjectList, kConfiguredTypes.size()> objects_{};  // in the order of kConfiguredTypes
};

// Reads the elements of a sched's attribute policy ("p1", "p:p2", "np:p3").
PolicySlots slots_from_list(std::span<const std::string> list);

// Returns the name of the policy in force (PP-748, interface 1). In dedicated time it is the p: policy if
// there are both a p: and an np: policy. At other times, if there are time_windows of type prime, it is the
// p: policy in prime time and the np: policy outside it. Otherwise, or if that policy is missing, it is the
// all-time policy. Empty only if there is no policy at all.
std::string_view policy_in_force(const PolicySlots& slots, bool prime_windows, bool prime_time,
                                 bool dedicated_time);

}  // namespace pbs::objects
