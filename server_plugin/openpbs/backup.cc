#include "server_plugin/openpbs/backup.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "sqlite/loss.h"

namespace pbs::openpbs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 8;

struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Sqlite = std::unique_ptr<sqlite3, Close>;

tl::expected<Sqlite, std::string> open(const std::string& path) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
    Sqlite owned(database);
    if (code != SQLITE_OK) return tl::unexpected(fmt::format("{}: {}", path, sqlite3_errstr(code)));
    // The log is the store's: it isn't copied into the database when this connection closes.
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_busy_timeout(database, 5000);
    return owned;
}

// Empty, or why not.
std::string execute(sqlite3* database, const std::string& path, const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return fmt::format("{}: {}", path, sqlite3_errmsg(database));
}

// "20261122-203000", and with "-2" and so on behind it: what is there by hand is left alone.
bool is_name(const std::string& name) {
    return name.size() >= 15 && name[8] == '-' && name.find_first_not_of("0123456789-") == std::string::npos;
}

std::string remove_oldest(const fs::path& all) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(all, error))
        if (is_name(entry.path().filename()) && !entry.is_symlink(error)) found.push_back(entry.path());
    std::ranges::sort(found);
    std::string text;
    for (std::size_t i = 0; i + kMostKept < found.size(); ++i) {
        fs::remove_all(found[i], error);
        text += fmt::format("\nremoved the oldest of {}: {}", kMostKept + 1, found[i].string());
    }
    return text;
}

}  // namespace

tl::expected<std::string, std::string> back_up(const std::string& home, std::int64_t now) {
    const std::string store = home + "/server_priv/policy.db";
    const fs::path all = home + "/server_priv/backups";
    if (::mkdir(all.c_str(), 0700) != 0 && errno != EEXIST)
        return tl::unexpected(fmt::format("{}: {}", all.string(), std::generic_category().message(errno)));
    const std::string name =
        fmt::format("{:%Y%m%d-%H%M%S}", std::chrono::sys_seconds(std::chrono::seconds(now)));
    fs::path folder = all / name;
    for (int i = 2; fs::exists(folder); ++i) folder = all / fmt::format("{}-{}", name, i);
    const fs::path unfinished = folder.string() + ".partial";
    std::error_code error;
    fs::remove_all(unfinished, error);
    const auto fail = [&](std::string why) {
        fs::remove_all(unfinished, error);
        return tl::unexpected(std::move(why));
    };
    if (::mkdir(unfinished.c_str(), 0700) != 0)
        return fail(fmt::format("{}: {}", folder.string(), std::generic_category().message(errno)));
    const auto source = open(store);
    if (!source) return fail(source.error());
    const std::string copy = (unfinished / "policy.db").string();
    char* quoted = sqlite3_mprintf("VACUUM INTO %Q", copy.c_str());
    const std::string sql = quoted;
    sqlite3_free(quoted);
    if (std::string why = execute(source->get(), store, sql); !why.empty()) return fail(std::move(why));
    const auto made = open(copy);
    if (!made) return fail(made.error());
    // What the copy holds isn't measured by the mark of the home that it may come into.
    if (auto done = sqlite::forget_numbers(made->get()); !done)
        return fail(fmt::format("{}: {}", copy, done.error()));
    ::chmod(copy.c_str(), 0600);
    fs::rename(unfinished, folder, error);
    if (error) return fail(fmt::format("{}: {}", folder.string(), error.message()));
    ::sync();
    return fmt::format("backup {}{}", folder.string(), remove_oldest(all));
}

}  // namespace pbs::openpbs
