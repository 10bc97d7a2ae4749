// Checks names of queues and resources in attribute values. The server keeps queues and resources, not the
// store.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "objects/check.h"
#include "objects/commands.h"

namespace pbs::objects {

// Checks that the queues and resources that `value` names exist. A name that is in `before` (null: not set)
// too is accepted even if its queue or resource is gone. Errors: bad_value, naming the attribute, the element
// and the missing name; if context.warnings is set, the text goes there instead.
Result<void> check_names(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context);

// Returns a remark on a resource that can be no load of vnodes, because its values aren't numbers; empty: it
// can be one, or its type isn't known. `name`: the resource, or np_ and the resource.
std::string no_load(std::string_view name, const ResourceNames& resources);

enum class NameKind { queue, resource };

// Checks that no policy, fs_group or quota names this queue or resource, so that it may be deleted.
// queue@host counts as naming `queue`. Errors: busy, naming what refers to it.
Result<void> check_unnamed(const Draft& draft, NameKind kind, std::string_view name);

// Returns the type that a resource has after the server's change of it; nullopt: it is removed, or the type
// isn't known.
std::optional<values::ResourceKind> kind_after(const HostChange& resource);

// Checks that the values that name the resource stay right with the type that the server's change gives it.
// Errors: busy, naming the first object whose value would be wrong, and why.
Result<void> check_retyped(const Draft& draft, const HostChange& resource, const CheckContext& context);

// All names to which a draft refers, collected once. This makes a deletion of thousands of objects fast: the
// slow checks run only for names that are in use.
class UsedNames {
  public:
    explicit UsedNames(const Draft& draft);

    // refers_to() returns whether check_unreferenced() would report an error, names() whether check_unnamed()
    // would.
    bool refers_to(ObjectType type, std::string_view name) const;
    bool names(NameKind kind, std::string_view name) const;

  private:
    using Names = std::set<std::string, std::less<>>;
    std::map<ObjectType, Names> objects_;
    Names queues_;
    Names resources_;
    Names formulas_;
};

}  // namespace pbs::objects
