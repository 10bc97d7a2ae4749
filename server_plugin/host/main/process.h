// The server as a process of its machine: its files, limits, memory and priority.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// The name of this machine, in lower case.
std::string host_name();

// The plugin's file beside this program, or else in ../lib/pbspolicy.
Result<std::string> default_plugin();

// Opens the program of the processes above jobs. It is run by this descriptor, so that a running server whose
// files are replaced goes on with the program that it knows.
Result<Fd> open_shepherd();

// The server's own descriptors, with room to answer somebody and to run a few jobs.
constexpr rlim_t kFewestDescriptors = 64;
// Raises the limit of descriptors as far as it goes, since each connection and each running job takes some.
// Returns the limit, or an error if there are fewer than kFewestDescriptors.
Result<rlim_t> raise_descriptor_limit();

// Keeps memory that is freed at the end of the heap: the next job or request wants it at once, and each time
// that it goes to the kernel and comes back costs a fault a page. Network returns the memory of large
// replies.
void keep_freed_memory();

// Lets this thread go before the jobs and the processes above them, which may be hundreds that begin or end
// at once. The kernel gives its children and threads the usual priority. A server that was started with
// another priority keeps it, as do its jobs, and so does a server that may not choose.
void go_first();

// The time that this thread has been on a processor.
std::chrono::nanoseconds time_on_processor();

}  // namespace pbs::host
