// pbs_migrate: turns the files of an Origin, PBS or TORQUE scheduler into objects, by hand.
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "migrate/migrate.h"
#include "objects/store.h"

namespace {

using pbs::migrate::Problems;

constexpr int kRefused = 2;

constexpr const char* kDescription =
    "Turns the files of an older scheduler into objects of a PBS server. Of an Origin scheduler, every\n"
    "option of the configuration file becomes an attribute of the policy default_policy, prime time a\n"
    "time_window, and the holidays non_work_days of the server. Of the scheduler of PBS or TORQUE, the\n"
    "options of sched_config become attributes of default_policy, of default_policy_prime and\n"
    "default_policy_non_prime where they differ, and of the fs_group default_fs_group; its holidays file\n"
    "becomes time_windows of type prime and non_work_days, its dedicated_time those of type dedicated.\n"
    "The files are read, never changed. With a mistake in a file nothing is done.";

constexpr const char* kFooter =
    "Without --dry-run, pbs_migrate writes into HOME/server_priv/policy.db itself (--into), while no server\n"
    "runs on HOME. For a server that runs, hand it the commands instead, as one of its managers:\n"
    "    pbs_migrate --config F --holidays F --dry-run | qmgr\n"
    "A second run of the same files changes nothing. Exit status: 0 done, 1 wrong usage, 2 refused; what "
    "was\n"
    "wrong is on standard error, one line each: FILE:LINE:COLUMN: OPTION: what was expected.";

struct Arguments {
    pbs::migrate::LegacyFiles files;
    pbs::migrate::Surroundings server;
    std::string home;
    bool dry_run = false;
};

int refuse(const Problems& problems) {
    for (const auto& problem : problems)
        fmt::print(stderr, "pbs_migrate: {}\n", pbs::migrate::to_text(problem));
    fmt::print(stderr, "pbs_migrate: nothing was migrated\n");
    return kRefused;
}

int refuse(const std::string& message) {
    return refuse(Problems{{"", 0, 0, "", message}});
}

// The lock of the server on its home, held as long as this object lives: a record lock, as the server's,
// since the locks of flock(2) don't see those.
class HomeLock {
  public:
    explicit HomeLock(const std::string& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (fd_ < 0 || ::fcntl(fd_, F_SETLK, &whole) != 0) error_ = errno;
    }
    ~HomeLock() {
        if (fd_ >= 0) ::close(fd_);
    }
    HomeLock(const HomeLock&) = delete;
    HomeLock& operator=(const HomeLock&) = delete;

    // 0 when it is held.
    int error() const { return error_; }

  private:
    int fd_;
    int error_ = 0;
};

std::string user_name(uid_t uid) {
    const passwd* user = ::getpwuid(uid);
    return user == nullptr ? std::to_string(uid) : user->pw_name;
}

// Whoever may write the file may change what is in it.
pbs::objects::Identity identity() {
    return {user_name(::geteuid()), "localhost", pbs::objects::manager_privilege};
}

int print_commands(const Arguments& arguments) {
    const auto conversion = pbs::migrate::read_and_convert(arguments.files, nullptr, arguments.server);
    if (!conversion) return refuse(conversion.error());
    for (const std::string& note : conversion->report.notes) fmt::print("# {}\n", note);
    fmt::print("{}", pbs::migrate::to_qmgr(conversion->changes));
    return 0;
}

int write_into_home(const Arguments& arguments) {
    const std::string priv = arguments.home + "/server_priv";
    struct stat folder = {};
    if (::stat(priv.c_str(), &folder) != 0)
        return refuse(fmt::format("{} is not the home of a PBS server: {}: {}", arguments.home, priv,
                                  std::strerror(errno)));
    // Files of another user would keep the server from starting.
    if (folder.st_uid != ::geteuid())
        return refuse(fmt::format("{} belongs to user {}: run pbs_migrate as that user", priv,
                                  user_name(folder.st_uid)));
    const HomeLock lock(priv + "/server.lock");
    if (lock.error() == EAGAIN || lock.error() == EACCES)
        return refuse(fmt::format(
            "a server runs on {}: stop it, or give it the commands of --dry-run with qmgr", arguments.home));
    if (lock.error() != 0)
        return refuse(fmt::format("can't lock {}/server.lock: {}", priv, std::strerror(lock.error())));
    // What is written now would be put aside by the rest of the restore.
    const std::string journal = priv + "/restore.journal";
    if (::lstat(journal.c_str(), &folder) == 0)
        return refuse(
            fmt::format("{} is there: a restore is unfinished; start the server once to finish it", journal));
    if (errno != ENOENT) return refuse(fmt::format("can't look for {}: {}", journal, std::strerror(errno)));
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto store = pbs::objects::Store::open(priv + "/policy.db", {}, now);
    if (!store) return refuse(store.error().message);
    const auto report = pbs::migrate::migrate(arguments.files, *store, identity(), now, arguments.server);
    if (!report) return refuse(report.error());
    fmt::print("{}", pbs::migrate::to_text(*report));
    return 0;
}

void add_options(CLI::App& app, Arguments& arguments) {
    auto* config = app.add_option("--config", arguments.files.config,
                                  "Configuration file of an Origin scheduler (sched_priv/config)")
                       ->type_name("F");
    app.add_option("--holidays", arguments.files.holidays,
                   "Holidays file: of an Origin scheduler (/usr/lib/acct/holidays), or with --sched-config "
                   "that of PBS or TORQUE (sched_priv/holidays)")
        ->type_name("F");
    auto* sched_config =
        app.add_option("--sched-config", arguments.files.sched_config,
                       "Configuration file of the scheduler of PBS or TORQUE (sched_priv/sched_config)")
            ->type_name("F")
            ->excludes(config);
    app.add_option("--dedicated-time", arguments.files.dedicated_time,
                   "Dedicated times of PBS or TORQUE (sched_priv/dedicated_time)")
        ->type_name("F")
        ->needs(sched_config);
    app.add_option("--queues", arguments.server.queues,
                   "Names of the server's queues, of which dedicated_prefix chooses")
        ->type_name("Q,...")
        ->delimiter(',')
        ->needs(sched_config);
    app.add_option("--resources", arguments.server.consumables,
                   "Custom consumable resources of the server, which are excluded if the option resources "
                   "doesn't name them")
        ->type_name("R,...")
        ->delimiter(',')
        ->needs(sched_config);
    auto* dry_run =
        app.add_flag("--dry-run", arguments.dry_run, "Print the qmgr commands that have the same effect");
    app.add_option("--into", arguments.home,
                   "Home of the server whose objects are changed, offline; by default PBS_HOME")
        ->type_name("HOME")
        ->excludes(dry_run);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(kDescription, "pbs_migrate");
    app.footer(kFooter);
    Arguments arguments;
    add_options(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    if (arguments.files.empty()) {
        fmt::print(stderr,
                   "pbs_migrate: nothing to read, expected --config F, --holidays F or both, or "
                   "--sched-config F\n");
        return 1;
    }
    if (const char* home = std::getenv("PBS_HOME"); home != nullptr && arguments.home.empty())
        arguments.home = home;
    if (!arguments.dry_run && arguments.home.empty()) {
        fmt::print(
            stderr,
            "pbs_migrate: expected --dry-run, or --into HOME or PBS_HOME for a server that isn't running\n");
        return 1;
    }
    arguments.server.now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return arguments.dry_run ? print_commands(arguments) : write_into_home(arguments);
}
