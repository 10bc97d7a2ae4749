#include "server_plugin/host/main/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <pwd.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/daemonize.h"
#include "server_plugin/host/base/deadline_timer.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/home.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/service_manager.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/base/version.h"
#include "server_plugin/host/change/queue_types.h"
#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/ended_runs.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/life/running_usage.h"
#include "server_plugin/host/net/network.h"
#include "server_plugin/host/peers/arrival.h"
#include "server_plugin/host/peers/deliveries.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/carry_out.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/store/backup.h"
#include "server_plugin/host/store/database_check.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kTickOfRealClock{1000};
// A clock that is moved from outside is looked at more often.
constexpr milliseconds kTickOfFollowedClock{100};
constexpr milliseconds kLongestCyclePause{2000};
// A client that was answered less than kAsksAgain ago may ask again at once: decisions wait for it, but for
// all clients together no longer than kDecisionsWait.
constexpr milliseconds kAsksAgain{1};
constexpr milliseconds kDecisionsWait{4};
// What the threads of the plugin's add up in one eventfd: cycles that are over, and other work.
constexpr eventfd_t kOneCycle = eventfd_t{1} << 32;
constexpr eventfd_t kOneWork = 1;
// A turn of the loop that takes longer is logged: whoever asks something waits for it.
constexpr milliseconds kLongTurn{50};
constexpr int64_t kSecondsBetweenLoadReports = 30;
constexpr int64_t kSecondsBetweenPurges = 60;

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    gethostname(name.data(), name.size() - 1);
    return values::lowered(name.data());
}

Result<std::string> default_plugin() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
    if (size < 0) return fail(PBSE_SYSTEM, fmt::format("/proc/self/exe: {}", std::strerror(errno)));
    std::string folder(path.data(), static_cast<size_t>(size));
    folder.resize(folder.rfind('/'));
    const std::string beside = folder + "/pbs_policy.so";
    const std::string installed = folder + "/../lib/pbspolicy/pbs_policy.so";
    if (access(beside.c_str(), F_OK) != 0 && access(installed.c_str(), F_OK) == 0) return installed;
    return beside;
}

// The program of the processes above jobs, open. It is run by this descriptor, so that a running server whose
// files are replaced goes on with the one that it knows.
Result<Fd> open_shepherd() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
    if (size < 0) return fail(PBSE_SYSTEM, fmt::format("/proc/self/exe: {}", std::strerror(errno)));
    std::string program(path.data(), static_cast<size_t>(size));
    program.resize(program.rfind('/'));
    program += "/../lib/pbspolicy/pbs_shepherd";
    Fd fd(open(program.c_str(), O_PATH | O_CLOEXEC));
    if (!fd) return fail(PBSE_SYSTEM, fmt::format("{}: {}", program, std::strerror(errno)));
    return fd;
}

// The server's own descriptors, with room to answer somebody and to run a few jobs.
constexpr rlim_t kFewestDescriptors = 64;

// Each connection and each running job takes descriptors: as many as there may be, and not too few.
Result<rlim_t> raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fail(PBSE_SYSTEM, fmt::format("the limit of open files: {}", std::strerror(errno)));
    const rlim_t soft = std::exchange(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = soft;
    if (limit.rlim_cur < kFewestDescriptors)
        return fail(PBSE_SYSTEM,
                    fmt::format("the limit of open files (ulimit -n) is {}: expected at least {}",
                                limit.rlim_cur, kFewestDescriptors));
    return limit.rlim_cur;
}

// Memory that is freed at the end of the heap is wanted again at once, by the next job or request; each time
// that it goes to the kernel and comes back costs a fault a page. What is left of a large reply is returned
// by Network.
void keep_freed_memory() {
    constexpr int kMega = 1 << 20;
    mallopt(M_TRIM_THRESHOLD, 16 * kMega);
    mallopt(M_TOP_PAD, kMega);
    mallopt(M_MMAP_THRESHOLD, 8 * kMega);  // or it would stay at the 128 kB that it begins with
}

// Of sched_setattr(2), in its first form: <linux/sched/types.h> can't be read beside <sched.h>.
struct SchedulingAttributes {
    uint32_t size = sizeof(SchedulingAttributes);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 1;  // SCHED_FLAG_RESET_ON_FORK
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0;  // nanoseconds
    uint64_t deadline = 0;
    uint64_t period = 0;
};

