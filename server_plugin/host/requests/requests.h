// The requests that the server answers: one handler a file, all of them in the list in requests.cc.
//
// The room requests/: answer() finds the row of a request, checks the requester (access.h), and calls its
// handler with a Context, which has the server, the requester, and the time. A handler checks, makes a
// Change, and returns the reply; one that takes long goes on in steps (in_slices.h). common.h has what
// several of them need.
#pragma once

#include <cstdint>
#include <functional>
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

// A job on its way in: between QueueJob and Commit on one connection.
struct Submission {
    Job job;
    std::string script;
    // Says that the job is as its queue wanted it (fit_to_queue) at that second and with that setup
    // (State::setup).
    struct Fitted {
        int64_t at;
        uint64_t setup;
    };
    std::optional<Fitted> fitted;
    // For a job that another server hands in: the number of this hand-in (Server::arriving), and how many
    // servers had the job before.
    uint64_t arrival = 0;
    int64_t hops = 0;
};

// The server's memory of a connection between its requests.
struct Session {
    std::optional<Submission> submission;
    std::string address;  // where a connection over TCP comes from, numeric
    std::string from;     // where the connection comes from, for the log: "uid 1000 on the Unix socket"
};

struct Context;

// The rest of a request after its handler has returned, done in steps: so that others have their turns in
// between, and that no more of a long reply is in memory than its reader takes. The server's objects may
// change between two steps.
class Steps {
  public:
    enum class Left {
        nothing,
        more,
        later  // something else has to happen first: try again in some milliseconds
    };
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;

    // Does a step, of a few milliseconds at most. Objects that it puts into `out` are parts of a status
    // reply. The context is the request's.
    virtual Left step(Context& context, ifl::StatusParts& out) = 0;
    // The reply, if no step has put anything into `out`; called once, when nothing is left.
    virtual ifl::Reply reply();
    // Bytes that it keeps in memory until its end.
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
    // A handler whose change the plugin has yet to commit sets it: the action for after that.
    std::function<void()> when_committed{};
    // A handler that leaves a rest for steps sets it; the value that it returned is then no reply.
    std::unique_ptr<Steps> rest{};
    // The number of a request that can wait for the plugin's work in a thread (Plugin::manager); 0: it can't.
    uint64_t ticket = 0;

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
//
// If Context::rest is set afterwards, the reply is yet to be made, by the caller: with go_on() until nothing
// is left. If Plugin::uncommitted() holds afterwards, the plugin's commit is the caller's too, and the reply
// and Context::when_committed are for when it has succeeded.
ifl::Reply begin_answer(Context& context);
// The next step of Context::rest. With Left::nothing, `reply` is set if that is the reply: nothing has been
// put into `out` by any of the steps (`shown` says so of those before). An exception is an error's reply.
Steps::Left go_on(Context& context, ifl::StatusParts& out, bool shown, std::optional<ifl::Reply>& reply);
// Begins, does all that is left, and commits.
ifl::Reply answer(Context& context);

// Is it a part of a submission that can share its commit with others (CommitGroup)?
bool may_share_commit(const ifl::Request& request, const Session& session);

// The handlers.
ifl::Reply queue_job(Context& context);
ifl::Reply receive_job(Context& context);  // a queue_job with a job's id
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
