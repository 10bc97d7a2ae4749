#include "server_plugin/plugin/first_start.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "migrate/host_work.h"
#include "migrate/ledger.h"
#include "migrate/migrate.h"
#include "migrate/queue_types.h"
#include "objects/commands.h"
#include "server_plugin/plugin/root_programs.h"

namespace pbs::plugin {
namespace {

// The store's facts about the first start: that it is done; its errors, emptied once pbs_migrate has
// corrected them; and the text of a migration's report until its file is written.
constexpr std::string_view kDone = "first_start";
constexpr std::string_view kError = "migration_error";
constexpr std::string_view kReport = "migration_report";

std::string report_path(const State& state) {
    return fmt::format("{}/server_priv/migration_report", state.host.home());
}

// Replaces the report's file in one step, so that after a crash or on a full disk the old file remains.
// Returns false if the report wasn't written, which is logged.
bool write_report(const State& state, const std::string& text) {
    const std::string path = report_path(state);
    const std::string fresh = path + ".new";
    std::ofstream file(fresh, std::ios::trunc);
    file << text;
    file.close();
    std::error_code failed;
    if (file) {
        std::filesystem::rename(fresh, path, failed);
    } else {
        failed = std::error_code(errno, std::generic_category());
    }
    if (!failed) return true;
    state.host.log(PBS_LOG_WARNING, "migration",
                   fmt::format("{} can't be written: {}", path, failed.message()));
    std::filesystem::remove(fresh, failed);
    return false;
}

// Writes the file of the report that the store keeps since a migration, if any, and removes it from the
// store.
void write_kept_report(State& state) {
    const auto report = state.store->meta(kReport);
    if (report && report->value_or("").empty()) return;
    if (!report) return state.host.log(PBS_LOG_ERROR, "migration", report.error().message);
    if (!write_report(state, **report)) return;
    if (const auto done = state.store->set_meta(kReport, ""); !done)
        state.host.log(PBS_LOG_ERROR, "migration", done.error().message);
}

// Reports the problems, with advice: in the log, in migration_report, and for `list sched`.
void tell_problems(State& state, const migrate::Problems& problems) {
    const std::string advice = migrate::has_system_problem(problems)
                                   ? "The next start tries again"
                                   : "Correct the files and run pbs_migrate";
    std::string report = fmt::format("Nothing was migrated. {}:\n", advice);
    for (const migrate::Problem& problem : problems) {
        const std::string line = migrate::to_text(problem);
        report += line + "\n";
        state.host.log(PBS_LOG_ERROR, "migration", line);
    }
    state.migration_error = problems.empty() ? "unknown" : migrate::to_text(problems.front());
    if (problems.size() > 1) {
        state.migration_error += fmt::format(" (and {} more in {})", problems.size() - 1, report_path(state));
    }
    state.host.log(
        PBS_LOG_ERROR, "migration",
        fmt::format("Nothing was migrated: the server starts with default_policy as it is. {}", advice));
    write_report(state, report);
}

void tell_done(State& state, const migrate::Report& report) {
    if (report.lines.empty() && report.notes.empty()) {
        state.host.log(PBS_LOG_INFO, "migration", "First start: there are no legacy files to migrate");
        return;
    }
    state.host.log(PBS_LOG_INFO, "migration",
                   fmt::format("Legacy files were migrated, {} settings: see {}", report.lines.size(),
                               report_path(state)));
    for (const std::string& note : report.notes) state.host.log(PBS_LOG_WARNING, "migration", note);
    write_kept_report(state);
}

// Adds the settings of the OpenPBS server that pbs_sched uses: they belong to the migrated configuration like
// the settings in pbs_sched's files.
void what_pbs_sched_reads(const State& state, migrate::MigrateOptions& options) {
    options.other_scheds = state.sched_priv;
    options.other_scheds.erase("default");
    if (state.server_backfill_depth >= 0)
        options.server_print += fmt::format("set server backfill_depth = {}\n", state.server_backfill_depth);
    if (!state.server_formula.empty())
        options.server_print += fmt::format("set server job_sort_formula = \"{}\"\n", state.server_formula);
    if (const auto set = state.sched_directives.find("default"); set != state.sched_directives.end())
        options.server_print += set->second;
}

// Returns the paths of the sched_config files that a site has had before the plugin: the default scheduler's
// in the home, and, with pbs_sched, those of the other schedulers.
std::vector<std::string> sched_configs(const State& state) {
    std::vector<std::string> out{fmt::format("{}/sched_priv/sched_config", state.host.home())};
    if (!state.host.has_pbs_sched()) return out;
    for (const auto& [name, folder] : state.sched_priv)
        if (name != "default" && !folder.empty()) out.push_back(folder + "/sched_config");
    return out;
}

}  // namespace

migrate::MigrateOptions with_report(migrate::MigrateOptions options) {
    options.report_fact = kReport;
    return options;
}

std::string migration_report(const State& state) {
    std::ifstream file(report_path(state));
    std::ostringstream text;
    text << file.rdbuf();
    return file ? std::move(text).str() : std::string();
}

void write_migration_report(State& state) {
    write_kept_report(state);
}

objects::Result<void> forget_migration(State& state, std::uint64_t revision) {
    const auto before = state.store->meta(migrate::kBeforeMigrationKey);
    if (!before) return tl::unexpected(before.error());
    if (before->value_or("") != std::to_string(revision)) return {};
    const auto ledger = state.store->meta(migrate::kLedgerBeforeKey);
    if (!ledger) return tl::unexpected(ledger.error());
    if (auto done = state.store->set_meta(migrate::kLedgerKey, ledger->value_or("")); !done) return done;
    for (const std::string_view key : {migrate::kQueueTypesKey, migrate::kHostWorkKey,
                                       std::string_view(kReport), migrate::kBeforeMigrationKey})
        if (auto done = state.store->set_meta(key, ""); !done) return done;
    std::error_code ignored;
    std::filesystem::remove(report_path(state), ignored);
    return {};
}

objects::Result<void> forget_corrected_mistake(State& state) {
    if (state.migration_error.empty()) return {};
    if (!migrate::is_converted(*state.store->snapshot())) return {};
    state.migration_error.clear();
    state.host.log(PBS_LOG_INFO, "migration", "The configuration was migrated after a correction");
    return state.store->set_meta(kError, "");
}

objects::Result<void> first_start(State& state, sched::Instant now) {
    auto done = state.store->meta(kDone);
    if (!done) return tl::unexpected(std::move(done.error()));
    if (*done) {
        auto error = state.store->meta(kError);
        if (!error) return tl::unexpected(std::move(error.error()));
        state.migration_error = std::move(*error).value_or("");
        write_kept_report(state);
        return forget_corrected_mistake(state);
    }
    const objects::Identity server{"pbs_server", std::string(state.host.server_name()),
                                   objects::manager_privilege | objects::root_privilege};
    migrate::Surroundings known = state.sched_configs.surroundings();
    known.now = now;
    known.same_scheduler = state.has_pbs_sched_alone();
    known.carries_out = !state.host.has_pbs_sched();
    // The fact that the migration is done is part of the migration's transaction, so a crash leaves both or
    // neither.
    migrate::MigrateOptions options =
        with_report({.facts = {{std::string(kDone), "1"}, {std::string(kError), ""}}});
    if (state.host.has_pbs_sched()) what_pbs_sched_reads(state, options);
    auto programs = list_root_programs(state.host, sched_configs(state));
    if (!programs)
        return objects::fail(objects::Code::system, fmt::format("the list of root's programs of "
                                                                "server_dyn_res can't be written: {}",
                                                                programs.error()));
    known.root_programs = std::move(*programs);
    const auto migrated =
        migrate::first_start(std::string(state.host.home()), *state.store, server, now, known, options);
    if (migrated) {
        tell_done(state, migrated->report);
        return {};
    }
    tell_problems(state, migrated.error());
    if (migrate::has_system_problem(migrated.error())) return {};
    if (auto kept = state.store->set_meta(kError, state.migration_error); !kept) return kept;
    return state.store->set_meta(kDone, "1");
}

}  // namespace pbs::plugin
