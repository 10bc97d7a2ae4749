#include "migrate/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "migrate/object_names.h"
#include "migrate/sched_policies.h"
#include "objects/snapshot.h"
#include "values/object_types.h"

namespace pbs::migrate {
namespace {

using objects::CommandKind;
using objects::ObjectType;
using objects::Operation;

using ObjectKey = std::pair<ObjectType, std::string>;
using AttributeKey = std::tuple<ObjectType, std::string, std::string>;

bool is_list_of_elements(const LedgerLine& line) {
    return line.type == ObjectType::server && line.attribute == "non_work_days";
}

std::string title(ObjectType type, const std::string& object) {
    return object.empty() ? std::string(objects::type_name(type))
                          : fmt::format("{} {}", objects::type_name(type), object);
}

class Sweeper {
  public:
    Sweeper(const Ledger& before, const Ledger& now, const std::set<Part>& parts,
            const objects::Snapshot& current, const Surroundings& server)
        : current_(current), server_(server) {
        for (const LedgerLine& line : now.lines) want(line);
        for (const LedgerLine& line : before.lines)
            if (!parts.contains(line.part)) want(line);
        for (const LedgerLine& line : before.lines)
            if (parts.contains(line.part) && !wanted(line)) stale_.push_back(line);
        index_references();
    }

    Swept run() {
        find_unset();
        for (const LedgerLine& line : stale_)
            if (line.attribute.empty() && !objects::is_own_type(line.type)) tell_of(line);
        find_deleted();
        unset();
        remove();
        return std::move(out_);
    }

  private:
    void want(const LedgerLine& line) {
        wanted_objects_.insert({line.type, line.object});
        wanted_.insert({line.type, line.object, line.attribute});
        if (is_list_of_elements(line)) wanted_elements_.insert(line.value);
    }
    bool wanted(const LedgerLine& line) const {
        if (is_list_of_elements(line)) return wanted_elements_.contains(line.value);
        if (line.attribute.empty()) return wanted_objects_.contains({line.type, line.object});
        return wanted_.contains({line.type, line.object, line.attribute});
    }

    // Finds values of the ledger to unset: those that are no longer in the files and still as migrated.
    void find_unset() {
        for (const LedgerLine& line : stale_) {
            if (line.attribute.empty() || line.type == ObjectType::resource) continue;
            if (is_list_of_elements(line)) {
                element(line);
            } else if (line.type == ObjectType::queue && line.attribute == "execution_type") {
                out_.queue_types.push_back({line.object, line.value, ""});
                taken_back(line);
            } else {
                value(line);
            }
        }
    }

    void element(const LedgerLine& line) {
        const auto days = current_.non_work_days();
        if (std::find(days.begin(), days.end(), line.value) == days.end()) return;
        out_.commands.push_back(
            {CommandKind::set, ObjectType::server, "", {{line.attribute, line.value, Operation::decrement}}});
        taken_back(line);
    }

    void value(const LedgerLine& line) {
        const objects::Object* object = current_.find(line.type, line.object);
        const objects::Attribute* attribute = objects::find_attribute(line.type, line.attribute);
        const objects::Value* value =
            object == nullptr || attribute == nullptr ? nullptr : object->set_value(*attribute);
        if (value == nullptr) return;
        if (objects::format_value(*attribute, *value) != line.value) {
            out_.notes.push_back(fmt::format(
                "{} {}: stays although the files no longer have it, as it was changed after the migration",
                title(line.type, line.object), line.attribute));
            return;
        }
        unset_[{line.type, line.object}].push_back(line);
        released_.insert({line.type, line.object, line.attribute});
    }

    // Adds a note that an object of the server, such as a queue, stays. The note comes at every migration
    // while the object exists, but only once if it is unknown whether the object exists.
    void tell_of(const LedgerLine& line) {
        const auto there = server_.has(line.type, line.object);
        if (there == false) return;
        const std::string name = title(line.type, line.object);
        out_.notes.push_back(fmt::format(
            "{0}: stays although the print no longer has it: qmgr -c \"delete {0}\" removes it", name));
        if (there) out_.ledger.lines.push_back(line);
    }

    // Finds objects to delete. Objects come before those that they refer to: policies before fs_groups and
    // time_windows.
    void find_deleted() {
        for (const ObjectType type : values::kDeletingOrder) {
            for (const LedgerLine& line : stale_)
                if (values::is_own_type(type) && line.attribute.empty() && line.type == type) object(line);
            keep_others(type);
        }
    }

    // Keeps the values of objects that no migration made, if the server would refuse the objects without
    // them.
    void keep_others(ObjectType type) {
        std::map<std::string, std::vector<std::string>> kept;
        for (auto one = unset_.lower_bound({type, ""}); one != unset_.end() && one->first.first == type;
             ++one) {
            const std::string& name = one->first.second;
            if (deleted_.contains(one->first)) continue;
            if (auto reasons = needs(type, name); !reasons.empty()) kept.emplace(name, std::move(reasons));
        }
        for (const auto& [name, reasons] : kept) {
            out_.notes.push_back(fmt::format("{}: stays as it is although the files no longer have it: {}",
                                             title(type, name), fmt::join(reasons, "; ")));
            keep(type, name);
        }
    }

    // Returns the reasons why an object can't lose its values. A time_window that is used needs its rrule,
    // and a quota the rules that its rule_order names.
    std::vector<std::string> needs(ObjectType type, const std::string& name) const {
        if (type == ObjectType::time_window) return users(type, name);
        const objects::Object* object = current_.find(type, name);
        if (type == ObjectType::quota && object != nullptr && object->is_set("rule_order"))
            return {"its rule_order names its rules"};
        return {};
    }