// The loop's thread goes before the jobs and the processes above them, which may be hundreds that begin or
// end at once. Its children and threads don't have that: the kernel gives them the usual priority. A server
// that was started with another one keeps it, as do its jobs, and so does one that may not choose.
void go_first() {
    errno = 0;
    if (getpriority(PRIO_PROCESS, 0) != 0 || errno != 0 || sched_getscheduler(0) != SCHED_OTHER) return;
    // From Linux 6.12 on, a process that asks for short turns interrupts those with longer ones. Older
    // kernels ignore this.
    constexpr uint64_t kShortTurn = 300'000;
    const SchedulingAttributes first{.nice = -10, .runtime = kShortTurn};
    (void)syscall(SYS_sched_setattr, 0, &first, 0);
}

std::chrono::nanoseconds time_on_processor() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::string surroundings(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
    return value == nullptr ? "" : value;
}

// Written whole and put in place, so that a reader never sees half of it.
Result<void> write_port_file(const std::string& path, uint16_t port) {
    const std::string next = path + ".new";
    std::ofstream(next) << port << '\n';
    chmod(next.c_str(), 0644);
    if (rename(next.c_str(), path.c_str()) != 0)
        return fail(PBSE_SYSTEM, fmt::format("{}: {}", path, std::strerror(errno)));
    return {};
}

// The parts, in the order in which they need each other.
class Program {
  public:
    explicit Program(const ProgramOptions& options)
        : options_(options), clock_(std::chrono::seconds(options.clock_offset)) {}
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
    void look_at_clock();
    void look_at_reservations();
    void set_deadline(int64_t earliest = 0);
    void check_stop();
    void stop(std::string_view why);

    const ProgramOptions& options_;
    rlim_t descriptors_ = 0;
    ServiceManager service_manager_{surroundings};
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
    Fd plugin_done_;  // an eventfd, written to by threads of the plugin's
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
    Steady::time_point turn_began_{};
    std::chrono::nanoseconds waited_before_{0};  // for events, in all turns
    std::chrono::nanoseconds processor_before_{0};
    bool dependents_fail_ = false;
    std::unique_ptr<DeadlineTimer> deadline_timer_;
    int64_t deadline_ = std::numeric_limits<int64_t>::max();  // of the plugin, by the server's clock
    bool cycle_scheduled_ = false;
    bool stopped_ = false;
    Steady::time_point last_cycle_end_{};
    milliseconds last_cycle_length_{0};
    LoadMeter load_meter_;
    int64_t last_load_report_ = 0;
    bool load_is_limited_ = true;  // a maximum was set at the last report
    int64_t last_purge_ = 0;
};

Result<void> Program::open_home() {
    if (!options_.clock_file.empty()) {
        auto complain = [this](const std::string& text) {
            if (log_) log_->error("clock", text);
        };
        if (auto done = clock_.follow(options_.clock_file, complain); !done) return done;
    }
    auto home = Home::open(options_.home);
    if (!home) return tl::unexpected(home.error());
    home_.emplace(std::move(*home));
    if (auto done = home_->lock(); !done) return done;
    log_ = std::make_unique<Log>(home_->server_logs(), "Server@" + host_name(), clock_);
    accounting_ = std::make_unique<Accounting>(home_->accounting(), *log_, clock_);
    const auto finished = finish_restore(*home_);
    if (!finished) return tl::unexpected(finished.error());
    if (*finished)
        log_->write(LogEvent::system, LogClass::server, "Server",
                    "a restore that had been cut short is completed");
    auto whole = begin_check(*home_);
    if (!whole) return tl::unexpected(whole.error());
    database_check_ = whole->share();
    return {};
}

