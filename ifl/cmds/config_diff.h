// The differences between two documents of the configuration (pbs_config export).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct ConfigAttribute {
    std::string name;
    std::optional<std::string> before;  // nullopt: not set
    std::optional<std::string> after;
};

// An object in which the documents differ.
struct ConfigChange {
    std::string type;
    std::string name;  // empty for the server
    // The object is in one document only. For queues, nodes, resources and schedulers this is known only if
    // both documents have the server's own part.
    bool created = false;
    bool deleted = false;
    std::vector<ConfigAttribute> attributes{};
};

// An object as messages name it: "policy p1" or "server".
std::string config_title(std::string_view type, std::string_view name);

// The changes from one document to the other, in the order of documents. `object` ("policy p1") limits them
// to that object; empty: all. Errors: a text is no such document.
Result<std::vector<ConfigChange>> config_diff(std::string_view before, std::string_view after,
                                              std::string_view object);

// The changes as lines: each object, then its removed values with "-" and its new ones with "+". Empty if
// there are no changes.
std::string diff_text(const std::vector<ConfigChange>& changes);
// The changes as qmgr directives that turn `before` into `after`, ordered so that objects are created before
// others refer to them, and deleted after.
std::string diff_directives(const std::vector<ConfigChange>& changes);

}  // namespace pbs::cmds
