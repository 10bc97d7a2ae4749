// A profile: a scheduling algorithm (`origin` or `standard`), as tables of the rules that a cycle applies.
// The two profiles are in profiles/. The code of a cycle reads only the tables, and doesn't know which of the
// two a policy uses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/boundaries.h"
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
    // Jobs of the submit queue and the special queue start in the batch queues; jobs of dedicated and
    // external queues start in their own queue.
    named_queues,
    // Jobs of every execution queue of the scheduler start in their own queue.
    every_queue,
};

struct Profile {
    std::string_view name;  // value of the attribute `algorithm`
    JobSource intake = JobSource::every_queue;
    // The order of jobs. chain(): all comparators for the jobs of a class. lane_chain(): those that sort the
    // jobs within a lane (a sorted list of pending jobs, pending_jobs.h).
    const Chain& (*chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    const Chain& (*lane_chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    // Makes the chains of a policy again if they depend on known resources. May be null.
    void (*make_chains)(Policy& policy, const Resources& resources) = nullptr;
    // Deals: the ways in which lanes of jobs take turns. The first one that the policy wants for a class is
    // used.
    std::span<const Deal* const> deals{};
    // Admissions and filters, in the order of the tests. Filters that are called for each job come last.
    std::span<const Admission* const> admissions{};
    std::span<const Filter* const> filters{};
    // The questions to the site that the profile's rules ask.
    std::span<const QuestionRule* const> questions{};
    // The instants that no refusal names, at which time alone changes decisions of the profile's rules.
    std::span<const BoundaryRule* const> boundaries{};
    // Node order. Null: the order in which the vnodes were made.
    const NodeOrder* node_order = nullptr;
    // Rules after refusals. Each is called for a refusal.
    std::span<const AfterRefusalRule* const> after_refusal{};
    // Rules that decide, in the order of the decisions.
    std::span<const Decide* const> decides{};
    // Rules that log.
    std::span<const CycleLogRule* const> logs{};
    std::array<std::string_view, 6> class_names{};  // by JobClass
    bool counts_nodes = false;                      // also counts requests and sizes of queues in ssinodes
    bool divides_chunks = false;                    // gives chunks in pieces, if the host can
    bool comments_starts = false;  // comments on each start; otherwise the host says where a job runs
    // Removes the settings that only other algorithms act on from a policy. May be null.
    void (*keep_own)(Settings& settings) = nullptr;
};

// Joins tables of rules.
template <class Rule, std::size_t... kSizes>
consteval auto joined(const std::array<const Rule*, kSizes>&... tables) {
    std::array<const Rule*, (kSizes + ...)> all{};
    auto at = all.begin();
    ((at = std::ranges::copy(tables, at).out), ...);
    return all;
}

// The profile of a policy: `profile` of the settings, else by their algorithm.
const Profile& profile_of(const Settings& settings);

std::span<const Profile* const> all_profiles();

// All filters and admissions that any profile has, each once.
std::vector<const Filter*> all_filters();
std::vector<const Admission*> all_admissions();

// The filters that a policy switches on at an instant.
std::vector<const Filter*> filters_of(const Settings& settings, Instant now);
// Sets `filters` to filters_of(). False: they haven't changed.
bool renew_filters(const Settings& settings, Instant now, std::vector<const Filter*>& filters);
std::vector<const Admission*> admissions_of(const Settings& settings, Instant now);

}  // namespace pbs::sched
