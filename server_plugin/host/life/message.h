// A message to a running job: a line at the end of its output.
//
// The file is the job's owner's, who may have put anything in its place, on a disk that hangs. So a process
// with the owner's rights writes it, and nobody waits for that process: it is asked now and then, and given
// up after a while.
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
    // Begins to write to the job's output ('o') or errors ('e'). PBSE_SYSTEM: why not.
    static Result<MessageWriter> start(Server& server, const Job& job, char stream, std::string_view text);
    // One that still writes is killed.
    ~MessageWriter();
    MessageWriter(MessageWriter&& other) noexcept;
    MessageWriter& operator=(MessageWriter&&) = delete;

    // What came of it, once; nothing: it still writes. PBSE_SYSTEM, with the file and the reason.
    std::optional<Result<void>> poll();

  private:
    MessageWriter(Server& server, pid_t pid, std::string path);

    Server& server_;
    pid_t pid_;  // 0: it is over
    std::string path_;
    std::chrono::steady_clock::time_point until_;
};

// Is this process to be a writer? main() asks before anything else.
bool is_message_writer(int argc, char** argv);

// `pbs_server --write-message USER UID GID PATH`: appends what it reads to a regular file that is there,
// as that user. The process's exit code: 0, or an errno.
int message_writer_main(int argc, char** argv);

}  // namespace pbs::host
