// Two documents of the configuration (pbs_config export) side by side.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct ConfigAttribute {
    std::string name;
    std::optional<std::string> before;  // not there: it wasn't set
    std::optional<std::string> after;
};

// An object in which the two differ.
struct ConfigChange {
    std::string type;
    std::string name;  // empty for the server
    // It is in one of the two only. Of queues, nodes, resources and schedulers that is known if both
    // documents have the server's own part.
    bool created = false;
    bool deleted = false;
    std::vector<ConfigAttribute> attributes{};
};

// "policy p1", "server"
std::string config_title(std::string_view type, std::string_view name);

// What changes from one document to the other, in the order of documents. `object` ("policy p1") limits it to
// that object; empty: all. Errors: a text that is no document.
Result<std::vector<ConfigChange>> config_diff(std::string_view before, std::string_view after,
                                              std::string_view object);

// As lines: an object, and below it what goes with "-" and what comes with "+" in front. Empty for no
// difference.
std::string diff_text(const std::vector<ConfigChange>& changes);
// As directives of qmgr that make `after` out of `before`, in an order in which objects are there before
// others refer to them, and go when none does any more.
std::string diff_directives(const std::vector<ConfigChange>& changes);

}  // namespace pbs::cmds
