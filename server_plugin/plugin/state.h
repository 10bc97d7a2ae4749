// Everything that one loaded plugin holds. The files of this folder are functions on it.
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

// A file that a policy wanted written.
struct WrittenFile {
    std::string_view what;  // "The schedule log"
    std::string path;       // as configured
    std::string why_not;    // empty: it is written
};

// A cycle from its start until the host takes what it decided. In between the thread of the cycle writes the
// last ones, and State::decisions.
struct CycleInFlight {
    bool on_its_way = false;
    bool put_off = false;  // it decides nothing, for programs have to tell amounts first
    std::string sched;
    std::string home;
    std::string sched_priv;  // its folder
    std::vector<WrittenFile> files;
    std::vector<std::string> log;
    std::vector<std::string_view> wants;  // sched::Decisions::wants
    std::int64_t log_event = -1;
    std::shared_ptr<BackgroundQuery> record;  // of the cycle, for one who waits for it; or null
};

// The record of a cycle that somebody waits for (requests/record.h), of one scheduler.
struct NextRecord {
    std::int64_t cycles = 0;                     // so many have begun
    std::optional<sched::Instant> wanted_until;  // the next one is recorded if it begins by then
    std::int64_t recorded = 0;                   // which one `record` is of, counted from 1
    std::shared_ptr<BackgroundQuery> record;     // null: there is none, or it was fetched
    sched::Instant kept_until{};                 // for one who has stopped asking
};

using UnsupportedKey = std::pair<objects::ObjectType, std::string>;

// Objects that changed, whose settings the log isn't told of yet, and how many lines of them came to be.
struct ChangedSettings {
    std::deque<UnsupportedKey> objects;
    std::size_t lines = 0;
};

// What a queue has that a policy may not act on.
struct QueueSettings {
    std::string name;
    std::string partition;
    std::string priority;
    std::string backfill_depth;  // empty: not set
};

struct State {
    State(const pbs_host& table, rrule::Zone server_zone)
        : host(table), zone(server_zone), scheduler(std::move(server_zone)) {}

    Host host;
    rrule::Zone zone;
    // Of the last cycle. Its thread writes here, so the scheduler, which waits for that, goes first.
    DecisionArray decisions;
    DecisionArray placed;  // of the last place_job()
    CycleInFlight in_flight;
    std::int64_t jobs_considered = 0;
    bool takes_preemptions = true;  // the host carries them out, as it said for the last cycle
    std::map<std::string, NextRecord> next_records;  // by scheduler
    BackgroundQueries queries;
    sched::Scheduler scheduler;
    Translator translator;
    std::vector<sched::DueSched> due;  // of the last tick

    // Set by prepare(). The store is there unless `failure` says why it isn't.
    bool prepared = false;
    std::string failure;
    std::optional<objects::Store> store;
    LongChange long_change;  // while it is busy, nothing else changes the store
    UsageSaver usage;
    bool shares_came = false;  // usage of fair shares was stored, which the scheduler is to be given
    std::vector<std::unique_ptr<SiteProgram>> programs = site_programs();
    AllocationFiles allocation_files;
    DynamicResources dynamic_resources;
    UsageFileTimer usage_file;
    std::string migration_error;  // of the first start; empty: none, or corrected since
    std::string
        configuration_error;  // why the scheduler goes on with an older configuration; empty: it does not

    std::vector<std::string> resources;             // names of the host's resources, until the store is open
    std::map<std::string, std::string> sched_priv;  // scheduler -> its folder
    std::map<std::string, std::string> sched_directives;  // scheduler -> pbs_sched_record::directives
    std::map<std::string, std::string> partitions;        // scheduler -> the queues' that it serves
    std::set<std::string, std::less<>> own_scheds;  // of a host with pbs_sched: those that are the plugin's
    // Does pbs_sched schedule for all schedulers, or for this one?
    bool has_pbs_sched_alone() const { return host.has_pbs_sched() && own_scheds.empty(); }
    bool has_pbs_sched(std::string_view sched) const {
        return host.has_pbs_sched() && !own_scheds.contains(sched);
    }
    // The abilities of the host; of pbs_sched, for policies that are set now.
    objects::ServerAbilities abilities() const {
        objects::ServerAbilities all = host.abilities();
        if (host.has_pbs_sched())
            all.pbs_sched = has_pbs_sched_alone() ? objects::PbsSched::runs : objects::PbsSched::replaced;
        return all;
    }
    std::string server_formula;               // its deprecated job_sort_formula
    std::int64_t server_backfill_depth = -1;  // its deprecated backfill_depth
    SchedConfigs sched_configs;               // of schedulers without a policy
    std::uint64_t queue_types_names = 0;      // sched_configs.names, when set_queue_types() looked
    ExternalFiles external_files;             // of hosts with pbs_sched
    // What the scheduler has been given last; null: nothing yet. Later commits have other snapshots.
    std::shared_ptr<const objects::Snapshot> adopted;
    // Objects with settings that nothing acts on, and the lines that the log has of each.
    std::map<UnsupportedKey, std::vector<std::string>> unsupported;
    ChangedSettings changed_settings;
    std::map<uint64_t, QueueSettings> queue_settings;  // by the host's handles, of those that have some
    std::set<uint64_t> queues_to_tell;                 // that the log doesn't have yet as they are
    // By scheduler, the policy in force when the log was told of its queues.
    std::map<std::string, std::optional<objects::Object>> told_policies;
    std::set<std::string> said_unwritable;  // dump files that couldn't be written, already in the log
};

}  // namespace pbs::plugin
