// A message to a running job: a line at the end of its output.
//
// The file belongs to the job's owner, who may have put anything in its place, on a disk that hangs. So a
// process with the owner's rights writes it, and nobody waits for that process: poll() looks at it now and
// then, and gives it up after a while.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

namespace pbs::host {

class MessageWriter {
  public:
    // Begins to write to the job's output ('o') or errors ('e'). PBSE_SYSTEM: why it can't.
    static Result<MessageWriter> start(Server& server, const Job& job, char stream, std::string_view text);
    // Kills a process that still writes.
    ~MessageWriter();
    MessageWriter(MessageWriter&& other) noexcept;
    MessageWriter& operator=(MessageWriter&&) = delete;

    // The outcome, once; nullopt: the process still writes. PBSE_SYSTEM, with the file and the reason.
    std::optional<Result<void>> poll();

  private:
    MessageWriter(Server& server, pid_t pid, std::string path);

    Server& server_;
    pid_t pid_;  // 0: it has ended
    std::string path_;
    std::chrono::steady_clock::time_point until_;
};

// Is this process to be a writer? Ask it first in main().
bool is_message_writer(int argc, char** argv);

// Runs `pbs_server --write-message USER UID GID PATH`: appends its input to an existing regular file, as that
// user. Returns the process's exit code: 0, or an errno.
int message_writer_main(int argc, char** argv);

}  // namespace pbs::host
