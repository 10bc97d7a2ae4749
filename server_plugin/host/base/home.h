// The server's home directory, PBS_HOME: its layout, its modes, and the lock that keeps a second server out.
#pragma once

#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Home {
  public:
    // Opens PBS_HOME at `path` (made absolute). Creates missing directories, with these modes:
    //   .                        0755
    //   server_priv              0711  users reach pbs.sock in it; its files are private
    //   server_priv/jobs         0700
    //   server_priv/accounting   0750
    //   server_logs              0755
    //   sched_priv               0750
    //   sched_logs               0755
    //   mom_priv, mom_priv/jobs  0751  a job's owner reads its script there
    //   spool                    1777
    //   undelivered              0755
    //   aux                      0755
    // An existing directory keeps its mode. It has to belong to root or to the server's user, and to be
    // writable; others must not be able to write to it, except to spool. Errors name the directory and the
    // fault.
    static Result<Home> open(const std::string& path);

    Home(Home&& other) noexcept;
    Home& operator=(Home&& other) noexcept;
    ~Home();

    // Locks HOME/server_priv/server.lock for the life of this object, and writes this process's pid into it.
    // Call it after Daemon::detach(). If another server has the lock, the error names its pid.
    Result<void> lock();

    const std::string& path() const { return path_; }
    std::string server_priv() const { return path_ + "/server_priv"; }
    std::string server_db() const { return path_ + "/server_priv/server.db"; }
    std::string policy_db() const { return path_ + "/server_priv/policy.db"; }
    std::string socket() const { return path_ + "/server_priv/pbs.sock"; }
    std::string server_jobs() const { return path_ + "/server_priv/jobs"; }
    std::string accounting() const { return path_ + "/server_priv/accounting"; }
    std::string sched_priv() const { return path_ + "/sched_priv"; }
    std::string server_logs() const { return path_ + "/server_logs"; }
    std::string sched_logs() const { return path_ + "/sched_logs"; }
    std::string spool() const { return path_ + "/spool"; }
    std::string undelivered() const { return path_ + "/undelivered"; }
    std::string aux() const { return path_ + "/aux"; }

  private:
    explicit Home(std::string path) : path_(std::move(path)) {}

    std::string path_;
    int lock_fd_ = -1;
};

}  // namespace pbs::host
