// The state of a loaded plugin. The files of this folder are functions on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/store.h"
#include "rrule/zone.h"
#include "server_plugin/plugin/allocation_files.h"
#include "server_plugin/plugin/background_queries.h"
#include "server_plugin/plugin/change_log.h"
#include "server_plugin/plugin/dynamic_resources.h"
#include "server_plugin/plugin/external_files.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/long_change.h"
#include "server_plugin/plugin/sched_config.h"
#include "server_plugin/plugin/site_program.h"
#include "server_plugin/plugin/translate.h"
#include "server_plugin/plugin/usage.h"
#include "server_plugin/plugin/usage_file.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// A file that a policy names, after an attempt to write it.
struct WrittenFile {
    std::string_view what;  // "The schedule log"
    std::string path;       // as in the policy
    std::string why_not;    // empty: the file is written
};

// A cycle from its start until the host takes its decisions. Meanwhile the cycle's thread writes `files` and
// the members after it, and State::decisions.
struct CycleInFlight {
    bool on_its_way = false;
    bool put_off = false;  // no decisions, because programs have to report amounts first
    std::string sched;
    std::string home;
    std::string sched_priv;  // the scheduler's folder
    std::vector<WrittenFile> files;
    std::vector<std::string> log;
    std::vector<std::string_view> wants;  // sched::Decisions::wants
    std::int64_t log_event = -1;
    std::shared_ptr<BackgroundQuery> record;  // the cycle's record, if a client waits for it; or null
};

// For one scheduler: the record of a cycle for which a client waits (requests/record.h).
struct NextRecord {
    std::int64_t cycles = 0;                     // the number of cycles that have begun
    std::optional<sched::Instant> wanted_until;  // the next cycle is recorded if it begins by then
    std::int64_t recorded = 0;                   // the cycle whose record `record` is, counted from 1
    std::shared_ptr<BackgroundQuery> record;     // null: there is none, or it was fetched
    sched::Instant kept_until{};                 // for a client that may have stopped asking
};

using UnsupportedKey = std::pair<objects::ObjectType, std::string>;

// Changed objects whose settings without effect still have to be logged, and the number of lines so far.
struct ChangedSettings {
    std::deque<UnsupportedKey> objects;
    std::size_t lines = 0;
};

// The settings of a queue on which a policy may not act.
struct QueueSettings {
    std::string name;
    std::string partition;
    std::string priority;
    std::string backfill_depth;  // empty: not set
};

struct State {
    State(const pbs_host& table, rrule::Zone server_zone)
        : host(table),
          zone(server_zone),
          changes(table.first_change, !host.has_pbs_sched()),
          scheduler(std::move(server_zone)) {}

    Host host;
    rrule::Zone zone;
    // The decisions of the last cycle. The cycle's thread writes here. Declared before the scheduler, which
    // waits for the thread, so that the scheduler is destroyed first.
    DecisionArray decisions;
    DecisionArray placed;  // the decision of the last place_job()
    CycleInFlight in_flight;
    std::int64_t jobs_considered = 0;
    bool takes_preemptions = true;  // the host preempts jobs, as it declared for the last cycle
    std::map<std::string, NextRecord> next_records;  // by scheduler
    ChangeLog changes;                               // of objects that the scheduler knows
    BackgroundQueries queries;
    sched::Scheduler scheduler;
    Translator translator;
    std::vector<sched::DueSched> due;  // of the last tick

    // Set by prepare(). The store exists unless `failure` has a reason.
    bool prepared = false;
    std::string failure;
    std::optional<objects::Store> store;
    LongChange long_change;  // while it is busy, nothing else may change the store
    UsageSaver usage;
    bool shares_came = false;  // the store has usage of fair shares that the scheduler lacks
    std::vector<std::unique_ptr<SiteProgram>> programs = site_programs();
    AllocationFiles allocation_files;
    DynamicResources dynamic_resources;
    UsageFileTimer usage_file;
    std::string migration_error;  // mistake in the migrated configuration; empty: none, or corrected
    std::string
        configuration_error;  // the reason why an older configuration stays in force; empty: it doesn't

    std::vector<objects::KnownResource> resources;        // the host's resources, until the store is open
    std::map<std::string, std::string> sched_priv;        // scheduler -> its folder
    std::map<std::string, std::string> sched_directives;  // scheduler -> pbs_sched_record::directives
    std::map<std::string, std::string> partitions;  // scheduler -> partition of the queues that it serves
    std::set<std::string, std::less<>> own_scheds;  // on a host with pbs_sched: the plugin's schedulers
    // Does pbs_sched schedule for all schedulers (has_pbs_sched_alone), or for the one named?
    bool has_pbs_sched_alone() const { return host.has_pbs_sched() && own_scheds.empty(); }
    bool has_pbs_sched(std::string_view sched) const {
        return host.has_pbs_sched() && !own_scheds.contains(sched);
    }
    // The host's abilities, and what pbs_sched schedules now. New settings of policies are checked against
    // them.
    objects::ServerAbilities abilities() const {
        objects::ServerAbilities all = host.abilities();
        if (host.has_pbs_sched())
            all.pbs_sched = has_pbs_sched_alone() ? objects::PbsSched::runs : objects::PbsSched::replaced;
        return all;
    }
    std::string server_formula;               // the deprecated job_sort_formula
    std::int64_t server_backfill_depth = -1;  // the deprecated backfill_depth
    SchedConfigs sched_configs;               // of schedulers without a policy
    std::uint64_t queue_types_names = 0;      // sched_configs.names at the last set_queue_types()
    ExternalFiles external_files;             // of hosts with pbs_sched
    // The configuration that the scheduler got last; null: none yet. The store's present snapshot may be
    // newer.
    std::shared_ptr<const objects::Snapshot> adopted;
    // Objects with settings that nothing acts on, with the lines that are logged about each.
    std::map<UnsupportedKey, std::vector<std::string>> unsupported;
    ChangedSettings changed_settings;
    std::map<uint64_t, QueueSettings> queue_settings;  // by the host's handles; queues with such settings
    std::set<uint64_t> queues_to_tell;                 // queues whose settings still have to be logged
    // By scheduler: the policy in force when the settings of its queues were last logged.
    std::map<std::string, std::optional<objects::Object>> told_policies;
    std::set<std::string> said_unwritable;  // files that couldn't be written, as already logged
};

}  // namespace pbs::plugin
