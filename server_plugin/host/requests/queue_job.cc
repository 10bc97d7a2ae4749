// QueueJob: takes the attributes of a new job. The job gets its id here, and enters a queue at Commit. A job
// that already has an id comes from another server (receive_job.cc). JobScript: takes a piece of the script
// of the job that this connection submits.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/job_attributes.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/executable.h"
#include "text/variable_list.h"

namespace pbs::host {
namespace {

std::string output_path(const Job& job, std::string_view host, char stream) {
    std::string directory = environment_value(job, "PBS_O_WORKDIR");
    if (directory.empty()) directory = environment_value(job, "PBS_O_HOME");
    std::string_view name = job.attributes.text("Job_Name");
    if (name == "STDIN" || name.empty()) name = "STDIN";
    return fmt::format("{}:{}/{}.{}{}{}", host, directory, name, stream, number_in_id(job.sequence),
                       job.is_array() ? ".^array_index^" : "");
}

// Completes an output path. If the path is empty or ends with ':', which means a host alone, adds the default
// path.
void complete_path(Job& job, std::string_view attribute, std::string_view host, char stream) {
    const std::string given(job.attributes.text(attribute));
    if (given.empty()) {
        set_attribute(job, attribute, output_path(job, host, stream));
    } else if (given.ends_with(':')) {
        set_attribute(job, attribute,
                      output_path(job, std::string_view(given).substr(0, given.size() - 1), stream));
    }
}

void add_variable(Job& job, std::string_view name, std::string_view value) {
    static const AttributeDef& def = *job_table().find("Variable_List");
    std::string list(job.attributes.text("Variable_List"));
    text::append_variable(list, name, value);
    job.attributes.set(def, {}, list);
}

// Checks a job for whose start or end a qsub waits. The server connects to that qsub, so qsub has to be on
// this machine. An interactive job isn't rerunnable, because the user's work at its terminal can't be
// repeated.
Result<void> check_waiting_client(const Context& context, Job& job) {
    for (const char* name : {"interactive", "block"})
        if (job.attributes.has(name) && !same_name(context.who.host, context.state().host_name))
            return fail(PBSE_NOSUP,
                        fmt::format("No support for requested service: {} jobs of another machine", name));
    if (job.attributes.has("interactive")) set_attribute(job, "Rerunable", "False");
    return {};
}

// Sets the attributes that every new job has, beside those that the client has set.
void complete(Context& context, Job& job, const Queue& queue) {
    set_attribute(job, "Job_Owner", requestor(context));
    set_if_missing(job, "Job_Name", "none");
    set_if_missing(job, "Priority", "0");
    set_if_missing(job, "Rerunable", "True");
    set_if_missing(job, "Join_Path", "n");
    set_if_missing(job, "Keep_Files", "n");
    set_if_missing(job, "Mail_Points", "a");
    set_if_missing(job, "Hold_Types", "n");
    set_if_missing(job, "project", "_pbs_project_default");
    set_attribute(job, "Submit_Host", context.who.host);
    set_attribute(job, "hop_count", "1");
    job.ctime = context.now;
    job.mtime = context.now;
    add_variable(job, "PBS_O_QUEUE", queue.name);
    if (environment_value(job, "PBS_O_HOST").empty()) add_variable(job, "PBS_O_HOST", context.who.host);
    const std::string host = environment_value(job, "PBS_O_HOST");
    complete_path(job, "Output_Path", host, 'o');
    complete_path(job, "Error_Path", host, 'e');
}

}  // namespace

ifl::Reply queue_job(Context& context) {
    const auto& body = std::get<ifl::QueueJob>(context.request.body);
    Server& server = context.server;
    context.session.submission.reset();
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    if (!body.job.empty()) return receive_job(context);
    Error error;
    const Queue* queue = queue_to_enter(context, body.destination, error);
    if (queue == nullptr) return refuse(error);

    Submission submission;
    Job& job = submission.job;
    job.attributes.reserve(body.attributes.size() + 32);  // leaves memory for further attributes
    const uint32_t rights = write_rights(context.who) | at_creation;
    for (size_t i = 0; i < body.attributes.size(); ++i)
        if (auto set = set_job_attribute(job, body.attributes[i], rights, context.state()); !set)
            return refuse_attribute(set.error(), body.attributes[i], i);
    if (auto ok = check_waiting_client(context, job); !ok) return refuse(ok.error());
    job.sequence = next_sequence(server);
    job.id = context.state().job_id(job.sequence);
    if (auto ok = make_array(job, context.state()); !ok) return refuse(ok.error());
    if (auto ok = check_array_request(job); !ok) return refuse(ok.error());
    complete(context, job, *queue);
    // Check here already whether the queue takes the job, so that the client learns of a refusal before it
    // sends the script. Commit repeats the checks that depend on other jobs. It repeats the others if the
    // current second or the setup has changed.
    if (auto ok = fit_to_queue(job, *queue, server); !ok) return refuse(ok.error());
    CountedJobs counted(server.state);
    if (auto ok = may_enter(job, *queue, counted, Entry::submitted); !ok) return refuse(ok.error());
    submission.fitted = {server.now(), server.state.setup()};
    server.state.next_sequence = static_cast<int64_t>(number_in_id(job.sequence)) + 1;
    job.queue = queue->handle;
    job.queue_name = SharedText(queue->name);
    const std::string id = job.id;
    const bool at_once = context.request.extend.starts_with(":C:");
    context.session.submission = std::move(submission);
    if (at_once) return commit_job(context);
    ifl::Reply reply;
    reply.body = ifl::QueueReply{id};
    return reply;
}

namespace {
constexpr int64_t kDefaultLargestScript = int64_t{100} << 20;
constexpr uint32_t kScriptFile = 0;
}  // namespace

ifl::Reply job_script(Context& context) {
    const auto& body = std::get<ifl::JobScript>(context.request.body);
    auto& submission = context.session.submission;
    if (!submission || body.file != kScriptFile ||
        (!body.job.empty() && submission->arrival == 0 && context.state().job(body.job) != nullptr))
        return ifl::Reply::error(PBSE_IVALREQ);
    const int64_t largest = context.state().server.integer("jobscript_max_size", kDefaultLargestScript);
    if (static_cast<int64_t>(submission->script.size() + body.data.size()) > largest) {
        submission.reset();
        return ifl::Reply::error(PBSE_JOBSCRIPTMAXSIZE);
    }
    submission->script += body.data;
    return ifl::Reply::ok();
}

}  // namespace pbs::host
