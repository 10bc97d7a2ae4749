// Copies the two databases of a PBS_HOME, server.db and policy.db, and restores them.
//
// Both copies are of the same moment: the writers of both databases are locked out until a read transaction
// has begun in each. Then SQLite's online backup copies the contents, however long that takes, while the
// server goes on.
//
// A restore is prepared in server_priv/restore.new. One rename, which makes server_priv/restore.journal,
// decides it. After that, finish_restore() moves the old files to server_priv/replaced-DATE and the new ones
// into their places. If it is interrupted, the server's next start calls it again. So a crash leaves either
// the old databases (no journal yet) or the new ones.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/home.h"
#include "server_plugin/host/store/manifest.h"

namespace pbs::host {

// Copies the databases of the home at `home`, whose server may be running, to `directory`. Makes the
// directory (mode 0700, files 0600), or uses an empty one. The copy appears completely or not at all. Errors
// name the file and what is wrong.
Result<Manifest> back_up(const std::string& home, const std::string& directory, std::chrono::sys_seconds now);

// Replaces the databases of a home by a backup. Checks everything before it changes anything. Calls
// `at_step`, if given, after each step. Returns the folder with the old databases; empty: there were none.
// REQUIRES: the caller has the home's lock.
using StepDone = std::function<void(const std::string& step)>;
Result<std::string> restore(const Home& home, const std::string& directory, std::chrono::sys_seconds now,
                            const StepDone& at_step = {});

// Finds an unused name in server_priv for replaced files: replaced-DATE, perhaps with a number after it.
Result<std::string> free_folder(const Home& home, std::chrono::sys_seconds now);

// The result of accept_loss().
struct AcceptedLoss {
    std::vector<std::string>
        texts;  // what was lost, one text for each database that lost something; empty: nothing was done
    std::string folder;  // the folder of the copies
};
// Accepts that the databases of a home have lost acknowledged changes, so that a server can start. First
// copies the databases, with their logs, to server_priv/replaced-DATE. Error: a database has other damage, so
// that only a backup helps. REQUIRES: the caller has the home's lock.
Result<AcceptedLoss> accept_loss(const Home& home, std::chrono::sys_seconds now);

// Returns the error PBSE_SYSTEM with the text "PATH: DOING: WHY". `doing` is a text such as "can not be
// opened".
tl::unexpected<Error> file_failed(std::string_view path, std::string_view doing, std::string_view why);

// Completes a restore that has a journal, or removes the files of a restore that has none. Returns whether it
// has completed a restore. It is no error if there is no restore.
Result<bool> finish_restore(const Home& home, const StepDone& at_step = {});

}  // namespace pbs::host
