// The members of Runner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/launcher.h"
#include "server_plugin/host/run/run_files.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// The data of a Runner and the parts of its code. Only runner.cc, which is long, includes it.
class Runner::Impl {
  public:
    // The launcher's number in the epoll set. The numbers of watches are larger.
    static constexpr std::uint64_t kLauncherNumber = 0;

    Impl(RunnerOptions options, Fd epoll)
        : options_(std::move(options)),
          epoll_(std::move(epoll)),
          launcher_(options_.home, options_.program, epoll_.get(), kLauncherNumber) {}

    // A process that supervises a start: its warden; its shepherd, if the warden is dead; or a cleaner.
    struct Watch {
        RunId id;
        Fd process;
        Fd notify;  // the shepherd's pipe, until it has sent all its messages
        std::string notified;
        std::int64_t session = 0;
        std::string output_note;
        std::string error;
    };

    // A start that the launcher is working on, or that isn't watched yet. Requests to its warden are kept
    // until the warden runs and is watched.
    struct Launching {
        RunId id;
        std::vector<std::pair<int, int>> requests{};
    };
    using Starts = std::list<Launching>;

    RunnerOptions options_;
    Fd epoll_;
    Launcher launcher_;
    std::unordered_map<std::string, Launching> launching_;
    std::deque<Launcher::Answer> answers_;  // the launcher's answers that are yet to be acted on
    bool launcher_is_gone_ = false;         // launcher_gone() is yet to be done
    std::vector<RunReport> kept_;           // reports for the next events()
    std::uint64_t next_watch_ = 1;
    std::unordered_map<std::uint64_t, Watch> watches_;
    std::unordered_map<std::string, std::uint64_t> by_id_;
    Starts unwatched_;  // starts that couldn't be watched yet, such as for want of descriptors
    std::unordered_map<std::string, int> burials_;  // by start: how often a cleaner was started for it
    std::vector<pid_t> cleaners_;                   // this process's children that are to be waited for
    std::string parent_group_;  // the parent of jobs' control groups; empty: jobs get none
    std::string supervision_;
    bool weighs_ = false;  // jobs' control groups have a cpu.weight
    std::string boot_ = boot_id();

    void choose_supervision();
    RunFiles files(const RunId& id) const { return {options_.home, id}; }
    Result<void> write_script(const JobStart& job) const;
    Result<void> write_spec(JobStart job) const;
    Result<void> watch(Watch watch);
    Watch unwatch(std::uint64_t number);
    Watch* find(const RunId& id);
    RunReport examine(const RunId& id);
    Result<void> bury(const RunId& id, std::int64_t session);
    void watch_or_later(const Result<void>& watched, const RunId& id);
    void send_requests(Launching& start);
    void look_after_unwatched(std::vector<RunReport>& reports);
    bool ask_now(const RunId& id, int request, int value);
    Result<void> ask(const RunId& id, int request, int value);
    void take_answers(std::vector<RunReport>& reports);
    bool launched(Launcher::Answer& answer, Launching& start, std::vector<RunReport>& reports);
    template <class Work>
    void or_later(Starts start, Work&& work);
    void reap_cleaners();
    void launcher_gone(std::vector<RunReport>& reports);
    void drop(Fd& watched);
    void read_notice(std::uint64_t number, std::vector<RunReport>& reports);
    void shepherd_ended(std::uint64_t number, std::vector<RunReport>& reports);
};

}  // namespace pbs::host
