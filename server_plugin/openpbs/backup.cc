#include "server_plugin/openpbs/backup.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <vector>

#include "server_plugin/client/backup_folders.h"
#include "sqlite/connection.h"
#include "sqlite/loss.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

namespace fs = std::filesystem;

tl::expected<void, std::string> copy_store(const std::string& store, const std::string& copy) {
    using sqlite::Connection;
    const auto failed = [](const std::string& path, const std::string& why) {
        return tl::unexpected(fmt::format("{}: {}", path, why));
    };
    auto source = Connection::open(store, Connection::Open::write);
    if (!source) return failed(store, source.error());
    source->wait_for_others(std::chrono::seconds(5));
    sqlite::Statement vacuum = source->statement("VACUUM INTO ?");
    vacuum.bind(copy).next();
    if (!vacuum.ok()) return failed(store, source->error());
    auto made = Connection::open(copy, Connection::Open::write);
    if (!made) return failed(copy, made.error());
    // Forget in the copy the numbers by which a store is compared with its home's mark, so that the copy can
    // be restored into any home.
    if (auto done = sqlite::forget_numbers(*made); !done) return failed(copy, done.error());
    return {};
}

}  // namespace

tl::expected<std::string, std::string> back_up(const std::string& home, std::int64_t now) {
    const std::string store = home + "/server_priv/policy.db";
    const fs::path all = home + "/server_priv/backups";
    if (::mkdir(all.c_str(), 0700) != 0 && errno != EEXIST)
        return tl::unexpected(fmt::format("{}: {}", all.string(), values::system_text(errno)));
    std::error_code error;
    for (const fs::path& path : client::unfinished_backups(all)) fs::remove_all(path, error);
    const fs::path folder = client::new_backup_folder(all, now);
    const fs::path unfinished = folder.string() + std::string(client::kUnfinishedBackup);
    const auto fail = [&](std::string why) {
        fs::remove_all(unfinished, error);
        return tl::unexpected(std::move(why));
    };
    if (::mkdir(unfinished.c_str(), 0700) != 0)
        return fail(fmt::format("{}: {}", folder.string(), values::system_text(errno)));
    const std::string copy = (unfinished / "policy.db").string();
    if (auto done = copy_store(store, copy); !done) return fail(done.error());
    ::chmod(copy.c_str(), 0600);
    fs::rename(unfinished, folder, error);
    if (error) return fail(fmt::format("{}: {}", folder.string(), error.message()));
    ::sync();
    const std::vector<fs::path> oldest = client::too_many_backups(all);
    for (const fs::path& path : oldest) fs::remove_all(path, error);
    return fmt::format("backup {}{}", folder.string(), client::removed_backups_text(oldest));
}

}  // namespace pbs::openpbs
