// What OpenPBS keeps at its scheduler objects and its server, and policies have here: preempt_prio and
// others. A manager who sets it there sets it in the policies of that scheduler.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/openpbs/plugin.h"
#include "server_plugin/openpbs/site.h"

namespace pbs::openpbs {

// One setting that is another now than it was.
struct ChangedSetting {
    std::string sched;
    std::string name;   // of the attribute, of the scheduler as of its policies
    std::string value;  // empty: it was unset
    bool operator==(const ChangedSetting&) const = default;
};

// Of the schedulers that are the plugin's own, and were there before. The server's job_sort_formula is that
// of the scheduler `default` if that one has none.
std::vector<ChangedSetting> changed_settings(const Site& before, const Site& after);

// The requests that change the policies in the slots of the scheduler. `policies`: what the scheduler shows
// as its `policy`.
std::vector<ManagerRequest> policy_requests(const ChangedSetting& change, std::string_view policies);

// A folder of a scheduler that is another now than it was.
struct ChangedFolder {
    std::string sched;
    std::string name;  // of the attribute
    std::string path;
    bool operator==(const ChangedFolder&) const = default;
};
// Of the schedulers as for changed_settings().
std::vector<ChangedFolder> changed_folders(const Site& before, const Site& after);

// As in pbs_sched_record.
std::string directives_of(const std::string& sched, const std::map<std::string, std::string>& settings);

}  // namespace pbs::openpbs
