// Starts the server: opens its parts in the order in which they need each other.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/change/queue_types.h"
#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/main/process.h"
#include "server_plugin/host/main/program_impl.h"
#include "server_plugin/host/requests/carry_out.h"
#include "server_plugin/host/store/backup.h"
#include "server_plugin/host/store/database_check.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

std::string surroundings(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets variables
    return value == nullptr ? "" : value;
}

// Removes the scripts that an earlier version has left. The runner had its own copies of them.
void remove_left_scripts(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::directory_iterator entry(folder, ignored);
    for (; entry != std::filesystem::directory_iterator(); entry.increment(ignored))
        if (entry->path().extension() == ".SC") std::filesystem::remove(entry->path(), ignored);
}

// Writes the port to a new file and then renames that file to `path`, so that a reader never sees half of it.
Result<void> write_port_file(const std::string& path, uint16_t port) {
    const std::string next = path + ".new";
    const Fd file(open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file || !write_all(file.get(), fmt::format("{}\n", port)) || fchmod(file.get(), 0644) != 0 ||
        rename(next.c_str(), path.c_str()) != 0)
        return fail(PBSE_SYSTEM, fmt::format("{}: {}", path, system_text(errno)));
    return {};
}

}  // namespace

Program::Program(const ProgramOptions& options)
    : options_(options), service_manager_(surroundings), clock_(std::chrono::seconds(options.clock_offset)) {}

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
        // If the data can't be loaded, the reason may be damage of the database: report that instead.
        const auto ok = whole();
        return ok ? done : ok;
    }
    log_->set_events(static_cast<unsigned>(state.server.integer("log_events", 511)));
    for (const Resource* resource : state.resources.all())
        if (const std::string note = note_for_policies(*resource); !note.empty())
            log_->write(LogEvent::system, LogClass::server, "resources", note);
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
    remove_left_scripts(home_->server_jobs());

    ServerOptions server_options;
    server_options.home = home_->path();
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
    client::Options plugin_options;
    auto path = options_.plugin.empty() ? default_plugin() : Result<std::string>(options_.plugin);
    if (!path) return tl::unexpected(path.error());
    plugin_options.path = *path;
    plugin_options.home = home_->path();
    plugin_options.weighs = runner_->weighs();
    plugin_options.server_name = server_->state.server_name;
    plugin_options.now = server_->now();
    // The numbers of changes must ascend. Use real time, because tests may move the server's clock back.
    plugin_options.first_change = (clock_.now_us() - clock_.offset()).time_since_epoch().count();
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

// Reports the jobs to the plugin as they are stored, and then the ends of the jobs that ended while no server
// ran. So the plugin completes its data about these jobs.
Result<void> Program::recover() {
    const std::chrono::sys_seconds earliest(
        std::chrono::seconds(earliest_start(server_->state, server_->now())));
    const auto since = std::min(earliest, accounting_->gap_begin());
    // Read the accounting records in a thread, because there may be a record for each of a million jobs.
    std::future<void> remembered =
        std::async(std::launch::async, [this, since] { accounting_->remember_since(since); });
    server_->parts.plugin = plugin_.get();
    const auto told = server_->start_plugin();
    remembered.get();
    if (const auto& done = told; !done) {
        // The disk or the plugin's database has failed; the database may be of a newer version or have
        // contents that the plugin doesn't understand. So say how to restore a backup.
        const bool database = done.error().code == PBSE_SYSTEM;
        return fail(done.error().code, fmt::format("the plugin could not start: {}{}", done.error().message,
                                                   database ? ". " + restore_advice(*home_) : ""));
    }
    if (auto done = reconcile_history(*server_); !done)
        return fail(
            done.error().code,
            fmt::format("the plugin's history can not be brought together with the server's objects: {}",
                        done.error().message));
    // Carry out pending changes only after reconcile_history(): a further change would hide that the server
    // lacks the history's last change.
    carry_out_pending(*server_);
    set_queue_types(*server_);
    // Write to the disk the changes that the last server committed, if they aren't there yet, because the
    // runner's records of the same ends are removed below.
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
    // Use at most about three quarters of the descriptors for connections; the others are for jobs.
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

}  // namespace pbs::host