Result<void> Program::open_state() {
    const auto whole = [this] { return database_check_.get(); };
    auto store = Store::open(home_->server_db(), whole);
    if (!store) return tl::unexpected(store.error());
    store_ = std::move(*store);
    State state;
    state.host_name = host_name();
    auto name = store_->keep_server_name(
        options_.name.empty() ? state.host_name.substr(0, state.host_name.find('.')) : options_.name);
    if (!name) return tl::unexpected(name.error());
    if (!options_.name.empty() && options_.name != *name)
        return fail(PBSE_SYSTEM,
                    fmt::format("--name {}: {} is the home of server {}, whose jobs carry that name",
                                options_.name, home_->path(), *name));
    state.server_name = std::move(*name);
    if (auto done = store_->load(state); !done) {
        // What can't be read is told as damage.
        const auto ok = whole();
        return ok ? done : ok;
    }
    log_->set_events(static_cast<unsigned>(state.server.integer("log_events", 511)));
    mailer_ = std::make_unique<Mailer>(
        *log_, std::string(state.server.text("mailer")),
        state.server.has("mail_from") ? std::string(state.server.text("mail_from")) : "adm");
    RunnerOptions runner_options;
    runner_options.home = home_->path();
    runner_options.host_name = state.host_name;
    auto shepherd = open_shepherd();
    if (!shepherd) return tl::unexpected(shepherd.error());
    shepherd_ = std::move(*shepherd);
    runner_options.program = fmt::format("/proc/{}/fd/{}", getpid(), shepherd_.get());
    auto runner = Runner::create(std::move(runner_options));
    if (!runner) return tl::unexpected(runner.error());
    runner_ = std::move(*runner);
    log_->write(LogEvent::system, LogClass::server, "jobs", runner_->supervision());
    for (const std::string& note : read_mom_config(home_->path()).notes) log_->error("jobs", note);
    executor_ = std::make_unique<RunnerExecutor>(*runner_);

    ServerOptions server_options;
    server_options.home = home_->path();
    server_options.scripts = home_->server_jobs();
    server_options.undelivered = home_->undelivered();
    const auto starter = find_user(geteuid());
    server_options.starter = starter ? starter->name : std::to_string(geteuid());
    server_ = std::make_unique<Server>(
        std::move(state),
        ServerParts{*store_, *log_, *accounting_, *mailer_, *executor_, clock_, nullptr, follow_subjobs},
        std::move(server_options));
    server_->started = server_->now();
    return server_->make_first_objects();
}

Result<void> Program::open_plugin() {
    PluginOptions plugin_options;
    auto path = options_.plugin.empty() ? default_plugin() : Result<std::string>(options_.plugin);
    if (!path) return tl::unexpected(path.error());
    plugin_options.path = *path;
    plugin_options.home = home_->path();
    plugin_options.server_name = server_->state.server_name;
    plugin_options.now = server_->now();
    plugin_done_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!plugin_done_) return fail(PBSE_SYSTEM, fmt::format("eventfd: {}", std::strerror(errno)));
    plugin_options.cycle_finished = [fd = plugin_done_.get()] { eventfd_write(fd, kOneCycle); };
    plugin_options.work_finished = [fd = plugin_done_.get()] { eventfd_write(fd, kOneWork); };
    auto plugin = Plugin::load(plugin_options, *log_);
    if (!plugin) return tl::unexpected(plugin.error());
    plugin_ = std::move(*plugin);
    plugin_->set_machine_load(load_meter_.read(read_mom_config(home_->path()).load, server_->now()));
    return {};
}

// The plugin hears of the jobs as they were, and then of those that ended while no server ran, so that it
// closes what it keeps of them.
Result<void> Program::recover() {
    const std::chrono::sys_seconds earliest(
        std::chrono::seconds(earliest_start(server_->state, server_->now())));
    const auto since = std::min(earliest, accounting_->gap_begin());
    // There may be a record of each of a million jobs.
    std::future<void> remembered =
        std::async(std::launch::async, [this, since] { accounting_->remember_since(since); });
    server_->parts.plugin = plugin_.get();
    const auto told = server_->start_plugin();
    remembered.get();
    if (const auto& done = told; !done) {
        // Its database may be of a newer version, or hold what it doesn't understand.
        const bool database = done.error().code == PBSE_SYSTEM;
        return fail(done.error().code, fmt::format("the plugin could not start: {}{}", done.error().message,
                                                   database ? ". " + restore_advice(*home_) : ""));
    }
    if (auto done = reconcile_history(*server_); !done)
        return fail(
            done.error().code,
            fmt::format("the plugin's history can not be brought together with the server's objects: {}",
                        done.error().message));
    // Only now: a change more would hide that the history's last one never came to the server.
    carry_out_pending(*server_);
    set_queue_types(*server_);
    // What the last server may have left to do, and removed no records of ends for: those go now.
    if (auto done = store_->sync(); !done) return done;
    std::vector<RunReport> strays;
    const std::vector<RunReport> reports = runner_->recover(running_starts(server_->state), &strays);
    return recover_jobs(*server_, reports, strays);
}

