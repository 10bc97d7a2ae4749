// Names in values of what lives in the server rather than in the store: queues and resources.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "objects/check.h"

namespace pbs::objects {

// Do the queues and resources exist that `value` names and `before` (null: nothing was set) didn't? What was
// named before stays, whatever became of it. Errors: bad_value, naming attribute, element, and what isn't
// there; with context.warnings they are put there instead.
Result<void> check_names(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context);

enum class NameKind { queue, resource };

// Does no policy and no fs_group name this queue or resource, so that it can go? queue@host names `queue`.
// Errors: busy, naming what refers to it.
Result<void> check_unnamed(const Draft& draft, NameKind kind, std::string_view name);

// All that is referred to in a draft, read once: of thousands of objects that go, only those are asked about
// that somebody names.
class UsedNames {
  public:
    explicit UsedNames(const Draft& draft);

    // Has check_unreferenced(), or check_unnamed(), something to say?
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
