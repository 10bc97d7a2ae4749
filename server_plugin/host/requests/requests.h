// The requests that the server answers. Each handler is in a file of its own; requests.cc lists them.
//
// The folder requests/: answer() finds the row of a request, checks the requester (access.h), and calls the
// handler with a Context, which has the server, the requester and the time. A handler checks the request,
// makes a Change, and returns the reply. A handler that takes long goes on in steps (in_slices.h). common.h
// has what several handlers need.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// A job that is being submitted: between QueueJob and Commit on one connection.
struct Submission {
    Job job;
    std::string script;
    // The second and the setup in which fit_to_queue() found that the queue takes the job. A Commit in the
    // same second and setup needn't check it again.
    struct Fitted {
        int64_t at;
        uint64_t setup;  // State::setup()
    };
    std::optional<Fitted> fitted;
    // For a job that another server hands in: the number of this hand-in (Server::arriving), and the number
    // of servers that had the job before.
    uint64_t arrival = 0;
    int64_t hops = 0;
};

// The server's memory of a connection between its requests.
struct Session {
    std::optional<Submission> submission;
    std::string address;  // numeric address of a client over TCP
    std::string from;     // for the log: "uid 1000 on the Unix socket"
    // By scheduler: its registrations, which end with the connection.
    std::map<std::string, Registrations::Held> registered{};
};

struct Context;

// The rest of the work on a request after its handler has returned. It is done in steps, so that other
// clients have turns in between, and memory holds no more of a long reply than its reader takes. The server's
// objects may change between two steps.
class Steps {
  public:
    enum class Left {
        nothing,
        more,
        later  // it has to wait for something else: call again in some milliseconds
    };
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;

    // Does a step, of a few milliseconds at most. Objects that it adds to `out` are parts of a status reply.
    // `context` is the request's.
    virtual Left step(Context& context, ifl::StatusParts& out) = 0;
    // Returns the reply, if no step has added anything to `out`. Called once, when nothing is left.
    virtual ifl::Reply reply();
    // After Left::later: is it useless to call step()? Cheap. While this is true, the connection is watched
    // for its end.
    virtual bool waits() const { return false; }
    // The memory in bytes that these steps use until their end.
    virtual std::size_t size() const { return 0; }
};

// Steps that lead to one reply.
class Answered : public Steps {
  public:
    ifl::Reply reply() override { return std::move(reply_); }

  protected:
    // Sets the reply and ends the steps.
    Left end(ifl::Reply reply) {
        reply_ = std::move(reply);
        return Left::nothing;
    }

    ifl::Reply reply_ = ifl::Reply::ok();
};

struct Context {
    Server& server;
    const Identity& who;
    int64_t now;
    const ifl::Request& request;
    Session& session;
    // The action for after the plugin's commit. Set by a handler whose change the plugin still has to commit.
    std::function<void()> when_committed{};
    // The steps that are left. Set by a handler, whose returned value is then no reply.
    std::unique_ptr<Steps> rest{};
    // The number of a request that can wait for a thread of the plugin (Plugin::manager); 0: the request
    // can't wait.
    uint64_t ticket = 0;

    const State& state() const { return server.state; }
};

using Handler = ifl::Reply (*)(Context& context);

struct RequestHandler {
    ifl::RequestType type;
    Handler handle;
};

// All handlers, in the order of the numbers of their requests.
std::span<const RequestHandler> request_handlers();

// Finds the handler and calls it. PBSE_UNKREQ: there is no such request; PBSE_NOSUP: PBS has the request, but
// this server doesn't. A requester who may not use the server at all (may_use, access.h) is refused before.
// Refusals because of missing rights are logged. Never throws.
//
// If Context::rest is set afterwards, the caller has to make the reply, by go_on() until nothing is left. If
// Plugin::uncommitted() is true afterwards, the caller has to call the plugin's commit(), and use the reply
// and Context::when_committed only when that has succeeded.
ifl::Reply begin_answer(Context& context);
// Does the next step of Context::rest. After Left::nothing, `reply` is set if no step has added anything to
// `out`; `shown` says whether earlier steps have. An exception becomes an error reply.
Steps::Left go_on(Context& context, ifl::StatusParts& out, bool shown, std::optional<ifl::Reply>& reply);
// Begins the answer, does all its steps, and commits.
ifl::Reply answer(Context& context);

// Is the request a part of a submission that can share its commit with others (CommitGroup)?
bool may_share_commit(const ifl::Request& request, const Session& session);

// The handlers.
ifl::Reply queue_job(Context& context);
ifl::Reply receive_job(Context& context);  // a queue_job with a job id
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
ifl::Reply submit_reservation(Context& context);
ifl::Reply confirm_reservation(Context& context);
ifl::Reply status_reservation(Context& context);
ifl::Reply delete_reservation(Context& context);
ifl::Reply modify_reservation(Context& context);
ifl::Reply status_nothing(Context& context);

}  // namespace pbs::host
