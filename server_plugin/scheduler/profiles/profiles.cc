// The list of profiles (framework/profile.h): the scheduling algorithms.

#include <algorithm>

#include "server_plugin/scheduler/framework/profile.h"

namespace pbs::sched {

extern const Profile kOriginProfile;
extern const Profile kStandardProfile;

std::span<const Profile* const> all_profiles() {
    static constexpr std::array<const Profile*, 2> kProfiles = {&kOriginProfile, &kStandardProfile};
    return kProfiles;
}

const Profile& profile_of(const Settings& settings) {
    if (settings.profile != nullptr) return *settings.profile;
    return settings.algorithm == Algorithm::origin ? kOriginProfile : kStandardProfile;
}

namespace {

template <class Rule>
void add_new(std::span<const Rule* const> rules, std::vector<const Rule*>& all) {
    for (const Rule* rule : rules)
        if (std::ranges::find(all, rule) == all.end()) all.push_back(rule);
}

}  // namespace

std::vector<const Filter*> all_filters() {
    std::vector<const Filter*> all;
    for (const Profile* profile : all_profiles()) add_new(profile->filters, all);
    return all;
}

std::vector<const Admission*> all_admissions() {
    std::vector<const Admission*> all;
    for (const Profile* profile : all_profiles()) add_new(profile->admissions, all);
    return all;
}

std::vector<const Filter*> filters_of(const Settings& settings, Instant now) {
    std::vector<const Filter*> wanted;
    renew_filters(settings, now, wanted);
    return wanted;
}

bool renew_filters(const Settings& settings, Instant now, std::vector<const Filter*>& filters) {
    bool changed = false;
    std::size_t count = 0;
    for (const Filter* filter : profile_of(settings).filters) {
        if (filter->wanted != nullptr && !filter->wanted(settings, now)) continue;
        if (count == filters.size() || filters[count] != filter) {
            filters.resize(count);
            filters.push_back(filter);
            changed = true;
        }
        ++count;
    }
    changed = changed || filters.size() != count;
    filters.resize(count);
    return changed;
}

std::vector<const Admission*> admissions_of(const Settings& settings, Instant now) {
    std::vector<const Admission*> wanted;
    for (const Admission* admission : profile_of(settings).admissions)
        if (admission->wanted(settings, now)) wanted.push_back(admission);
    return wanted;
}

}  // namespace pbs::sched
