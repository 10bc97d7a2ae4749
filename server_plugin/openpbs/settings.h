// What OpenPBS keeps at its scheduler objects and its server, and policies have here: preempt_prio and
// others. A manager who sets it there sets it in the policies of that scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
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

// Settings on their way into the policies. One that can't be written, as the disk is full, is tried again:
// the server has it already, and nobody would ask for it a second time.
class PendingSettings {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kBetween{30};

    // A later value of the same attribute takes the place of one that waits.
    void add(ChangedSetting change);
    // Returns the next one to carry out; null: there is none now.
    const ChangedSetting* next(Time now);
    // What next() returned last is carried out, or refused for good.
    void done();
    // It can't be written now. Returns true if that is so for the first time.
    bool put_off(Time now);

  private:
    struct Waiting {
        ChangedSetting change;
        Time not_before{};
        bool put_off = false;
    };
    std::deque<Waiting> waiting_;
    std::size_t at_ = 0;  // what next() returned
};

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
