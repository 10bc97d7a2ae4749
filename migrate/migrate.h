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

// A migration may change the server's own database too, after the store. If a crash comes between the two,
// the next start takes the migration back: to the revision from before it, which Store::meta keeps under this
// key.
inline constexpr std::string_view kBeforeMigrationKey = "before_migration";
// The ledger (ledger.h) from before it is kept under this key, for the same purpose.
inline constexpr std::string_view kLedgerBeforeKey = "migrated_before";

struct MigrateOptions {
    ConvertOptions convert{};
    bool dry_run = false;  // changes nothing, but says what it would
    // What a running server did with the directives in Conversion::host, and how its objects have changed by
    // them, for the history. Not set: the server does them at its next start.
    std::optional<std::vector<HostOutcome>> outcomes{};
    std::vector<objects::HostChange> host_changes{};
    // Facts (Store::meta) to be written in the same transaction, changed or not.
    std::map<std::string, std::string> facts{};
    // The name of a fact that is to hold the text of the report. It is written in the same transaction, so
    // that a crash before the report is in its file doesn't lose it. Empty: there is no such fact.
    std::string report_fact{};
    // Of a first start: the folders of schedulers beside `default`, by their names (other_scheds.h), and what
    // qmgr would print of the server's attributes that became attributes of policies.
    std::map<std::string, std::string> other_scheds{};
    std::string server_print{};
};

// Reads the files and converts them against `current` (null: a fresh server), without changing anything.
// Problems: those of all files together. `server`: the queues and resources that the files may name.
Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server = {}, const Ledger& before = {},
                                    const ConvertOptions& options = {});

// Converts the texts and applies the changes, what is known of migrations (ledger.h) and what the server is
// to do (queue_types.h) in one transaction. Problems: those of all files together; then nothing was changed.
// `now` is the time of the history rows.
Result<Conversion> migrate(const LegacyTexts& texts, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// Migrates files as migrate() does texts. The files are only read.
Result<Conversion> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {},
                           const MigrateOptions& options = {});

// find_legacy_files() and migrate(), for the first start of a server on `home`. A report without lines and
// notes: there was nothing to migrate; `options.facts` are written all the same.
Result<Conversion> first_start(const std::string& home, objects::Store& store,
                               const objects::Identity& identity, std::chrono::sys_seconds now,
                               const Surroundings& server = {}, const MigrateOptions& options = {});

// To be called when a server has carried out, at its start, what a migration left to it. In one transaction,
// that work is marked as done, and `report_fact` gets the text of `report_before` with a line for each of
// these outcomes added. Returns these lines.
Result<Report> finish_host_work(objects::Store& store, const std::vector<HostOutcome>& outcomes,
                                const std::string& report_before, const std::string& report_fact);

}  // namespace pbs::migrate
