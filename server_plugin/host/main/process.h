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

// The plugin's file in the folder of this program, else in ../lib/pbspolicy.
Result<std::string> default_plugin();

// Opens the shepherd's program. The server runs it by this descriptor, so that a running server whose files
// are replaced still uses the program of its own version.
Result<Fd> open_shepherd();

// The fewest descriptors that a server needs: for its own files, some clients and a few jobs.
constexpr rlim_t kFewestDescriptors = 64;
// Raises the limit of descriptors as far as possible, since each connection and each running job needs some.
// Returns the limit; or an error if it is below kFewestDescriptors.
Result<rlim_t> raise_descriptor_limit();

// Makes malloc retain freed memory at the end of the heap: the next job or request needs it at once, and each
// return to the kernel would cost a page fault for every page. Network returns the memory of large replies.
void keep_freed_memory();

// Raises this thread's priority above that of jobs and shepherds, hundreds of which may begin or end at once.
// The kernel gives its children and threads the usual priority. A server that was started with another
// priority keeps that, as do its jobs; so does a server that may not raise its priority.
void go_first();

// The processor time of this thread.
std::chrono::nanoseconds time_on_processor();

}  // namespace pbs::host
