#include "server_plugin/openpbs/backup.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sqlite/connection.h"
#include "sqlite/loss.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 8;

// Returns whether `name` is the name of a backup: "20261122-203000", perhaps followed by "-2" and so on. Only
// folders with such names are ever removed.
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
        return fail(fmt::format("{}: {}", folder.string(), values::system_text(errno)));
    const std::string copy = (unfinished / "policy.db").string();
    if (auto done = copy_store(store, copy); !done) return fail(done.error());
    ::chmod(copy.c_str(), 0600);
    fs::rename(unfinished, folder, error);
    if (error) return fail(fmt::format("{}: {}", folder.string(), error.message()));
    ::sync();
    return fmt::format("backup {}{}", folder.string(), remove_oldest(all));
}

}  // namespace pbs::openpbs
