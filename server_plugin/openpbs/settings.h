// Settings such as preempt_prio, which OpenPBS has at its scheduler objects and its server, and the plugin in
// policies. If a manager sets such a setting at a scheduler, it is set in the policies of that scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "server_plugin/openpbs/plugin.h"
#include "server_plugin/openpbs/site.h"

namespace pbs::openpbs {

// A setting that has changed.
struct ChangedSetting {
    std::string sched;
    std::string name;   // name of the attribute, the same for schedulers and policies
    std::string value;  // empty: the attribute was unset
    bool operator==(const ChangedSetting&) const = default;
};

// Returns the changed settings of those schedulers that existed before and that the plugin schedules for. The
// server's job_sort_formula counts as a setting of each scheduler that has none, as with pbs_sched.
std::vector<ChangedSetting> changed_settings(const Site& before, const Site& after);

// Settings that still have to be written to the policies. If a setting can't be written, for example because
// the disk is full, it is tried again later: the server has the setting already, so nobody would set it a
// second time.
class PendingSettings {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kBetween{30};

    // Adds a setting. It replaces an earlier value of the same attribute that still waits.
    void add(ChangedSetting change);
    // Returns the next setting to write; null: there is none at the moment.
    const ChangedSetting* next(Time now);
    // Removes the setting that next() returned last. Call it when the setting is written, or refused for
    // good.
    void done();
    // Keeps the setting that next() returned last for a later attempt, because it can't be written now.
    // Returns whether this is the setting's first failure.
    bool put_off(Time now);

  private:
    struct Waiting {
        ChangedSetting change;
        Time not_before{};
        bool put_off = false;
    };
    std::deque<Waiting> waiting_;
    std::size_t at_ = 0;  // index of the setting that next() returned last
};

// Returns the request by which the plugin changes all policies of the scheduler, even if it has none.
ManagerRequest request_of(const ChangedSetting& change);

// A folder of a scheduler that a manager has changed.
struct ChangedFolder {
    std::string sched;
    std::string name;  // name of the attribute
    std::string path;
    bool operator==(const ChangedFolder&) const = default;
};
// Returns the changed folders of the same schedulers as changed_settings().
std::vector<ChangedFolder> changed_folders(const Site& before, const Site& after);

// Returns the settings as directives of qmgr, for pbs_sched_record::directives.
std::string directives_of(const std::string& sched, const std::map<std::string, std::string>& settings);

}  // namespace pbs::openpbs
