// Migrates the legacy files of a home into its store, for the first start of a server and for pbs_migrate.
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

// Key of Store::meta for the store's revision before the migration. A migration commits the store first, and
// then the server's own database: if the server crashes between the two, its next start restores this
// revision.
inline constexpr std::string_view kBeforeMigrationKey = "before_migration";
// Key of Store::meta for the ledger (ledger.h) before the migration. The next start after a crash restores
// it, too.
inline constexpr std::string_view kLedgerBeforeKey = "migrated_before";

struct MigrateOptions {
    ConvertOptions convert{};
    bool dry_run = false;  // changes nothing, but reports all changes
    // Outcomes of the directives in Conversion::host at a running server, for the report and the history. Not
    // set: the server carries the directives out at its next start.
    std::optional<std::vector<HostOutcome>> outcomes{};
    std::vector<objects::HostChange> host_changes{};
    // More facts (Store::meta) to write in the same transaction, even if nothing else changes.
    std::map<std::string, std::string> facts{};
    // Name of the fact that gets the text of the report, in the same transaction: if the server crashes
    // before it has written the report's file, it still has the report. Empty: no such fact.
    std::string report_fact{};
    // For a first start. other_scheds: the folders of schedulers other than `default`, by name
    // (other_scheds.h). server_print: directives of qmgr that set those of the server's attributes that
    // become attributes of policies.
    std::map<std::string, std::string> other_scheds{};
    std::string server_print{};
};

// Reads the files and converts them against `current` (null: a fresh server). Changes nothing. `server` has
// the queues and resources that the files may name. Problems: those of all files together.
Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server = {}, const Ledger& before = {},
                                    const ConvertOptions& options = {});

// Converts the texts, and applies the changes in one transaction with the ledger (ledger.h) and the work for
// the server (queue_types.h, host_work.h). Problems: those of all files together; nothing was changed then.
// `now` is the time of the rows in the history.
Result<Conversion> migrate(const LegacyTexts& texts, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// Reads the files and migrates their texts. The files stay as they are.
Result<Conversion> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// Runs find_legacy_files() and migrate() for the first start of a server on `home`. If there was nothing to
// migrate, the report has no lines or notes; `options.facts` are written all the same.
Result<Conversion> first_start(const std::string& home, objects::Store& store,
                               const objects::Identity& identity, std::chrono::sys_seconds now,
                               const Surroundings& server = {}, const MigrateOptions& options = {});

// Removes the directives that a migration left to the server; call when the server has carried them out at
// its start. In the same transaction, the fact `report_fact` becomes the text of `report_before` with a line
// for each outcome. Returns these lines.
Result<Report> finish_host_work(objects::Store& store, const std::vector<HostOutcome>& outcomes,
                                const std::string& report_before, const std::string& report_fact);

}  // namespace pbs::migrate
