// Variants of a site's configuration, which are simulated and compared.
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

// Starting point of all variants.
struct Site {
    std::string document;  // in the form of pbs_config export; empty: only default_policy
    std::string name;      // name of the document, for messages
    Machine machine;
    rrule::Zone zone = rrule::Zone::utc();
};

// Text of a file with changes: directives of qmgr(8), or a document of pbs_config(8), which begins with a
// brace.
struct ChangeText {
    std::string name;
    std::string text;
};

struct Variant {
    std::string title;  // the requested policies, or the file
    Machine machine;
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::vector<std::string> notes;  // warnings, a sentence each
};

// Does the site have a policy for each name of a list such as "p1,np:p2"?
Result<bool> names_policies(const Site& site, std::string_view list);

// Makes a variant with these policies in force, as by `set sched default policy = LIST`; an empty list
// changes nothing. Errors: why the configuration is refused.
Result<Variant> variant_of_policies(const Site& site, const std::string& list);

// Makes a variant by changes: create, delete, set and unset, of any object of the site. If they assign no
// policy to a sched but name exactly one policy, which no sched has, that policy becomes the all-time policy
// of the sched default. Errors name the directive.
Result<Variant> variant_of_changes(const Site& site, const ChangeText& changes);

// Adds an execution queue for each queue that the configuration or the trace names. For machines that weren't
// described: without queues, jobs can't be submitted.
void add_named_queues(const objects::Snapshot& snapshot, const std::vector<std::string>& of_trace,
                      Machine& machine);

}  // namespace pbs::simulate
