#include "server_plugin/host/main/program_impl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/base/version.h"
#include "server_plugin/host/life/block_answer.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/main/process.h"
#include "server_plugin/host/peers/arrival.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTickOfRealClock{1000};
// The tick while the clock follows a file (Clock::follow).
constexpr milliseconds kTickOfFollowedClock{100};
constexpr milliseconds kLongestCyclePause{2000};
// After a reply to a client, the decisions of a cycle wait for kAsksAgain, because the client's next request
// may come at once. They wait for at most kDecisionsWait since the last slice of decisions.
constexpr milliseconds kAsksAgain{1};
constexpr milliseconds kDecisionsWait{4};
// A turn of the loop that takes longer than this is logged, because clients wait for it.
constexpr milliseconds kLongTurn{50};
constexpr int64_t kSecondsBetweenLoadReports = 30;
constexpr int64_t kSecondsBetweenPurges = 60;

}  // namespace

// Makes libuv start the threads that do its work beside the loop. Otherwise libuv would start them at their
// first use, and end the process if the system couldn't make them.
Result<void> Program::make_threads() {
    constexpr std::size_t kThreads = 4;  // libuv's own number
    try {
        std::vector<std::jthread> trial;
        for (std::size_t i = 0; i < kThreads; ++i) trial.emplace_back([] {});
    } catch (const std::system_error& error) {
        return fail(PBSE_SYSTEM, fmt::format("can not make {} threads: {}", kThreads, error.what()));
    }
    uv_queue_work(
        &loop_, &first_work_, [](uv_work_t*) {}, nullptr);
    return {};
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

// Logs a turn of the loop that took long, with the processor time that it used: if that is short, the turn
// has waited for the disk or for other processes.
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

// Sets a timer for deadlines, so that a policy switches at its instant and not at the next tick of the loop.
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
    // A deadline that stays due would wake the loop again at once. So wait at least a second.
    set_deadline(server_->now() + 1);
}

void Program::look_at_reservations() {
    if (auto done = host::look_at_reservations(*server_, server_->now()); !done)
        log_->error("reservations", done.error().message);
}

// Computes the next deadline, not before `earliest`, and sets its timer. Call it again after any change,
// because the clock or the configuration may have changed.
void Program::set_deadline(int64_t earliest) {
    if (stopped_ || !deadline_timer_) return;
    deadline_ = std::max(
        earliest, std::min(plugin_->next_deadline(server_->now()), next_of_reservations(server_->state)));
    if (deadline_ == std::numeric_limits<int64_t>::max()) return deadline_timer_->set(std::nullopt);
    const auto instant = std::chrono::sys_seconds(std::chrono::seconds(deadline_));
    deadline_timer_->set(instant - clock_.offset());
}

// Schedules the next cycle by a timer, so that events of the same moment lead to one cycle. The cycle begins
// only when the loop has answered requests for as long as the last cycle has kept it from them. Thus requests
// are answered even if there are very many cycles. If decisions of a cycle are left, carries these out in
// slices instead, with requests in between.
void Program::schedule_cycles() {
    if (stopped_) return;
    settle_dependents();
    if (cycles_->has_decisions()) {
        // Carry out one slice in each turn of the loop, after its requests, by an idle handle. A timer that
        // is always due would keep the loop from requests.
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
    uv_update_time(&loop_);  // the loop's time may be old after a long step
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

// If dependencies of jobs have to be settled, or a qsub be told of its job's end, does some of this in the
// next turn of the loop. After a failure the next tick of the loop tries again.
void Program::settle_dependents() {
    const bool settles = !dependents_fail_ && server_->state.dependencies.work().has_value();
    if (!settles && server_->untold_reasons.empty()) return;
    uv_idle_start(&more_dependents_, [](uv_idle_t* handle) {
        uv_idle_stop(handle);
        auto& program = *static_cast<Program*>(handle->data);
        guarded(*program.log_, "reasons", [&program] { tell_untold_reasons(*program.server_); });
        if (!program.dependents_fail_) {
            Result<bool> done = fail(PBSE_SYSTEM);
            guarded(*program.log_, "dependencies",
                    [&] { done = settle_dependencies(*program.server_, program.server_->now()); });
            program.dependents_fail_ = !done;
            if (!done) program.log_->error("dependencies", done.error().message);
        }
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
    const bool purge_begins = std::abs(now - last_purge_) >= kSecondsBetweenPurges;
    if (purge_begins || purge_goes_on_) {
        const auto more = purge_history(*server_, now);
        if (!more) log_->error("history", more.error().message);
        purge_goes_on_ = more.value_or(false);
    }
    if (purge_begins) {
        last_purge_ = now;
        if (auto done = store_->forget_received(now - kRemembersArrivals); !done)
            log_->error("jobs", done.error().message);
    }
    if (std::abs(now - last_load_report_) >= kSecondsBetweenLoadReports) {
        last_load_report_ = now;
        const MachineLoad load = load_meter_.read(read_mom_config(home_->path()).load, now);
        plugin_->set_machine_load(load);
        for (const auto& [name, node] : server_->state.nodes()) plugin_->node_changed(node, server_->state);
        // Ask for a cycle. A high load may have kept jobs from starting until now; or the load was only
        // estimated to be high because of jobs started since the last measurement.
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
    // The server stops even if there is no memory for this line.
    guarded(*log_, "stop", [&] {
        log_->write(LogEvent::system, LogClass::server, "Server",
                    fmt::format("stopping because of {}; {} jobs go on running", why, runner_->running()));
    });
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
    auto ready = make_threads();
    if (ready) ready = listen();
    if (!ready) {
        plugin_->stop(server_->now());
        uv_loop_close(&loop_);
        return ready;
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

Result<void> run_server(const ProgramOptions& options) {
    Program program(options);
    return program.run();
}

}  // namespace pbs::host
