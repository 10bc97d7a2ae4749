// A message to a running job: a line at the end of its output.
#ifndef PBSPOLICY_HOST_MESSAGE_H
#define PBSPOLICY_HOST_MESSAGE_H

#include <string_view>

#include "server_plugin/host/error.h"
#include "server_plugin/host/server.h"

namespace pbs::host {

// `stream` is 'o' or 'e'. Written with the rights of the job's owner, who may have put anything in the file's
// place. PBSE_SYSTEM with the file and the reason.
Result<void> write_message(const Server& server, const Job& job, char stream, std::string_view text);

}  // namespace pbs::host

#endif
