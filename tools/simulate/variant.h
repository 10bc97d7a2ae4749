// Makes variants of a site's configuration, which are simulated and compared.
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

// The configuration from which all variants are made.
struct Site {
    std::string document;  // in the form of pbs_config export; empty: only default_policy
    std::string name;      // name of the document, for messages
    Machine machine;
    std::vector<std::string> trace_queues{};  // the queues that the trace names; "" is the default queue
    rrule::Zone zone = rrule::Zone::utc();
};

// A file with changes: directives of qmgr(8), or a document of pbs_config(8), which begins with a brace.
struct ChangeText {
    std::string name;
    std::string text;
};

struct Variant {
    std::string title;  // the requested policies, or the name of the file
    Machine machine;
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::vector<std::string> notes;  // warnings, a sentence each
};

// Returns whether the site has a policy for each name in a list such as "p1,np:p2".
Result<bool> names_policies(const Site& site, std::string_view list);

// Makes a variant with these policies in force, as by `set sched default policy = LIST`. An empty list
// changes nothing. `by_program`: a program of the site schedules for the sched default, so the algorithm of
// its policies is external. The error says why the configuration is refused.
Result<Variant> variant_of_policies(const Site& site, const std::string& list, bool by_program = false);

// Makes a variant by changes: create, delete, set and unset, of any object of the site. On a site without
// queues, they may set attributes of the queues that the trace names, or a policy after the changes before.
// If the changes assign no policy to a sched and name exactly one policy, which no sched has, this becomes
// the all-time policy of the sched default. `by_program`: as above. The error names the directive.
Result<Variant> variant_of_changes(const Site& site, const ChangeText& changes, bool by_program = false);

// Adds an execution queue for each queue that the configuration or the trace names, to a machine without
// queues.
void add_named_queues(const objects::Snapshot& snapshot, const std::vector<std::string>& of_trace,
                      Machine& machine);

}  // namespace pbs::simulate