Result<void> Program::listen() {
    NetworkOptions network_options;
    network_options.socket = home_->socket();
    network_options.bind = options_.bind;
    network_options.port = options_.port;
    const auto methods = ifl::parse_auth_methods(options_.auth_methods);
    if (!methods) return tl::unexpected(methods.error());
    network_options.methods = *methods;
    network_options.munge_socket = options_.munge_socket;
    network_options.tls_certificate = options_.tls_certificate;
    network_options.tls_key = options_.tls_key;
    const auto required = parse_encryption_required(options_.tls_required);
    if (!required) return tl::unexpected(required.error());
    network_options.tls_required = *required;
    network_options.idle_timeout = std::chrono::seconds(options_.idle_timeout);
    // A quarter of the descriptors is for jobs.
    const auto connections = static_cast<std::size_t>((descriptors_ - kFewestDescriptors / 2) / 4 * 3);
    network_options.most_connections = std::min(network_options.most_connections, connections);
    auto network = Network::open(&loop_, *server_, std::move(network_options), [this] {
        schedule_cycles();
        check_stop();
    });
    if (!network) return tl::unexpected(network.error());
    network_ = std::move(*network);
    server_->options.port = network_->port();
    deliveries_ = std::make_unique<Deliveries>(&loop_, *server_);
    running_usage_ = std::make_unique<RunningUsage>(*server_);
    ended_runs_ = std::make_unique<EndedRuns>(&loop_, *server_);
    peers_ = std::make_unique<Peers>(&loop_, *server_, [this] { schedule_cycles(); });
    server_->deliveries = deliveries_.get();
    server_->peers = peers_.get();
    if (auto done = deliveries_->recover(); !done) return done;
    return write_port_file(home_->server_priv() + "/server.port", network_->port());
}

void Program::make_handles() {
    for (uv_signal_t* signal : {&term_, &interrupt_}) {
        uv_signal_init(&loop_, signal);
        signal->data = this;
        uv_signal_start(
            signal,
            [](uv_signal_t* handle, int number) {
                static_cast<Program*>(handle->data)->stop(fmt::format("signal {}", number));
            },
            signal == &term_ ? SIGTERM : SIGINT);
    }
    uv_poll_init(&loop_, &runner_events_, runner_->event_fd());
    runner_events_.data = this;
    uv_poll_start(&runner_events_, UV_READABLE, [](uv_poll_t* handle, int, int) {
        auto& program = *static_cast<Program*>(handle->data);
        guarded(*program.log_, "jobs", [&program] { take_run_events(*program.server_); });
        guarded(*program.log_, "reservations", [&program] { program.look_at_reservations(); });
        program.schedule_cycles();
        program.check_stop();
    });
    uv_poll_init(&loop_, &plugin_events_, plugin_done_.get());
    plugin_events_.data = this;
    uv_poll_start(&plugin_events_, UV_READABLE, [](uv_poll_t* handle, int, int) {
        auto& program = *static_cast<Program*>(handle->data);
        eventfd_t count = 0;
        eventfd_read(program.plugin_done_.get(), &count);
        program.carry_on([&program, count] {
            if (count >= kOneCycle) program.cycles_->cycle_finished();
            if (count % kOneCycle != 0) program.cycles_->work_finished();
        });
    });
    const auto interval =
        static_cast<uint64_t>((clock_.file().empty() ? kTickOfRealClock : kTickOfFollowedClock).count());
    uv_timer_init(&loop_, &tick_);
    tick_.data = this;
    uv_timer_start(
        &tick_,
        [](uv_timer_t* handle) {
            auto& program = *static_cast<Program*>(handle->data);
            guarded(*program.log_, "tick", [&program] { program.tick(); });
        },
        interval, interval);
    for (uv_timer_t* handle : {&cycle_timer_, &decisions_wait_}) {
        uv_timer_init(&loop_, handle);
        handle->data = this;
    }
    for (uv_idle_t* handle : {&more_decisions_, &more_dependents_}) {
        uv_idle_init(&loop_, handle);
        handle->data = this;
    }
    uv_prepare_init(&loop_, &turn_end_);
    turn_end_.data = this;
    turn_began_ = Steady::now();
    processor_before_ = time_on_processor();
    uv_prepare_start(&turn_end_, [](uv_prepare_t* handle) {
        auto& program = *static_cast<Program*>(handle->data);
        guarded(*program.log_, "turn", [&program] {
            program.ended_runs_->look();
            program.note_turn();
        });
    });
}

