#include "server_plugin/host/base/home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

namespace {

struct Directory {
    const char* name;
    mode_t mode;
};
constexpr const char* kUndeliveredName = "/undelivered";
// The directories and their modes, parents before children.
constexpr std::array<Directory, 12> kLayout = {{{"", 0755},
                                                {"/server_priv", 0711},
                                                {"/server_priv/jobs", 0700},
                                                {"/server_priv/accounting", 0750},
                                                {"/sched_priv", 0750},
                                                {"/server_logs", 0755},
                                                {"/sched_logs", 0755},
                                                {"/spool", 01777},
                                                {kUndeliveredName, 0755},
                                                {"/mom_priv", 0751},
                                                {"/mom_priv/jobs", 0751},
                                                {"/aux", 0755}}};

// Makes the directory if it doesn't exist. Returns nullopt if the directory exists then, else the reason for
// the failure.
std::optional<std::string> make(const std::string& path, mode_t mode) {
    if (make_directory(path, mode) || errno == EEXIST) return std::nullopt;
    return "cannot be created: " + system_text(errno);
}

// Takes from other users the right to write to a directory. In a PBS_HOME of an earlier version, or of
// another PBS, everybody may write to `undelivered`: users could then take the names of output files there.
// If the mode can't be changed, check() reports that.
void close_to_others(const std::string& path, mode_t mode) {
    const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (directory && ::fstat(directory.get(), &status) == 0 && (status.st_mode & S_IWOTH) != 0)
        static_cast<void>(::fchmod(directory.get(), mode));
}

std::optional<std::string> check(const std::string& path, mode_t mode) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return system_text(errno);
    if (!S_ISDIR(status.st_mode)) return "is not a directory";
    if (status.st_uid != 0 && status.st_uid != ::geteuid())
        return fmt::format("belongs to uid {}, expected root or uid {}", status.st_uid, ::geteuid());
    if ((mode & S_IWOTH) == 0 && (status.st_mode & S_IWOTH) != 0)
        return fmt::format("may be written by everyone (mode {:04o}), expected {:04o}",
                           status.st_mode & 07777, mode);
    if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0)
        return fmt::format("is not writable for this server (uid {}): {}", ::geteuid(), system_text(errno));
    return std::nullopt;
}

}  // namespace

Home::Home(Home&& other) noexcept
    : path_(std::move(other.path_)), lock_fd_(std::exchange(other.lock_fd_, -1)) {}

Home& Home::operator=(Home&& other) noexcept {
    if (this != &other) {
        if (lock_fd_ >= 0) ::close(lock_fd_);
        path_ = std::move(other.path_);
        lock_fd_ = std::exchange(other.lock_fd_, -1);
    }
    return *this;
}

Home::~Home() {
    if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<Home> Home::open(const std::string& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    if (path.empty() || error) return fail(PBSE_SYSTEM, fmt::format("PBS home \"{}\" is not a path", path));
    std::string home = absolute.lexically_normal().string();
    while (home.size() > 1 && home.ends_with('/')) home.pop_back();
    if (home == "/") return fail(PBSE_SYSTEM, "PBS home / is the root directory, expected one of its own");
    const bool is_new = look_for(home) == Existence::gone;
    for (const auto& [name, mode] : kLayout) {
        const std::string directory = home + name;
        auto wrong = make(directory, mode);
        if (!wrong && name == kUndeliveredName) close_to_others(directory, mode);
        if (!wrong) wrong = check(directory, mode);
        if (wrong) return fail(PBSE_SYSTEM, fmt::format("PBS home: directory {} {}", directory, *wrong));
    }
    // Bring the names of new directories to the disk. Otherwise a power failure could remove a directory with
    // all files in it.
    std::vector<std::string> parents{home, home + "/server_priv", home + "/mom_priv"};
    if (is_new) parents.push_back(home.substr(0, home.rfind('/') + 1));
    for (const std::string& directory : parents)
        if (!sync_directory(directory))
            return fail(PBSE_SYSTEM, fmt::format("PBS home: directory {} can not be brought to the disk: {}",
                                                 directory, system_text(errno)));
    return Home(home);
}

Result<void> Home::lock() {
    const std::string path = server_priv() + "/server.lock";
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) return fail(PBSE_SYSTEM, fmt::format("cannot open {}: {}", path, system_text(errno)));
    // Use a record lock, which belongs to this process alone. A lock of flock(2) would outlive a killed
    // server in a child that the server has just forked.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd.get(), F_SETLK, &lock) != 0) {
        if (errno != EAGAIN && errno != EACCES)
            return fail(PBSE_SYSTEM, fmt::format("cannot lock {}: {}", path, system_text(errno)));
        auto pid = read_fd(fd.get(), path, 64).value_or("");
        while (pid.ends_with('\n')) pid.pop_back();
        return fail(PBSE_SYSTEM,
                    fmt::format("another pbs_server runs on {} (pid {})", path_, pid.empty() ? "?" : pid));
    }
    if (::ftruncate(fd.get(), 0) != 0 || !write_all(fd.get(), fmt::format("{}\n", ::getpid())))
        return fail(PBSE_SYSTEM, fmt::format("cannot write {}: {}", path, system_text(errno)));
    lock_fd_ = fd.release();
    return {};
}

}  // namespace pbs::host
