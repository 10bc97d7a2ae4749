// A policy as plain values. The members are made from the rows of objects/policy_attributes.def, followed by
// settings that need more than one attribute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "objects/policy_attributes.h"
#include "rrule/window_set.h"
#include "rrule/zone.h"
#include "server_plugin/scheduler/model/quota.h"
#include "server_plugin/scheduler/model/setting_types.h"

namespace pbs::objects {
class Object;
}  // namespace pbs::objects

namespace pbs::sched {

struct Profile;

// The members have the names of the attributes. In limits and durations 0 means "not set".
struct PolicySettings {
#define SETTING(row, form, ...) SettingType<objects::PolicyAttribute::row, objects::Syntax::form> row{};
#include "objects/policy_attributes.def"
};

struct Settings : PolicySettings {
    // Makes the settings of a policy without attributes.
    Settings();
    // Makes the settings of a policy object, except `prime`.
    Settings(const objects::Object& policy, const rrule::Zone& zone);

    std::string name;
    // The policy comes from a sched_config file, so the server's backfill_depth (PP-748, interface 6) and
    // job_sort_formula count.
    bool from_sched_config = false;
    bool enforce_no_shares = false;                    // the value of the fs_group of fairshare_group
    std::vector<std::shared_ptr<const Quota>> quotas;  // the objects that the attribute quotas names
    const Profile* profile = nullptr;                  // null: the profile of the algorithm

    std::int64_t max_load_percent = 0;  // target_load_pct plus the variance above it; 0: neither is set
    // Returns whether vnodes are ordered by load_formula.
    bool orders_by_load() const;
    // The prime time of this policy: the windows of type prime; if there are none, prime_time_start to
    // prime_time_end from Monday to Friday, except on non_work_days.
    rrule::WindowSet prime;
    // Returns the end of the prime time that the policy enforces at `t`; nullopt: it enforces none then, or
    // the prime time has no end.
    std::optional<Instant> end_of_enforced_prime(Instant t) const;

  private:
    void read_together(const objects::Object& policy);
};

// Calls visit(PolicyAttribute, member) for each member that is one attribute, in the order of listings.
template <class AnySettings, class Visit>
void for_each_setting(AnySettings& settings, const Visit& visit) {
#define SETTING(row, ...) visit(objects::PolicyAttribute::row, settings.row);
#include "objects/policy_attributes.def"
}

// Resets the settings that the algorithm doesn't act on: switches are off, and everything else is unset.
void keep_own(Settings& settings, objects::ActsWith algorithm);

}  // namespace pbs::sched
