// A policy as plain values. The members are made from the rows of objects/policy_attributes.def; what needs
// more than one attribute is below them.
#pragma once

#include <cstdint>
#include <string>

#include "objects/policy_attributes.h"
#include "rrule/window_set.h"
#include "rrule/zone.h"
#include "server_plugin/scheduler/model/setting_types.h"

namespace pbs::objects {
class Object;
}  // namespace pbs::objects

namespace pbs::sched {

struct Profile;

// The members have the names of the attributes; 0 stands for "not set" in limits and durations.
struct PolicySettings {
#define SETTING(row, form, ...) SettingType<objects::PolicyAttribute::row, objects::Syntax::form> row{};
#include "objects/policy_attributes.def"
};

struct Settings : PolicySettings {
    // Those of a policy without any attribute set.
    Settings();
    // Those of a policy object, but for `prime`.
    Settings(const objects::Object& policy, const rrule::Zone& zone);

    std::string name;
    // Read from a sched_config file: the server's backfill_depth and job_sort_formula count (PP-748,
    // interface 6).
    bool from_sched_config = false;
    bool enforce_no_shares = false;    // of the fs_group of fairshare_group
    const Profile* profile = nullptr;  // null: the one of the algorithm

    std::int64_t max_load_percent = 0;  // target_load_pct plus the variance above; 0: neither is set
    // Prime time for this policy: the windows of type prime; if there are none, prime_time_start to
    // prime_time_end on Mondays to Fridays that aren't non_work_days.
    rrule::WindowSet prime;

  private:
    void read_together(const objects::Object& policy);
};

// Calls visit(PolicyAttribute, member) for each member that is one attribute, in the order of listing.
template <class AnySettings, class Visit>
void for_each_setting(AnySettings& settings, const Visit& visit) {
#define SETTING(row, ...) visit(objects::PolicyAttribute::row, settings.row);
#include "objects/policy_attributes.def"
}

// Takes out what isn't acted on with the algorithm: switches are off, all else is as where it isn't set.
void keep_own(Settings& settings, objects::ActsWith algorithm);

}  // namespace pbs::sched
