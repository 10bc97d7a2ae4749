// Accepts that the databases of a PBS_HOME have lost changes, so that a server can start (backup.h).
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/store/backup.h"
#include "server_plugin/host/store/database_check.h"
#include "server_plugin/host/store/store.h"

namespace pbs::host {
namespace {

std::string range(std::string_view what, int64_t first, int64_t last) {
    return first == last ? fmt::format("{} {}", what, first) : fmt::format("{}s {} to {}", what, first, last);
}

// Describes which committed changes a database has lost, by comparing the positions of commits.
std::string what_is_lost(const Home& home, const std::string& path, const sqlite::Loss& loss) {
    std::string text = fmt::format("{} {}.", path, loss.text);
    const bool both = loss.has && loss.had;
    if (path == home.policy_db()) {
        if (both && *loss.has < *loss.had)
            text += fmt::format(
                " Lost: {} of the policies, windows, groups, quotas and of what the history tells of "
                "the server's objects.",
                range("revision", *loss.has + 1, *loss.had));
        return text + " Usage that was charged since may be lost as well.";
    }
    if (both && *loss.has < *loss.had)
        text += fmt::format(" Lost: {}.", range("job", *loss.has, *loss.had - 1));
    return text + fmt::format(
                      " What other jobs, queues and vnodes had become since is lost as well; {} and {} "
                      "tell of it.",
                      home.accounting(), home.server_logs());
}

}  // namespace

Result<AcceptedLoss> accept_loss(const Home& home, std::chrono::sys_seconds now) {
    AcceptedLoss accepted;
    std::vector<std::pair<std::string, sqlite::Loss>> losses;
    for (const auto& [path, newest] :
         {std::pair{home.server_db(), Store::newest_version()}, std::pair{home.policy_db(), int64_t{0}}}) {
        if (const auto wrong = wrong_with_database(path, newest))
            return fail(PBSE_SYSTEM,
                        fmt::format("{} {}. Nothing was changed. {}", path, *wrong, restore_advice(home)));
        auto loss = find_loss(home, path);
        if (!loss) return tl::unexpected(loss.error());
        if (*loss) losses.emplace_back(path, std::move(**loss));
    }
    if (losses.empty()) return accepted;
    auto folder = free_folder(home, now);
    if (!folder) return tl::unexpected(folder.error());
    accepted.folder = home.server_priv() + "/" + *folder;
    if (::mkdir(accepted.folder.c_str(), 0700) != 0 || !sync_directory(home.server_priv()))
        return fail(PBSE_SYSTEM, fmt::format("{} can not be made: {}", accepted.folder, system_text(errno)));
    for (const auto& [path, loss] : losses) {
        if (const auto done = sqlite::accept_loss(path, loss, accepted.folder); !done)
            return fail(PBSE_SYSTEM, fmt::format("{} can not go on with what it has: {}. {}", path,
                                                 done.error(), restore_advice(home)));
        accepted.texts.push_back(what_is_lost(home, path, loss));
    }
    return accepted;
}

}  // namespace pbs::host
