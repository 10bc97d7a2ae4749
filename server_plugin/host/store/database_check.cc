#include "server_plugin/host/store/database_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/store/store.h"
#include "sqlite/connection.h"
#include "sqlite/loss.h"
#include "sqlite/trusted.h"

namespace pbs::host {
namespace {

// The first bytes of each SQLite database, with the final zero byte.
constexpr std::string_view kMagic{"SQLite format 3\0", 16};

bool has_data(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 ? errno != ENOENT
                                              : status.st_size > 0 || !S_ISREG(status.st_mode);
}

std::string wrong(const sqlite::Failure& failure) {
    return fmt::format("{}: {}", failure.verdict(), failure.text);
}

// Describes the damage of a database's contents. `all`: checks the whole file, not only its beginning.
std::optional<std::string> wrong_with_content(const std::string& path, int64_t newest, bool all,
                                              std::chrono::seconds patience = {}) {
    // Open the file only for reading, so that it and its -wal stay unchanged. But if the file has a journal,
    // a server was killed while it made the file, and the journal has the other half of the last change: then
    // open the file for writing, so that SQLite applies the journal.
    const bool interrupted = has_data(path + "-journal");
    using Open = sqlite::Connection::Open;
    auto connection = sqlite::Connection::open(path, interrupted ? Open::write : Open::read);
    if (!connection) return "can not be read: " + connection.error();
    connection->wait_for_others(patience);
    const auto version = connection->integer("PRAGMA user_version");
    if (!version) return wrong(connection->failure());
    // SQLite takes missing pages as zeros, so compare the file's size with the page size. If there is a -wal
    // file, it may have the missing page.
    struct stat status {};
    const auto page_size = connection->integer("PRAGMA page_size");
    if (page_size && *page_size > 0 && !has_data(path + "-wal") && ::stat(path.c_str(), &status) == 0 &&
        status.st_size % *page_size != 0)
        return "is damaged: its last page is cut short";
    if (all || interrupted)
        if (auto whole = connection->check(true); !whole) return wrong(whole.error());
    // A database with tables, but none of this program's, belongs to another program. To see that, it is
    // enough to look for one table.
    const bool own = newest != 0;
    const auto foreign =
        connection->integer(own ? "SELECT count(*) > 0 AND sum(name = 'object') = 0 FROM sqlite_master"
                                : "SELECT count(*) > 0 AND sum(name = 'history') = 0 FROM sqlite_master");
    if (!foreign) return wrong(connection->failure());
    if (*foreign != 0) return "is an SQLite database of another program";
    if (own && *version > newest)
        return fmt::format("is of version {}, and this pbs_server knows versions up to {}: run a newer one",
                           *version, newest);
    return std::nullopt;
}

std::optional<std::string> wrong_with_file(const std::string& path, int64_t newest, bool all) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd && errno == ENOENT) return std::nullopt;
    if (!fd) return "can not be read: " + system_text(errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return "can not be read: " + system_text(errno);
    if (!S_ISREG(status.st_mode)) return "is not a regular file";
    if (status.st_size == 0) return std::nullopt;
    std::array<char, kMagic.size()> begin{};
    ssize_t read = 0;
    do {
        read = ::pread(fd.get(), begin.data(), begin.size(), 0);
    } while (read < 0 && errno == EINTR);
    if (read < 0) return "can not be read: " + system_text(errno);
    if (read != static_cast<ssize_t>(begin.size()) || std::string_view(begin.data(), begin.size()) != kMagic)
        return "is damaged: it doesn't begin as an SQLite database does";
    return wrong_with_content(path, newest, all);
}

}  // namespace

std::optional<std::string> wrong_with_database(const std::string& path, int64_t newest) {
    return wrong_with_file(path, newest, true);
}

Result<std::optional<sqlite::Loss>> find_loss(const Home& home, const std::string& path) {
    auto loss = sqlite::find_loss(path, path == home.server_db() ? "next job" : "revision");
    if (!loss) return fail(PBSE_SYSTEM, fmt::format("{} can not be read: {}", path, loss.error()));
    return std::move(*loss);
}

std::string restore_advice(const Home& home) {
    return fmt::format("To go on with a backup: pbs_server -d {} --restore DIRECTORY", home.path());
}

namespace {

// Checks that neither database is missing, and that neither has lost changes.
Result<void> check_presence(const Home& home, const std::string& advice) {
    const std::string server = home.server_db();
    const std::string policy = home.policy_db();
    // Before the first complete start a single database is no error: pbs_migrate or an interrupted first
    // start may have made it.
    const bool was_ready = is_there(home.server_priv() + "/server.port", Links::followed);
    if (was_ready && has_data(server) != has_data(policy)) {
        const std::string& gone = has_data(server) ? policy : server;
        return fail(PBSE_SYSTEM, fmt::format("{} {}, but {} has data. {}", gone,
                                             is_there(gone, Links::followed) ? "is empty" : "is gone",
                                             has_data(server) ? server : policy, advice));
    }
    std::string lost;
    for (const std::string& path : {server, policy}) {
        const auto loss = find_loss(home, path);
        if (!loss) return tl::unexpected(loss.error());
        if (*loss) lost += fmt::format("{} {}. ", path, (*loss)->text);
    }
    if (!lost.empty())
        return fail(PBSE_SYSTEM,
                    fmt::format("{}{}; to go on without what is lost: pbs_server -d {} --accept-loss", lost,
                                advice, home.path()));
    return {};
}

}  // namespace

Result<std::future<Result<void>>> begin_check(const Home& home) {
    const std::string advice = "Nothing was changed. " + restore_advice(home);
    const std::string server = home.server_db();
    const std::string policy = home.policy_db();
    for (const std::string& path : {server, policy})
        if (const auto wrong = sqlite::untrusted(path))
            return fail(PBSE_SYSTEM, fmt::format("{}. {}", *wrong, advice));
    const auto outcome = [advice](const std::string& path,
                                  const std::optional<std::string>& wrong) -> Result<void> {
        if (!wrong) return {};
        return fail(PBSE_SYSTEM, fmt::format("{} {}. {}", path, *wrong, advice));
    };
    const int64_t newest = Store::newest_version();
    if (auto ok = outcome(server, wrong_with_file(server, newest, false)); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = outcome(policy, wrong_with_file(policy, 0, true)); !ok) return tl::unexpected(ok.error());
    // Read the file only through SQLite: if the thread opened and closed it directly, this process would lose
    // the locks of its other connections. Wait for the lock of another connection, which may be rebuilding
    // the index of the -wal file after a crash.
    const auto whole = [outcome, server, newest] {
        return outcome(server, has_data(server)
                                   ? wrong_with_content(server, newest, true, std::chrono::seconds(30))
                                   : std::nullopt);
    };
    if (auto ok = check_presence(home, advice); !ok) {
        const auto damage = whole();
        return tl::unexpected(damage ? ok.error() : damage.error());
    }
    return std::async(std::launch::async, whole);
}

}  // namespace pbs::host
