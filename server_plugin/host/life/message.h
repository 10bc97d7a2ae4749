// Writes a message to a running job, as a line at the end of its output.
//
// The output file belongs to the job's owner, who may have replaced it by anything, and its disk may hang. So
// a process with the owner's rights writes the message, and the server doesn't wait for that process: poll()
// looks whether it has ended, and kills it after a while.
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
    // Begins to write to the job's output (`stream` 'o') or errors ('e'). PBSE_SYSTEM: the message can't be
    // written; the error has the reason.
    static Result<MessageWriter> start(Server& server, const Job& job, char stream, std::string_view text);
    // Kills the process if it still writes.
    ~MessageWriter();
    MessageWriter(MessageWriter&& other) noexcept;
    MessageWriter& operator=(MessageWriter&&) = delete;

    // Returns the outcome, once; nullopt: the process still writes. PBSE_SYSTEM: the error has the file and
    // the reason.
    std::optional<Result<void>> poll();

  private:
    MessageWriter(Server& server, pid_t pid, std::string path);

    Server& server_;
    pid_t pid_;  // 0: the process has ended
    std::string path_;
    std::chrono::steady_clock::time_point until_;
};

// Returns whether this process was started as a writer of messages. Call it first in main().
bool is_message_writer(int argc, char** argv);

// Implements `pbs_server --write-message USER UID GID PATH`: appends its stdin to an existing regular file,
// as that user. Returns the exit code: 0, or an errno value.
int message_writer_main(int argc, char** argv);

}  // namespace pbs::host
