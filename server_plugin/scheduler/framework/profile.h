// A profile: an algorithm as a table of rules by extension point. `origin` and `standard` are in profiles/;
// the loop doesn't know which of them a policy has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/cycle_log.h"
#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/node_order.h"
#include "server_plugin/scheduler/framework/policy.h"
#include "server_plugin/scheduler/framework/questions.h"
#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

// The queues from which jobs come.
enum class JobSource : std::uint8_t {
    // Jobs of the submit queue and the special queue start in the batch queues, those of dedicated and
    // external queues where they are.
    named_queues,
    // Jobs of every execution queue of the scheduler start where they are.
    every_queue,
};

struct Profile {
    std::string_view name;  // value of the attribute `algorithm`
    JobSource intake = JobSource::every_queue;
    // Sort: the chain for the jobs of a class, and the part of it that orders a lane.
    const Chain& (*chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    const Chain& (*lane_chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    // Makes the chains of a policy anew, where they depend on known resources. May be null.
    void (*make_chains)(Policy& policy, const Resources& resources) = nullptr;
    // Deals. The first that the policy wants for a class is used.
    std::span<const Deal* const> deals{};
    // Admissions and filters, in the order of the tests; filters that are asked for each job come after all
    // others.
    std::span<const Admission* const> admissions{};
    std::span<const Filter* const> filters{};
    // Questions of its rules for the site.
    std::span<const QuestionRule* const> questions{};
    // Node order. Null: the order in which the vnodes were made.
    const NodeOrder* node_order = nullptr;
    // Rules after refusals. All of them are told of a refusal.
    std::span<const AfterRefusalRule* const> after_refusal{};
    // Rules that decide, in the order of the decisions.
    std::span<const Decide* const> decides{};
    // Rules that log.
    std::span<const CycleLogRule* const> logs{};
    std::array<std::string_view, 6> class_names{};  // by JobClass
    bool counts_nodes = false;     // requests of jobs and sizes of queues are also counted in ssinodes
    bool divides_chunks = false;   // where the host can give a chunk in pieces
    bool comments_starts = false;  // comment on each start; else the host tells where a job runs
    // Takes out of a policy the settings that only other algorithms act on. May be null.
    void (*keep_own)(Settings& settings) = nullptr;
};

// The profile of a policy: `profile` of the settings, else by their algorithm.
const Profile& profile_of(const Settings& settings);

std::span<const Profile* const> all_profiles();

// All rules that any profile has, each once.
std::vector<const Filter*> all_filters();
std::vector<const Admission*> all_admissions();

// The rules that a policy switches on at an instant.
std::vector<const Filter*> filters_of(const Settings& settings, Instant now);
// Sets `filters` to filters_of(). False: they are the same as before.
bool renew_filters(const Settings& settings, Instant now, std::vector<const Filter*>& filters);
std::vector<const Admission*> admissions_of(const Settings& settings, Instant now);

}  // namespace pbs::sched