// How long the loop was kept from looking for events. A turn that was hardly on a processor waited for the
// disk, or for other processes.
void Program::note_turn() {
    const auto now = Steady::now();
    const std::chrono::nanoseconds waited(static_cast<int64_t>(uv_metrics_idle_time(&loop_)));
    const auto took = (now - turn_began_) - (waited - waited_before_);
    if (took > kLongTurn) {
        const auto processor = time_on_processor() - processor_before_;
        const auto ms = [](auto duration) {
            return std::chrono::duration_cast<milliseconds>(duration).count();
        };
        log_->write(
            LogEvent::debug2, LogClass::server, "Server",
            fmt::format("a turn of the loop took {} ms, {} of them on a processor", ms(took), ms(processor)));
    }
    turn_began_ = Steady::now();
    waited_before_ = waited;
    processor_before_ = time_on_processor();
}

void Program::close_handles() {
    for (auto* handle :
         {reinterpret_cast<uv_handle_t*>(&term_), reinterpret_cast<uv_handle_t*>(&interrupt_),
          reinterpret_cast<uv_handle_t*>(&runner_events_), reinterpret_cast<uv_handle_t*>(&plugin_events_),
          reinterpret_cast<uv_handle_t*>(&tick_), reinterpret_cast<uv_handle_t*>(&cycle_timer_),
          reinterpret_cast<uv_handle_t*>(&decisions_wait_), reinterpret_cast<uv_handle_t*>(&more_decisions_),
          reinterpret_cast<uv_handle_t*>(&more_dependents_), reinterpret_cast<uv_handle_t*>(&turn_end_)})
        if (handle->data != nullptr && uv_is_closing(handle) == 0) uv_close(handle, nullptr);
    if (deadline_timer_) deadline_timer_->close();
}

// A policy switches at its instant, not at the tick after it.
Result<void> Program::watch_deadlines() {
    auto timer =
        DeadlineTimer::open(&loop_, [this] { guarded(*log_, "deadline", [this] { look_at_clock(); }); });
    if (!timer) return tl::unexpected(timer.error());
    deadline_timer_ = std::move(*timer);
    set_deadline();
    return {};
}

void Program::look_at_clock() {
    const auto now = clock_.now_us();
    const auto due = RealTime(std::chrono::seconds(deadline_));
    if (now >= due) {
        log_->write(LogEvent::debug2, LogClass::sched, "deadline",
                    fmt::format("reached after {} us", (now - due).count()));
    }
    look_at_reservations();
    cycles_->look_at_clock();
    schedule_cycles();
    // What is still due would be due for ever: the next look is a second later.
    set_deadline(server_->now() + 1);
}

void Program::look_at_reservations() {
    if (auto done = host::look_at_reservations(*server_, server_->now()); !done)
        log_->error("reservations", done.error().message);
}

// Asked anew each time: the clock or the configuration may have changed since.
void Program::set_deadline(int64_t earliest) {
    if (stopped_ || !deadline_timer_) return;
    deadline_ = std::max(
        earliest, std::min(plugin_->next_deadline(server_->now()), next_of_reservations(server_->state)));
    if (deadline_ == std::numeric_limits<int64_t>::max()) return deadline_timer_->set(std::nullopt);
    const auto instant = std::chrono::sys_seconds(std::chrono::seconds(deadline_));
    deadline_timer_->set(instant - clock_.offset());
}

