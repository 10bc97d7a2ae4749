// Migration of the legacy files of a home into its store: what the first start of a server and pbs_migrate
// do.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "migrate/convert.h"
#include "migrate/legacy.h"
#include "migrate/problem.h"
#include "migrate/report.h"

namespace pbs::objects {
class Store;
struct Identity;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::migrate {

// How a migration is done.
// The key of Store::meta for the revision before the last migration that has a part in the server's own
// database: a crash may keep that part from it, and the migration is then taken back.
inline constexpr std::string_view kBeforeMigrationKey = "before_migration";
// And for the ledger (ledger.h) as it was then.
inline constexpr std::string_view kLedgerBeforeKey = "migrated_before";

struct MigrateOptions {
    ConvertOptions convert{};
    bool dry_run = false;  // changes nothing, but says what it would
    // What a server that runs has made of Conversion::host, in the same transaction, and how its objects have
    // changed by it, for the history. Not set: it stays for the server's next start.
    std::optional<std::vector<HostOutcome>> outcomes{};
    std::vector<objects::HostChange> host_changes{};
    // Facts (Store::meta) to be written in the same transaction, changed or not.
    std::map<std::string, std::string> facts{};
    // A fact whose value is the text of the report, in the same transaction, so that who writes it into a
    // file can do so after a crash; empty: none.
    std::string report_fact{};
};

// Reads the files and converts them against `current` (null: a fresh server), without changing anything.
// Problems: all of all files. `server`: what options of a sched_config file are about.
Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server = {}, const Ledger& before = {},
                                    const ConvertOptions& options = {});

// Converts the texts and applies the changes, what is known of migrations (ledger.h) and what the server is
// to do (queue_types.h) in one transaction. On problems, which are all of all files, nothing was changed.
// `now` is the time of the history rows.
Result<Conversion> migrate(const LegacyTexts& texts, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// The same with files, which are read only, never touched.
Result<Conversion> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// find_legacy_files() and migrate(), for the first start of a server on `home`. A report without lines and
// notes: there was nothing to migrate; `options.facts` are written all the same.
Result<Conversion> first_start(const std::string& home, objects::Store& store,
                               const objects::Identity& identity, std::chrono::sys_seconds now,
                               const Surroundings& server = {}, const MigrateOptions& options = {});

// A server has carried out, at its start, what a migration left to it: nothing is left then, and
// `report_fact` gets the text of `report_before` with the lines of these outcomes added, in one transaction.
// The lines.
Result<Report> finish_host_work(objects::Store& store, const std::vector<HostOutcome>& outcomes,
                                const std::string& report_before, const std::string& report_fact);

}  // namespace pbs::migrate
