// Sets up the server as a process of the operating system: its files, limits, memory and priority.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// Returns the name of this machine, in lower case.
std::string host_name();

// Returns the path of the plugin's file, in the folder of this program, else in ../lib/pbspolicy.
Result<std::string> default_plugin();

// Opens the shepherd's program. The server runs it by this descriptor, so that it uses the program of its own
// version even after an upgrade has replaced the files.
Result<Fd> open_shepherd();

// The fewest descriptors with which a server starts: for its own files, some clients and a few jobs.
constexpr rlim_t kFewestDescriptors = 64;
// Raises the limit of descriptors as far as possible, because each connection and each running job needs
// some. Returns the limit. Error: the limit is below kFewestDescriptors.
Result<rlim_t> raise_descriptor_limit();

// Makes malloc retain freed memory at the end of the heap. The next job or request needs it soon, and getting
// it back from the kernel would cost a page fault for each page. Network returns the memory of large replies
// to the kernel, by malloc_trim().
void keep_freed_memory();

// Raises this thread's priority above that of jobs and shepherds, hundreds of which may begin or end at once.
// The thread's children and new threads get the usual priority. Does nothing if the server was started with
// another priority, which its jobs then have, too, or if it may not raise its priority.
void go_first();

// Returns the processor time that this thread has used.
std::chrono::nanoseconds time_on_processor();

}  // namespace pbs::host