// Events of the same moment make one cycle. What a cycle kept this thread from requests for is as long a
// pause, so that they are answered however many cycles there are; decisions are carried out a slice at a
// time, and in between whoever asks is answered.
void Program::schedule_cycles() {
    if (stopped_) return;
    settle_dependents();
    if (cycles_->has_decisions()) {
        // Once in each turn of the loop, which looks for requests first. A timer that is due at once again
        // would keep the loop from them.
        uv_idle_start(&more_decisions_, [](uv_idle_t* handle) {
            uv_idle_stop(handle);
            static_cast<Program*>(handle->data)->carry_out_some();
        });
        return;
    }
    if (cycle_scheduled_ || cycles_->busy() || server_->placing > 0) return;
    if (!server_->cycles_wanted() && !cycles_->has_more()) return;
    cycle_scheduled_ = true;
    const auto pause = std::min(last_cycle_length_, kLongestCyclePause);
    const auto since = std::chrono::duration_cast<milliseconds>(Steady::now() - last_cycle_end_);
    const auto wait = since >= pause ? milliseconds(0) : pause - since;
    uv_update_time(&loop_);  // what follows may come after a long step
    uv_timer_start(
        &cycle_timer_, [](uv_timer_t* handle) { static_cast<Program*>(handle->data)->run_cycles(); },
        static_cast<uint64_t>(wait.count()), 0);
}

void Program::carry_out_some() {
    if (stopped_) return;
    const auto now = Steady::now();
    if (now >= network_->last_exchange() + kAsksAgain || now >= last_cycle_end_ + kDecisionsWait) {
        uv_timer_stop(&decisions_wait_);
        carry_on([this] { cycles_->go_on(); });
    } else {
        uv_update_time(&loop_);
        uv_timer_start(
            &decisions_wait_,
            [](uv_timer_t* handle) { static_cast<Program*>(handle->data)->carry_out_some(); },
            kAsksAgain.count(), 0);
    }
}

// A part in each turn of the loop. What fails is tried again at the next tick.
void Program::settle_dependents() {
    if (dependents_fail_ || !server_->state.dependencies.work()) return;
    uv_idle_start(&more_dependents_, [](uv_idle_t* handle) {
        uv_idle_stop(handle);
        auto& program = *static_cast<Program*>(handle->data);
        Result<bool> done = fail(PBSE_SYSTEM);
        guarded(*program.log_, "dependencies",
                [&] { done = settle_dependencies(*program.server_, program.server_->now()); });
        program.dependents_fail_ = !done;
        if (!done) program.log_->error("dependencies", done.error().message);
        program.schedule_cycles();
    });
}

void Program::run_cycles() {
    cycle_scheduled_ = false;
    if (stopped_) return;
    carry_on([this] { cycles_->run_wanted(); });
}

void Program::carry_on(const std::function<void()>& step) {
    const auto begin = Steady::now();
    guarded(*log_, "cycle", step);
    last_cycle_end_ = Steady::now();
    last_cycle_length_ = std::chrono::duration_cast<milliseconds>(last_cycle_end_ - begin);
    schedule_cycles();
    set_deadline();
}

void Program::tick() {
    const int64_t now = server_->now();
    service_manager_.alive();
    dependents_fail_ = false;
    take_run_events(*server_);
    look_at_reservations();
    cycles_->look_at_clock();
    if (auto done = wake_waiting(*server_, now); !done) log_->error("jobs", done.error().message);
    route_jobs(*server_, now);
    mailer_->reap();
    server_->reap();
    deliveries_->look();
    peers_->look();
    running_usage_->look();
    if (accounting_->pending() > 0) accounting_->flush();
    if (std::abs(now - last_purge_) >= kSecondsBetweenPurges) {
        last_purge_ = now;
        if (auto done = purge_history(*server_, now); !done) log_->error("history", done.error().message);
        if (auto done = store_->forget_received(now - kRemembersArrivals); !done)
            log_->error("jobs", done.error().message);
    }
    if (std::abs(now - last_load_report_) >= kSecondsBetweenLoadReports) {
        last_load_report_ = now;
        const MachineLoad load = load_meter_.read(read_mom_config(home_->path()).load, now);
        plugin_->set_machine_load(load);
        for (const auto& [name, node] : server_->state.nodes()) plugin_->node_changed(node, server_->state);
        // The load may have kept jobs waiting, or what started since the measurement before.
        const bool was_limited = std::exchange(load_is_limited_, load.max >= 0);
        if ((was_limited || load_is_limited_) && !load.busy) server_->want_cycle(PBS_SCH_SCHEDULE_TERM);
    }
    schedule_cycles();
    set_deadline();
    check_stop();
}

void Program::check_stop() {
    if (server_->closing != Server::Closing::no && server_->state.server_usage().jobs.empty())
        server_->stopping = true;
    if (server_->stopping) stop("a Shutdown request");
}

