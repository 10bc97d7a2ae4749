// Finds the differences between two documents of the configuration, as `pbs_config export` writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct ConfigAttribute {
    std::string name;  // of an attribute whose elements are set one by one, such as a rule: "rule.NAME"
    std::optional<std::string> before;  // nullopt: not set
    std::optional<std::string> after;
    // If this is about the order of an attribute's elements (their keys, separated by commas): the
    // attribute's whole new value, which a directive has to set, because setting elements one by one makes
    // another order.
    std::optional<std::string> whole{};
};

// An object in which two documents of the configuration differ.
struct ConfigChange {
    std::string type;
    std::string name;  // empty for the server
    // created: only the second document has the object. deleted: only the first one has it. For queues,
    // nodes, resources and schedulers both are false unless both documents have the part "host", about the
    // server's own objects.
    bool created = false;
    bool deleted = false;
    std::vector<ConfigAttribute> attributes{};
};

// Returns the text by which messages name an object: "policy p1" or "server".
std::string config_title(std::string_view type, std::string_view name);

// Returns the changes from the first document to the second, in the order in which documents have the
// objects. `object` ("policy p1") limits them to that object; empty: all. Errors: a text is no such document.
Result<std::vector<ConfigChange>> config_diff(std::string_view before, std::string_view after,
                                              std::string_view object);

// Returns the changes as lines: each object, then its removed values with "-" and its new ones with "+".
// Empty if there are no changes.
std::string diff_text(const std::vector<ConfigChange>& changes);
// Returns the changes as qmgr directives that turn `before` into `after`. An object is created before other
// objects refer to it, and deleted after the last reference to it is removed.
std::string diff_directives(const std::vector<ConfigChange>& changes);

}  // namespace pbs::cmds