    void object(const LedgerLine& line) {
        const objects::Object* object = current_.find(line.type, line.object);
        if (object == nullptr) return;
        std::vector<std::string> reasons = others_values(*object);
        std::vector<std::string> uses = users(line.type, line.object);
        const bool in_use = !uses.empty() || !needs(line.type, line.object).empty();
        reasons.insert(reasons.end(), uses.begin(), uses.end());
        if (reasons.empty()) {
            deleted_.insert({line.type, line.object});
            to_remove_.push_back({line.type, line.object});
            return;
        }
        out_.notes.push_back(fmt::format("{}: stays although the files no longer have it: {}",
                                         title(line.type, line.object), fmt::join(reasons, "; ")));
        if (in_use) keep(line.type, line.object);
    }

    // Keeps an object that is in use, with all its values, and its lines in the ledger: a later migration may
    // find it unused.
    void keep(ObjectType type, const std::string& object) {
        unset_.erase({type, object});
        std::erase_if(released_, [&](const AttributeKey& key) {
            return std::get<0>(key) == type && std::get<1>(key) == object;
        });
        for (const LedgerLine& line : stale_)
            if (line.type == type && line.object == object) out_.ledger.lines.push_back(line);
    }

    std::vector<std::string> others_values(const objects::Object& object) const {
        std::vector<std::string> out;
        for (const auto& [index, value] : object.values()) {
            const objects::Attribute& attribute = objects::attributes(object.type())[index];
            const AttributeKey key{object.type(), object.name(), std::string(attribute.name)};
            if (attribute.name != "comment" && !released_.contains(key))
                out.push_back(fmt::format("{} has another value", attribute.name));
        }
        return out;
    }

    // Indexes the references of all objects, by the object that is referred to.
    void index_references() {
        if (stale_.empty()) return;
        for (const ObjectType user_type : objects::kConfiguredTypes) {
            for (const objects::ObjectPtr& user : current_.objects(user_type)) {
                for (const auto& [index, value] : user->values()) {
                    const objects::Attribute& attribute = objects::attributes(user_type)[index];
                    if (!attribute.refers_to) continue;
                    const AttributeKey key{user_type, user->name(), std::string(attribute.name)};
                    for (std::string& item : objects::format_items(attribute, value)) {
                        // An element of a scheduler's policies may have a prefix, as in p:night.
                        if (attribute.syntax == objects::Syntax::policy_slots)
                            item.erase(0, item.find(':') + 1);
                        auto& known = references_[{*attribute.refers_to, std::move(item)}];
                        if (known.empty() || known.back() != key) known.push_back(key);
                    }
                }
            }
        }
    }

    std::vector<std::string> users(ObjectType type, const std::string& name) const {
        std::vector<std::string> out;
        const auto found = references_.find({type, name});
        if (found == references_.end()) return out;
        for (const AttributeKey& key : found->second) {
            const auto& [user_type, user, attribute] = key;
            if (deleted_.contains({user_type, user})) continue;
            // Skip a value that this migration sets or unsets: afterwards it won't name the object that is to
            // be deleted.
            if (released_.contains(key) || wanted_.contains(key)) continue;
            out.push_back(fmt::format("{} uses it", title(user_type, user)));
        }
        return out;
    }

    void unset() {
        for (const auto& [key, lines] : unset_) {
            if (deleted_.contains(key)) continue;
            const auto& [type, object] = key;
            for (const LedgerLine& line : lines) taken_back(line);
            if (type == ObjectType::sched) {
                // Give the scheduler default_policy instead of none: without a policy it would read its
                // sched_config.
                out_.commands.push_back(
                    {CommandKind::set, type, object, {{"policy", kPolicy, Operation::set}}});
                continue;
            }
            objects::Command command{CommandKind::unset, type, object, {}};
            // Unset in reverse order: fairshare goes before the fairshare_group that it needs.
            for (auto line = lines.rbegin(); line != lines.rend(); ++line)
                command.changes.push_back({line->attribute, "", Operation::unset});
            out_.commands.push_back(std::move(command));
        }
    }

    void remove() {
        for (const auto& [type, object] : to_remove_) {
            out_.commands.push_back({CommandKind::remove, type, object, {}});
            out_.lines.push_back({kGone, title(type, object), "", true});
        }
    }

    void taken_back(const LedgerLine& line) {
        std::string target = fmt::format("{} {}", title(line.type, line.object), line.attribute);
        const bool element = is_list_of_elements(line);
        if (element) target += " = " + line.value;
        out_.lines.push_back({kGone, std::move(target), "", true, element ? "" : line.value});
    }

    const objects::Snapshot& current_;
    const Surroundings& server_;
    std::vector<LedgerLine> stale_;
    std::set<ObjectKey> wanted_objects_;
    std::set<AttributeKey> wanted_;
    std::set<std::string> wanted_elements_;
    std::map<ObjectKey, std::vector<LedgerLine>> unset_;
    std::set<AttributeKey> released_;
    std::map<ObjectKey, std::vector<AttributeKey>> references_;  // the values that name an object
    std::set<ObjectKey> deleted_;
    std::vector<ObjectKey> to_remove_;  // the elements of deleted_, in the order in which they can go
    Swept out_;
};

}  // namespace

Swept sweep(const Ledger& before, const Ledger& now, const std::set<Part>& parts,
            const objects::Snapshot* current, const Surroundings& server) {
    Swept out;
    if (current != nullptr) out = Sweeper(before, now, parts, *current, server).run();
    for (const LedgerLine& line : before.lines)
        if (!parts.contains(line.part)) out.ledger.lines.push_back(line);
    out.ledger.lines.insert(out.ledger.lines.end(), now.lines.begin(), now.lines.end());
    return out;
}

}  // namespace pbs::migrate
