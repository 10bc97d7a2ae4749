// The kinds of calls that faults.c can make fail, with the errors of each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/faults.h"

namespace pbs::e2e {

struct FaultKind {
    std::string_view name;
    std::vector<int> errors;  // errno, or fault_short
};

// The kinds, in the order of enum fault_kind, with the errors that the manual pages of their calls name.
inline const std::array<FaultKind, fault_kinds>& kinds_of_faults() {
    static const std::array<FaultKind, fault_kinds> all{{{"open", {EMFILE, ENFILE, ENOMEM, ENOSPC, EIO}},
                                                         {"read", {EIO, EINTR}},
                                                         {"write", {ENOSPC, EIO, EDQUOT, EINTR, fault_short}},
                                                         {"sync", {EIO, ENOSPC, EDQUOT}},
                                                         {"truncate", {EIO, ENOSPC, EINTR}},
                                                         {"rename", {EIO, ENOSPC, EACCES}},
                                                         {"link", {EIO, ENOSPC, EMLINK}},
                                                         {"unlink", {EIO, EACCES}},
                                                         {"mkdir", {ENOSPC, EIO, EMLINK}},
                                                         {"close", {EIO, EINTR}},
                                                         {"map", {ENOMEM}},
                                                         {"memory", {ENOMEM}},
                                                         {"process", {EAGAIN, ENOMEM}},
                                                         {"thread", {EAGAIN}},
                                                         {"pipe", {EMFILE, ENFILE}},
                                                         {"socket", {EMFILE, ENFILE, ENOBUFS}},
                                                         {"accept", {EMFILE, ECONNABORTED, ENOMEM}}}};
    return all;
}

struct Fault {
    int program = fault_in_server;
    int kind = 0;
    int error = 0;
    long at = 0;          // number of the call among those of its kind, counted from 1
    std::string of = {};  // end of the path of the call's file; empty: any file
};

inline std::string text_of(const Fault& fault) {
    return fmt::format("{} {} of {}, {}", kinds_of_faults()[static_cast<std::size_t>(fault.kind)].name,
                       fault.at, fault.program == fault_in_server ? "the server" : "a helper",
                       fault.error == fault_short ? "short" : strerrorname_np(fault.error));
}

// Returns whether an error says why something failed, in words of the system, of SQLite or of C++.
inline bool gives_reason(const std::string& text) {
    return std::ranges::any_of(std::initializer_list<const char*>{"oo many open files",
                                                                  "Cannot allocate memory",
                                                                  "No space left",
                                                                  "Input/output error",
                                                                  "quota",
                                                                  "Interrupted",
                                                                  "Permission denied",
                                                                  "Too many links",
                                                                  "temporarily unavailable",
                                                                  "No buffer space",
                                                                  "disk is full",
                                                                  "disk I/O error",
                                                                  "out of memory",
                                                                  "bad_alloc",
                                                                  "unable to open",
                                                                  "readonly",
                                                                  "locking",
                                                                  "connection abort",
                                                                  "no buffer space",
                                                                  "file table overflow"},
                               [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace pbs::e2e
