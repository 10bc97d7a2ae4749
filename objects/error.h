// Errors of the objects folder: a PBS error number and one line for the person who gave the command.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::objects {

// The PBS error numbers of this folder's errors. PBS has no numbers for the new object types except 15212
// (PP-748, interfaces 10 to 12), so the others are those that PBS uses for queues.
enum class Code : int {
    unknown_attribute = 15002,  // PBSE_NOATTR
    kReadOnly = 15003,          // PBSE_ATTRRO
    invalid_request = 15004,    // PBSE_IVALREQ
    no_permission = 15007,      // PBSE_PERM
    system = 15010,             // PBSE_SYSTEM: the disk is full, the database can't be written
    internal = 15011,           // PBSE_INTERNAL
    bad_value = 15014,          // PBSE_BADATVAL
    exists = 15025,             // PBSE_QUEEXIST: create of an object that exists
    busy = 15027,               // PBSE_OBJBUSY: delete of an object that something refers to
    name_too_long = 15028,      // PBSE_QUENBIG
    unknown_resource = 15035,   // PBSE_UNKRESC
    takes_long = 15208,         // PBSE_TRYAGAIN: more work than the store's patience allows
    unknown_object = 15212,     // PBSE_POLICY_NOT_FOUND and its siblings
};

struct Error {
    Code code = Code::internal;
    std::string message;
    // The index of the command of a ChangeSet that failed, from 0; -1: the error isn't of such a command.
    int command = -1;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace pbs::objects
