#include "migrate/in_home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "values/fd.h"

namespace pbs::migrate {
namespace {

// Holds the server's lock on its home while this object lives. It is a record lock of fcntl(2), as the
// server's is: a lock of flock(2) wouldn't conflict with the server's lock.
class HomeLock {
  public:
    explicit HomeLock(const std::string& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (!fd_ || ::fcntl(fd_.get(), F_SETLK, &whole) != 0) error_ = errno;
    }

    // The errno of the failed lock; 0: the lock is held.
    int error() const { return error_; }

  private:
    values::Fd fd_;
    int error_ = 0;
};

std::string user_name(uid_t uid) {
    const passwd* user = ::getpwuid(uid);
    return user == nullptr ? std::to_string(uid) : user->pw_name;
}

}  // namespace

objects::Identity identity_here() {
    return {user_name(::geteuid()), "localhost", objects::manager_privilege};
}

Result<void> with_home(const std::string& home, const std::function<Result<void>(objects::Store&)>& work) {
    const std::string priv = home + "/server_priv";
    struct stat folder = {};
    if (::stat(priv.c_str(), &folder) != 0)
        return refuse(
            fmt::format("{} is not the home of a PBS server: {}: {}", home, priv, std::strerror(errno)));
    // Refuse to run as another user, such as root: pbs_migrate would make files that the server can't open.
    if (folder.st_uid != ::geteuid())
        return refuse(fmt::format("{} belongs to user {}: run pbs_migrate as that user", priv,
                                  user_name(folder.st_uid)));
    const HomeLock lock(priv + "/server.lock");
    if (lock.error() == EAGAIN || lock.error() == EACCES)
        return refuse(fmt::format(
            "a server runs on {}: go through it with --server, as one of its managers, or stop it", home));
    if (lock.error() != 0)
        return refuse(fmt::format("can't lock {}/server.lock: {}", priv, std::strerror(lock.error())));
    // Refuse a home with an interrupted restore: the server's next start finishes the restore, and would
    // overwrite the changes.
    const std::string journal = priv + "/restore.journal";
    if (::lstat(journal.c_str(), &folder) == 0)
        return refuse(
            fmt::format("{} is there: a restore is unfinished; start the server once to finish it", journal));
    if (errno != ENOENT) return refuse(fmt::format("can't look for {}: {}", journal, std::strerror(errno)));
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto store = objects::Store::open(priv + "/policy.db", {}, now);
    if (!store) return refuse(store.error().message);
    return work(*store);
}

}  // namespace pbs::migrate
