// The requests that the server answers: one handler a file, all of them in the list in requests.cc.
#ifndef PBSPOLICY_HOST_REQUESTS_H
#define PBSPOLICY_HOST_REQUESTS_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/identity.h"
#include "server_plugin/host/server.h"

namespace pbs::host {

// A job on its way in: between QueueJob and Commit on one connection.
struct Submission {
    Job job;
    std::string script;
};

// What the server remembers of a connection between its requests.
struct Session {
    std::optional<Submission> submission;
    std::string from;  // where the connection comes from, for the log: "uid 1000 on the Unix socket"
};

struct Context {
    Server& server;
    const Identity& who;
    int64_t now;
    const ifl::Request& request;
    Session& session;
    // Set by a handler whose change the plugin has yet to commit: what is to be done once it has.
    std::function<void()> when_committed{};

    const State& state() const { return server.state; }
};

using Handler = ifl::Reply (*)(Context& context);

struct RequestHandler {
    ifl::RequestType type;
    Handler handle;
};

// All handlers, in the order of the request's numbers.
std::span<const RequestHandler> request_handlers();

// Finds the handler and calls it. A type without one is PBSE_UNKREQ; some that PBS knows and this server
// doesn't do are PBSE_NOSUP. One who may not use
// the server at all (may_use, access.h) is refused before. What is refused for want of rights is logged.
// Nothing is thrown.
ifl::Reply answer(Context& context);
// The same, but for requests that change the plugin's own objects leaves the plugin's commit to the caller:
// if Plugin::uncommitted() holds then, the reply and Context::when_committed are for when it has succeeded.
ifl::Reply answer_uncommitted(Context& context);

// The handlers.
ifl::Reply queue_job(Context& context);
ifl::Reply job_script(Context& context);
ifl::Reply ready_to_commit(Context& context);
ifl::Reply commit_job(Context& context);
ifl::Reply delete_job(Context& context);
ifl::Reply delete_job_list(Context& context);
ifl::Reply hold_job(Context& context);
ifl::Reply locate_job(Context& context);
ifl::Reply manager(Context& context);
ifl::Reply message_job(Context& context);
ifl::Reply modify_job(Context& context);
ifl::Reply move_job(Context& context);
ifl::Reply order_job(Context& context);
ifl::Reply release_job(Context& context);
ifl::Reply rerun_job(Context& context);
ifl::Reply run_job(Context& context);
ifl::Reply select_jobs(Context& context);
ifl::Reply shutdown(Context& context);
ifl::Reply signal_job(Context& context);
ifl::Reply status_job(Context& context);
ifl::Reply status_queue(Context& context);
ifl::Reply status_server(Context& context);
ifl::Reply status_node(Context& context);
ifl::Reply status_scheduler(Context& context);
ifl::Reply status_resource(Context& context);
ifl::Reply status_nothing(Context& context);

}  // namespace pbs::host

#endif
