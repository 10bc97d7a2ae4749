// The class Program, for its two source files: start.cc opens the server's parts, and program.cc runs the
// loop.
#pragma once

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/daemonize.h"
#include "server_plugin/host/base/deadline_timer.h"
#include "server_plugin/host/base/home.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/machine_load.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/service_manager.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/life/ended_runs.h"
#include "server_plugin/host/life/running_usage.h"
#include "server_plugin/host/main/program.h"
#include "server_plugin/host/net/network.h"
#include "server_plugin/host/peers/deliveries.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/store/store.h"

namespace pbs::host {

using Steady = std::chrono::steady_clock;

// The plugin's threads report to the loop by one eventfd, to which they add these numbers: kOneCycle for each
// finished cycle, kOneWork for each other piece of work that is finished.
constexpr eventfd_t kOneCycle = eventfd_t{1} << 32;
constexpr eventfd_t kOneWork = 1;

// The server's program. Each member is declared before the members that use it.
class Program {
  public:
    explicit Program(const ProgramOptions& options);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() = default;

    Result<void> run();

  private:
    Result<void> open_home();
    Result<void> open_state();
    Result<void> open_plugin();
    Result<void> recover();
    Result<void> listen();
    void make_handles();
    void close_handles();
    void tick();
    void schedule_cycles();
    void carry_out_some();
    void settle_dependents();
    void run_cycles();
    void carry_on(const std::function<void()>& step);
    Result<void> watch_deadlines();
    void note_turn();
    Result<void> make_threads();
    void look_at_clock();
    void look_at_reservations();
    void set_deadline(int64_t earliest = 0);
    void check_stop();
    void stop(std::string_view why);

    const ProgramOptions& options_;
    rlim_t descriptors_ = 0;
    ServiceManager service_manager_;
    std::optional<Daemon> daemon_;
    Clock clock_;
    std::optional<Home> home_;
    std::shared_future<Result<void>> database_check_;
    std::unique_ptr<Log> log_;
    std::unique_ptr<Accounting> accounting_;
    std::unique_ptr<Mailer> mailer_;
    std::unique_ptr<Store> store_;
    Fd shepherd_;
    std::unique_ptr<Runner> runner_;
    std::unique_ptr<RunnerExecutor> executor_;
    Fd plugin_done_;  // an eventfd, written by the plugin's threads
    std::unique_ptr<Plugin> plugin_;
    std::unique_ptr<Server> server_;
    std::unique_ptr<Cycles> cycles_;
    std::unique_ptr<Network> network_;
    std::unique_ptr<Deliveries> deliveries_;
    std::unique_ptr<Peers> peers_;
    std::unique_ptr<RunningUsage> running_usage_;
    std::unique_ptr<EndedRuns> ended_runs_;

    uv_loop_t loop_{};
    uv_signal_t term_{};
    uv_signal_t interrupt_{};
    uv_poll_t runner_events_{};
    uv_poll_t plugin_events_{};
    uv_timer_t tick_{};
    uv_timer_t cycle_timer_{};
    uv_idle_t more_decisions_{};
    uv_timer_t decisions_wait_{};
    uv_idle_t more_dependents_{};
    uv_prepare_t turn_end_{};
    uv_work_t first_work_{};
    Steady::time_point turn_began_{};
    // The time, in all turns before this one, that the loop has waited for events.
    std::chrono::nanoseconds waited_before_{0};
    std::chrono::nanoseconds processor_before_{0};
    bool dependents_fail_ = false;
    std::unique_ptr<DeadlineTimer> deadline_timer_;
    // The next deadline of the plugin or a reservation, by the server's clock.
    int64_t deadline_ = std::numeric_limits<int64_t>::max();
    bool cycle_scheduled_ = false;
    bool stopped_ = false;
    Steady::time_point last_cycle_end_{};
    std::chrono::milliseconds last_cycle_length_{0};
    LoadMeter load_meter_;
    int64_t last_load_report_ = 0;
    bool load_is_limited_ = true;  // a maximum of the load was set at the last measurement
    int64_t last_purge_ = 0;
    bool purge_goes_on_ = false;  // the pass over the history isn't complete
};

}  // namespace pbs::host
