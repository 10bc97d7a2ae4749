// Functions that several request handlers share.
#pragma once

#include <string>
#include <string_view>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Makes a reply with the error. The reply's text is the message or, if that is empty, the usual text of the
// code.
ifl::Reply refuse(const Error& error);
// Refuses an attribute as PBS does: the reply has the attribute's text and, as auxiliary code, its index + 1.
ifl::Reply refuse_attribute(const Error& error, const ifl::Attribute& attribute, size_t index);
ifl::Reply reply_of(const Result<void>& result);

// The functions below omit the job's id in the texts of errors, because clients add it.

// The meaning of a job identifier: it names a job, an array, or subjobs of an array. For subjobs, `job` is
// the array.
struct Target {
    const Job* job = nullptr;
    std::vector<IndexRange> indices{};
    bool single = false;  // the identifier names a single subjob, not a range

    bool subjobs() const { return !indices.empty(); }
};
// Finds the jobs that the identifier names. PBSE_UNKJOBID. Doesn't check that the array has the subjobs.
Result<Target> target_of(const State& state, std::string_view id);
// Finds a job that isn't history and that the requester may change as its owner, an operator or a manager.
// PBSE_UNKJOBID, PBSE_HISTJOBID, PBSE_PERM.
Result<Target> own_target(const Context& context, std::string_view id);
// Returns the running jobs of a target: the job itself, the named subjobs, or all subjobs of the array.
std::vector<const Job*> running_of(const State& state, const Target& target);

// Finds a job as own_target() does, for requests that don't work on subjobs. PBSE_IVALREQ: the id names
// subjobs.
Result<const Job*> own_job(const Context& context, std::string_view id);
bool is_owner(const Context& context, const Job& job);
// Returns whether the requester may see the jobs and reservations of all others: operators may, and with
// query_other_jobs everybody.
bool may_see_all(const Context& context);
// Returns whether the requester may see the job, as its owner or with may_see_all().
bool may_see(const Context& context, const Job& job);

// Finds the queue that a new job is to enter. `asked`: "queue" or "queue@server"; empty: the default queue.
// Returns nullptr if there is none; `error` then has the reason, PBSE_UNKQUE or PBSE_QUENODFLT.
const Queue* queue_to_enter(const Context& context, std::string_view asked, Error& error);
// Returns whether the requester is root, or the user who runs the server, on the server's host. Other
// managers must not choose actions that the server performs with its own rights.
bool is_administrator(const Context& context);
// Returns PBSE_PERM unless the requester is an operator or manager.
Result<void> operators_only(const Context& context);

// Return the requester's rights for writing and for reading attributes, as flags of AttributeFlag.
uint32_t write_rights(const Identity& who);
uint32_t read_rights(const Identity& who);

// Returns the requester as "user@host".
std::string requestor(const Context& context);

}  // namespace pbs::host
