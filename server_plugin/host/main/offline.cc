// Works on a PBS_HOME without a running server: makes and restores backups, and accepts losses of data.

#include <fmt/format.h>

#include <chrono>

#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/home.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/main/process.h"
#include "server_plugin/host/main/program.h"
#include "server_plugin/host/store/backup.h"

namespace pbs::host {

Result<void> run_backup(const ProgramOptions& options, const std::string& directory) {
    if (const auto enough = raise_descriptor_limit(); !enough) return tl::unexpected(enough.error());
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto manifest = back_up(options.home, directory, now);
    if (!manifest) return tl::unexpected(manifest.error());
    fmt::print("{}: backup of {}, policy objects of revision {}\n", directory, manifest->home,
               manifest->revision);
    return {};
}

Result<void> run_restore(const ProgramOptions& options, const std::string& directory) {
    if (const auto enough = raise_descriptor_limit(); !enough) return tl::unexpected(enough.error());
    auto home = Home::open(options.home);
    if (!home) return tl::unexpected(home.error());
    if (auto done = home->lock(); !done) return done;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto replaced =
        restore(*home, directory, now, [](const std::string& step) { fmt::print("{}\n", step); });
    if (!replaced) return tl::unexpected(replaced.error());
    fmt::print("{} is restored from {}{}\n", home->path(), directory,
               replaced->empty() ? "" : "; what was there is in " + *replaced);
    return {};
}

Result<void> run_accept_loss(const ProgramOptions& options) {
    auto home = Home::open(options.home);
    if (!home) return tl::unexpected(home.error());
    if (auto done = home->lock(); !done) return done;
    if (auto done = finish_restore(*home); !done) return tl::unexpected(done.error());
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto accepted = accept_loss(*home, now);
    if (!accepted) return tl::unexpected(accepted.error());
    Clock clock{std::chrono::seconds(0)};
    Log log(home->server_logs(), "Server@" + host_name(), clock);
    for (const std::string& text : accepted->texts) {
        fmt::print("{}\n", text);
        log.write(LogEvent::system, LogClass::server, "Server", "accepted as lost: " + text);
    }
    if (accepted->texts.empty()) {
        fmt::print("{} has lost nothing that was acknowledged; nothing was done\n", home->path());
    } else {
        fmt::print("The next start goes on without it. What was there is copied to {}\n", accepted->folder);
    }
    return {};
}

}  // namespace pbs::host
