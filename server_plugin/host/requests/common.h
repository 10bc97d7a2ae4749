// Functions that several request handlers share.
#pragma once

#include <string>
#include <string_view>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// A reply with the error; without a message of its own it has the text of the code.
ifl::Reply refuse(const Error& error);
// Refuses an attribute as PBS does: with its text and its place in the list (auxiliary code: index + 1).
ifl::Reply refuse_attribute(const Error& error, const ifl::Attribute& attribute, size_t index);
ifl::Reply reply_of(const Result<void>& result);

// Texts of errors leave the job's id out, as clients add it.

// The object of an identifier: a job, an array, or subjobs of an array. For subjobs `job` is the array.
struct Target {
    const Job* job = nullptr;
    std::vector<IndexRange> indices{};
    bool single = false;  // one subjob, not a range

    bool subjobs() const { return !indices.empty(); }
};
// Finds the target. PBSE_UNKJOBID. Doesn't check that the array has these subjobs.
Result<Target> target_of(const State& state, std::string_view id);
// Finds a job that isn't history and that the requester may change, as its owner, an operator or a manager.
// PBSE_UNKJOBID, PBSE_HISTJOBID, PBSE_PERM.
Result<Target> own_target(const Context& context, std::string_view id);
// The running jobs of a target: the job itself, the named subjobs, or all subjobs of the array.
std::vector<const Job*> running_of(const State& state, const Target& target);

// Finds a job as own_target() does, for requests that take no subjobs: PBSE_IVALREQ.
Result<const Job*> own_job(const Context& context, std::string_view id);
bool is_owner(const Context& context, const Job& job);
// May the requester see the job: its owner, an operator, and with query_other_jobs everybody?
bool may_see(const Context& context, const Job& job);

// The queue that a new job is to enter, "queue" or "queue@server"; without a name the default queue. nullptr,
// with `error`: PBSE_UNKQUE, PBSE_QUENODFLT.
const Queue* queue_to_enter(const Context& context, std::string_view asked, Error& error);
// Is the requester root or the user who runs the server, at the server's host? Other managers must not choose
// what the server does with its own rights.
bool is_administrator(const Context& context);
// PBSE_PERM unless the requester is an operator or manager.
Result<void> operators_only(const Context& context);

// The requester's rights, as write flags and read flags of AttributeFlag.
uint32_t write_rights(const Identity& who);
uint32_t read_rights(const Identity& who);

// The requester as "user@host".
std::string requestor(const Context& context);

}  // namespace pbs::host
