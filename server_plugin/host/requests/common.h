// What several request handlers need.
#pragma once

#include <string>
#include <string_view>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// The text of the error's code where it has no message of its own.
ifl::Reply refuse(const Error& error);
// As PBS refuses an attribute: its text and its place in the list (auxiliary code: index + 1).
ifl::Reply refuse_attribute(const Error& error, const ifl::Attribute& attribute, size_t index);
ifl::Reply reply_of(const Result<void>& result);

// Texts leave the job's id out: clients add it.

// What an identifier names: a job, an array, or subjobs of one; the job is the array then.
struct Target {
    const Job* job = nullptr;
    std::vector<IndexRange> indices{};
    bool single = false;  // one subjob, not a range

    bool subjobs() const { return !indices.empty(); }
};
// PBSE_UNKJOBID. Whether the array has these subjobs isn't looked at.
Result<Target> target_of(const State& state, std::string_view id);
// A job that isn't history, and the one who asks is its owner, an operator or a manager. PBSE_UNKJOBID,
// PBSE_HISTJOBID, PBSE_PERM.
Result<Target> own_target(const Context& context, std::string_view id);
// The subjobs of the target that are jobs and run; the job itself, or all subjobs of the array, as it says.
std::vector<const Job*> running_of(const State& state, const Target& target);

// As own_target(), where subjobs can't be named: PBSE_IVALREQ.
Result<const Job*> own_job(const Context& context, std::string_view id);
bool is_owner(const Context& context, const Job& job);
// Whether the requester is shown the job: its owner, an operator, and with query_other_jobs everybody.
bool may_see(const Context& context, const Job& job);

// The queue that a new job is to enter, "queue" or "queue@server"; without a name the default one. Null, and
// `error`: PBSE_UNKQUE, PBSE_QUENODFLT.
const Queue* queue_to_enter(const Context& context, std::string_view asked, Error& error);
// Root, or the user who runs the server, at its host. Other managers must not choose what the server does
// with its own rights.
bool is_administrator(const Context& context);
// PBSE_PERM unless the one who asks is an operator or manager.
Result<void> operators_only(const Context& context);

// Write flags (AttributeFlag) of who asks.
uint32_t write_rights(const Identity& who);
uint32_t read_rights(const Identity& who);

// "user@host" of who asks.
std::string requestor(const Context& context);

}  // namespace pbs::host
