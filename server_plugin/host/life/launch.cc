#include "server_plugin/host/life/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/identity.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/variable_list.h"
#include "values/number.h"

namespace pbs::host {
namespace {

// Returns the job's limit of a memory resource in kB, rounded up; nullopt: no limit.
std::optional<int64_t> memory_limit(const Job& job, std::string_view resource) {
    const AttributeValue* value = job.attributes.find("Resource_List", resource);
    if (value == nullptr) return std::nullopt;
    const int64_t bytes = amount_of(Type::size, value->value());
    return bytes / 1024 + (bytes % 1024 != 0 ? 1 : 0);
}

struct Processes {
    std::vector<std::string> hosts;  // the host of each process
    int64_t threads = 1;             // threads of each process of the first chunk
};

// Computes the processes of a job from its chunks, which its places follow in order. PBSE_BADATVAL for too
// many processes: an earlier server may have accepted any number, and qrun -H may give a job more places than
// chunks.
Result<Processes> processes_of(const Job& job, const State& state) {
    Processes processes;
    const std::vector<Chunk> chunks = chunks_of(job, state);
    size_t kind = 0;
    int64_t of_kind = 0;
    for (const Place& place : job.places) {
        if (place.joined) continue;
        const Chunk* chunk = kind < chunks.size() ? &chunks[kind] : nullptr;
        if (kind == 0 && of_kind == 0 && chunk != nullptr) processes.threads = chunk->threads();
        const int64_t count = chunk == nullptr ? 1 : chunk->processes();
        if (count > kMostProcesses - static_cast<int64_t>(processes.hosts.size()))
            return fail(PBSE_BADATVAL, fmt::format("its chunks have more than {} processes (mpiprocs) in all",
                                                   kMostProcesses));
        processes.hosts.insert(processes.hosts.end(), static_cast<size_t>(count), host_of(place, state));
        if (chunk != nullptr && ++of_kind == chunk->count) {
            ++kind;
            of_kind = 0;
        }
    }
    return processes;
}

// Reads the job's umask, whose stored text is octal; nullopt: it has none.
std::optional<unsigned> umask_of(const Job& job) {
    const std::string_view text = job.attributes.text("umask");
    if (text.empty()) return std::nullopt;
    return values::number<unsigned>(text, 8).value_or(0) & 0777U;
}

// Passes a job to the runner, to start it. Returns an exception as an error, so that it affects only this
// job.
Result<void> start(Server& server, const Job& job) {
    try {
        auto script = server.parts.store.script(job.is_subjob() ? job.array : job.sequence);
        if (!script) return tl::unexpected(script.error());
        auto what = job_start(job, server, std::move(*script));
        return what ? server.parts.executor.start(std::move(*what)) : tl::unexpected(what.error());
    } catch (const std::exception& error) {
        return fail(PBSE_SYSTEM, error.what());
    }
}

void start_failed(Server& server, const Job& job, const Error& error) {
    server.parts.log.error(job.id, fmt::format("can not start the job: {}", error.message));
    Change change(server, server.now());
    Job& back = change.job(job);
    RunReport report;
    report.id = run_id(job);
    report.state = RunState::never_started;
    if (error.code == PBSE_TRYAGAIN) {
        report.exit.message = error.message;
        end_job(change, back, report);
    } else {
        set_attribute(back, "Hold_Types", "s");
        end_job(change, back, report);
        set_comment(back, fmt::format("job held, it could not be started: {}", error.message));
    }
    if (auto done = change.commit(); !done) {
        // The job still holds its vnodes but has no process. Keep this report, so that the next tick of the
        // loop stores it like any other end.
        server.parts.log.error(job.id, done.error().message);
        server.unstored_reports.push_back(std::move(report));
    }
}

}  // namespace

std::optional<std::chrono::seconds> time_limit(const Job& job, std::string_view resource) {
    const AttributeValue* value = job.attributes.find("Resource_List", resource);
    if (value == nullptr) return std::nullopt;
    return std::chrono::seconds(amount_of(Type::duration, value->value()));
}

Result<JobStart> job_start(const Job& job, Server& server, std::string script) {
    const Attributes& a = job.attributes;
    int error = 0;
    const auto user = server.recent_users.find(std::string(a.text("euser")), server.now(), error);
    if (error != 0) return fail(PBSE_TRYAGAIN, not_looked_up("user", a.text("euser"), error));
    if (!user) return fail(PBSE_BADUSER, fmt::format("there is no user {} here any more", a.text("euser")));
    JobStart start;
    start.id = run_id(job);
    start.name = a.text("Job_Name");
    start.queue = job.queue_name.text();
    start.account = a.text("Account_Name");
    start.user = user->name;
    start.uid = user->uid;
    const std::string group(a.text("egroup"));
    start.gid = group == user->group ? user->gid : find_group(group, &error).value_or(user->gid);
    if (error != 0) return fail(PBSE_TRYAGAIN, not_looked_up("group", group, error));
    start.script = std::move(script);
    start.shell = entry_for_host(a.list("Shell_Path_List"), server.state.host_name);
    start.output_path = a.text("Output_Path");
    start.error_path = a.text("Error_Path");
    if (a.has("Join_Path")) start.join = a.text("Join_Path");
    if (a.has("Keep_Files")) start.keep = a.text("Keep_Files");
    start.variables = text::parse_variables(a.text("Variable_List"));
    if (job.is_subjob()) {
        // Append the array's variables, because the later value of a variable counts.
        start.variables.emplace_back("PBS_ARRAY_INDEX", std::to_string(job.index));
        start.variables.emplace_back("PBS_ARRAY_ID", a.text("array_id"));
    }
    auto processes = processes_of(job, server.state);
    if (!processes) return tl::unexpected(processes.error());
    start.hosts = std::move(processes->hosts);
    start.threads = processes->threads;
    start.umask = umask_of(job);
    start.stage_in = a.list("stagein");
    start.stage_out = a.list("stageout");
    start.remove = a.text("Remove_Files");
    start.private_sandbox = values::same_word(a.text("sandbox"), "PRIVATE");
    start.interactive = static_cast<std::uint16_t>(a.integer("interactive", 0));
    start.walltime = time_limit(job, "walltime");
    start.cput = time_limit(job, "cput");
    const MomConfig site = read_mom_config(server.options.home);
    start.plain_shell = !site.login_shell;
    if (site.enforce_mem) start.mem_kb = memory_limit(job, "mem");
    if (site.enforce_vmem) start.vmem_kb = memory_limit(job, "vmem");
    if (const Queue* queue = server.state.queue(job.queue))
        start.kill_delay = std::chrono::seconds(queue->attributes.integer("kill_delay", 10));
    return start;
}

void set_limits(Server& server, const Job& job) {
    const auto set =
        server.parts.executor.set_limits(run_id(job), time_limit(job, "walltime"), time_limit(job, "cput"));
    if (!set)
        server.parts.log.job(job.id, fmt::format("its limits could not be changed: {}", set.error().message));
}

void launch(Server& server, uint64_t handle) {
    const Job* job = server.state.job(handle);
    if (job == nullptr || job->state != job_state::kRunning || is_awaiting(*job)) return;
    if (auto started = start(server, *job); !started) {
        start_failed(server, *job, started.error());
        return;
    }
    server.parts.accounting.started(accounted(*job, server.state));
    server.parts.log.job(job->id, fmt::format("Job Run on exec_vnode {}", job->exec_vnode.text()));
    mail_job(server, *job, 'b', "Begun execution");
}

}  // namespace pbs::host
