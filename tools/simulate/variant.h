// What is simulated: a machine with a configuration of policies, and variants of it that are to be compared.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/snapshot.h"
#include "rrule/zone.h"
#include "tools/simulate/machine.h"

namespace pbs::simulate {

// Where variants start from.
struct Site {
    std::string document;  // as pbs_config export writes it; empty: default_policy and nothing else
    std::string name;      // of the document, for messages
    Machine machine;
    rrule::Zone zone = rrule::Zone::utc();
};

// A text that changes a configuration, from a file: directives of qmgr(8), or a document of pbs_config(8)
// (which begins with a brace).
struct ChangeText {
    std::string name;
    std::string text;
};

struct Variant {
    std::string title;  // what was asked for: the policies, or the file
    Machine machine;
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::vector<std::string> notes;  // warnings, a sentence each
};

// Is there a policy in the site's configuration for each name of a list such as "p1,np:p2"?
Result<bool> names_policies(const Site& site, std::string_view list);

// The site with policies in force as `set sched default policy = LIST` puts them; an empty list: as it is.
// Errors: what the configuration is refused for.
Result<Variant> variant_of_policies(const Site& site, const std::string& list);

// The site with changes made to it: create, delete, set and unset, of everything that it has. If they assign
// no policy to a sched and name exactly one policy, which no sched has, that one is tried: as the all-time
// policy of the sched default.
// Errors name the directive.
Result<Variant> variant_of_changes(const Site& site, const ChangeText& changes);

// Adds an execution queue for each that the configuration or the trace names, for machines that were not
// described: without one, jobs have nowhere to go.
void add_named_queues(const objects::Snapshot& snapshot, const std::vector<std::string>& of_trace,
                      Machine& machine);

}  // namespace pbs::simulate