void Program::stop(std::string_view why) {
    if (stopped_) return;
    stopped_ = true;
    service_manager_.stopping();
    server_->stopping = true;
    log_->write(LogEvent::system, LogClass::server, "Server",
                fmt::format("stopping because of {}; {} jobs go on running", why, runner_->running()));
    network_->close();
    peers_->close();
    deliveries_->close();
    close_handles();
}

Result<void> Program::run() {
    keep_freed_memory();
    const auto descriptors = raise_descriptor_limit();
    if (!descriptors) return tl::unexpected(descriptors.error());
    descriptors_ = *descriptors;
    if (options_.daemon) {
        auto daemon = Daemon::detach();
        if (!daemon) return tl::unexpected(daemon.error());
        daemon_.emplace(std::move(*daemon));
    }
    for (auto step : {&Program::open_home, &Program::open_state, &Program::open_plugin, &Program::recover})
        if (auto done = (this->*step)(); !done) return done;
    cycles_ = std::make_unique<Cycles>(*server_);
    if (const int code = uv_loop_init(&loop_); code != 0) {
        plugin_->stop(server_->now());
        return fail(PBSE_SYSTEM, fmt::format("the event loop can not be made: {}", uv_strerror(code)));
    }
    uv_loop_configure(&loop_, UV_METRICS_IDLE_TIME);
    if (auto done = listen(); !done) {
        plugin_->stop(server_->now());
        uv_loop_close(&loop_);
        return done;
    }
    make_handles();
    if (auto done = watch_deadlines(); !done) log_->error("clock", done.error().message);
    log_->write(
        LogEvent::system, LogClass::server, "Server",
        fmt::format("{} {} ready, pid {}, port {}, plugin {} {}", server_->state.server_name,
                    server_version(), getpid(), network_->port(), plugin_->name(), plugin_->version()));
    if (daemon_) daemon_->ready();
    service_manager_.ready();
    go_first();
    server_->want_cycle(PBS_SCH_SCHEDULE_FIRST);
    schedule_cycles();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
    plugin_->stop(server_->now());
    accounting_->flush();
    log_->write(LogEvent::system, LogClass::server, "Server", "stopped");
    return {};
}

}  // namespace

Result<void> run_server(const ProgramOptions& options) {
    Program program(options);
    return program.run();
}

Result<void> run_backup(const ProgramOptions& options, const std::string& directory) {
    if (const auto enough = raise_descriptor_limit(); !enough) return tl::unexpected(enough.error());
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto manifest = back_up(options.home, directory, now);
    if (!manifest) return tl::unexpected(manifest.error());
    fmt::print("{}: backup of {}, policy objects of revision {}\n", directory, manifest->home,
               manifest->revision);
    return {};
}

Result<void> run_restore(const ProgramOptions& options, const std::string& directory) {
    if (const auto enough = raise_descriptor_limit(); !enough) return tl::unexpected(enough.error());
    auto home = Home::open(options.home);
    if (!home) return tl::unexpected(home.error());
    if (auto done = home->lock(); !done) return done;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto replaced =
        restore(*home, directory, now, [](const std::string& step) { fmt::print("{}\n", step); });
    if (!replaced) return tl::unexpected(replaced.error());
    fmt::print("{} is restored from {}{}\n", home->path(), directory,
               replaced->empty() ? "" : "; what was there is in " + *replaced);
    return {};
}

Result<void> run_accept_loss(const ProgramOptions& options) {
    auto home = Home::open(options.home);
    if (!home) return tl::unexpected(home.error());
    if (auto done = home->lock(); !done) return done;
    if (auto done = finish_restore(*home); !done) return tl::unexpected(done.error());
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto accepted = accept_loss(*home, now);
    if (!accepted) return tl::unexpected(accepted.error());
    Clock clock{std::chrono::seconds(0)};
    Log log(home->server_logs(), "Server@" + host_name(), clock);
    for (const std::string& text : accepted->texts) {
        fmt::print("{}\n", text);
        log.write(LogEvent::system, LogClass::server, "Server", "accepted as lost: " + text);
    }
    if (accepted->texts.empty()) {
        fmt::print("{} has lost nothing that was acknowledged; nothing was done\n", home->path());
    } else {
        fmt::print("The next start goes on without it. What was there is copied to {}\n", accepted->folder);
    }
    return {};
}

}  // namespace pbs::host
