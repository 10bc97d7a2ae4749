#include "server_plugin/host/requests/backup.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/client/backup_folders.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/spawn.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/store/manifest.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLongest{30};

// Returns the size of the databases with their -wal files, in bytes.
std::uintmax_t size_of_databases(const std::string& home) {
    std::uintmax_t size = 0;
    for (const std::string_view name : kDatabaseNames)
        for (const char* part : {"", "-wal"}) {
            struct stat status {};
            if (::stat(fmt::format("{}/server_priv/{}{}", home, name, part).c_str(), &status) == 0)
                size += static_cast<std::uintmax_t>(status.st_size);
        }
    return size;
}

// Checks that there is twice the space that the backup needs, because a full disk would stop the server.
Result<void> check_space(const fs::path& all, const std::string& home) {
    struct statvfs disk {};
    if (::statvfs(all.c_str(), &disk) != 0)
        return fail(PBSE_SYSTEM, fmt::format("{}: {}", all.string(), system_text(errno)));
    const std::uintmax_t free = std::uintmax_t{disk.f_bavail} * disk.f_frsize;
    const std::uintmax_t size = size_of_databases(home);
    if (free / 2 >= size) return {};
    return fail(PBSE_SYSTEM,
                fmt::format("{}: a backup takes {} MB, and as much has to be left free: there are {} MB",
                            all.string(), (size >> 20) + 1, free >> 20));
}

// Makes a backup in three steps: removes the remains of an interrupted backup, copies the databases, then
// removes the oldest backup. Each step is done by a process, because removing large files takes a while.
class BackUp final : public Answered {
  public:
    BackUp(Server& server, fs::path all) : server_(server), all_(std::move(all)) {
        server_.backing_up = true;
    }
    // Kills the process if the backup is dropped, such as when its client has gone. The next backup removes
    // the unfinished copy.
    ~BackUp() override {
        server_.backing_up = false;
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        server_.killed_children.push_back(pid_);
    }

    Remaining step(Context& context, ifl::StatusParts&) override {
        if (pid_ > 0) {
            const int status = poll();
            if (status < 0) return Remaining::later;
            if (status > 0) return end(refuse({PBSE_SYSTEM, why(status)}));
        }
        switch (stage_) {
            case Stage::clearing:
                stage_ = Stage::copying;
                return remove(client::unfinished_backups(all_));
            case Stage::copying:
                stage_ = Stage::pruning;
                if (auto enough = check_space(all_, server_.options.home); !enough)
                    return end(refuse(enough.error()));
                folder_ = client::new_backup_folder(all_, context.now);
                return run(server_.options.program,
                           {"pbs_server", "--home", server_.options.home, "--backup", folder_});
            case Stage::pruning: {
                stage_ = Stage::done;
                Remaining next = Remaining::more;
                // The backup is made, whatever fails now.
                guarded(server_.parts.log, "backup", [&] {
                    server_.parts.log.write(LogEvent::admin, LogClass::server, "backup",
                                            fmt::format("{} at request of {}", folder_, requestor(context)));
                    too_many_ = client::too_many_backups(all_);
                    next = remove(too_many_);
                });
                return next;
            }
            case Stage::done:
                break;
        }
        return end(ifl::Reply::warning(
            fmt::format("backup {}{}", folder_, client::removed_backups_text(too_many_))));
    }

  private:
    enum class Stage : std::uint8_t { clearing, copying, pruning, done };

    Remaining run(const std::string& program, std::vector<std::string> arguments) {
        errors_ = memory_file();
        until_ = std::chrono::steady_clock::now() + kLongest;
        const pid_t pid = errors_ ? spawn(program, std::move(arguments), {}, errors_.get()) : -errno;
        if (pid < 0)
            return end(refuse({PBSE_SYSTEM, fmt::format("{} can't be run: {}", program, system_text(-pid))}));
        pid_ = pid;
        return Remaining::later;
    }
    Remaining remove(const std::vector<fs::path>& paths) {
        if (paths.empty()) return Remaining::more;
        std::vector<std::string> arguments = {"rm", "-rf", "--"};
        for (const fs::path& path : paths) arguments.push_back(path.string());
        return run("/bin/rm", std::move(arguments));
    }
    // Polls the process of the present step. Returns 0 if it succeeded, a number above 0 if it failed, and -1
    // while it works.
    int poll() {
        int status = 0;
        const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended == 0 && std::chrono::steady_clock::now() < until_) return -1;
        if (ended == 0) {
            ::kill(pid_, SIGKILL);
            server_.killed_children.push_back(pid_);
            late_ = true;
        }
        pid_ = 0;
        return ended > 0 ? status : 1;
    }
    // Returns the error text that the process has written, without "pbs_server: " before it.
    std::string why(int status) const {
        std::string text;
        if (::lseek(errors_.get(), 0, SEEK_SET) == 0)
            if (auto read = read_fd(errors_.get(), "errors", 65536)) text = std::move(*read);
        constexpr std::string_view kProgram = "pbs_server: ";
        if (text.starts_with(kProgram)) text.erase(0, kProgram.size());
        while (text.ends_with('\n')) text.pop_back();
        if (!text.empty()) return text;
        if (late_) return fmt::format("{}: not done in {} minutes", all_.string(), kLongest.count());
        if (WIFSIGNALED(status))
            return fmt::format("{}: the program that made it was ended by signal {}", all_.string(),
                               WTERMSIG(status));
        return fmt::format("{}: the program that made it ended with status {}", all_.string(),
                           WEXITSTATUS(status));
    }

    Server& server_;
    fs::path all_;
    Stage stage_ = Stage::clearing;
    std::string folder_;
    std::vector<fs::path> too_many_;  // the removed folders
    pid_t pid_ = 0;                   // the process of the present step
    bool late_ = false;               // the process took too long
    Fd errors_;
    std::chrono::steady_clock::time_point until_;
};

}  // namespace

ifl::Reply begin_backup(Context& context) {
    Server& server = context.server;
    if (server.backing_up) return refuse({PBSE_SYSTEM, "a backup is being made already"});
    const std::string parent = server.options.home + "/server_priv";
    const fs::path all = parent + "/backups";
    const auto failed = [&](int error) {
        return refuse({PBSE_SYSTEM, fmt::format("{}: {}", all.string(), system_text(error))});
    };
    if (::mkdir(all.c_str(), 0700) == 0) {
        // Bring the new folder's name to the disk: otherwise a power failure could remove the folder with its
        // backups.
        if (!sync_directory(parent)) {
            const int error = errno;
            ::rmdir(all.c_str());  // the next backup tries again
            return failed(error);
        }
    } else if (errno != EEXIST) {
        return failed(errno);
    }
    struct stat status {};
    if (::lstat(all.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
        return refuse({PBSE_SYSTEM, fmt::format("{}: expected a folder of the server's user", all.string())});
    context.rest = std::make_unique<BackUp>(server, all);
    return {};
}

}  // namespace pbs::host
