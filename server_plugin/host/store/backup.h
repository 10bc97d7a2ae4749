// Copies a home's two databases, server.db and policy.db, and restores them.
//
// Both copies are of the same moment: for that moment the writers of both databases are kept out, as long as
// it takes to begin reading each. Then SQLite's online backup copies their content, however long that takes,
// while the server goes on.
//
// A restore is prepared in server_priv/restore.new and then decided by one rename, which makes
// server_priv/restore.journal. After that the old files are moved to server_priv/replaced-DATE and the new
// ones into their places, by finish_restore(), and again at the next start if it was cut short. So a crash
// leaves the old databases (no journal yet) or the new ones.
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

// Copies the databases of the home at `home`, whose server may be running, into `directory`. It is made (mode
// 0700, files 0600), or must be empty; the copy appears whole or not at all. Errors name the file and what is
// wrong.
Result<Manifest> back_up(const std::string& home, const std::string& directory, std::chrono::sys_seconds now);

// Puts a backup in place of the databases of a home. Checks everything before it changes anything. `at_step`,
// if given, is called after each step. Returns the folder with the old databases; empty: there were none.
// REQUIRES: the caller has the home's lock.
using StepDone = std::function<void(const std::string& step)>;
Result<std::string> restore(const Home& home, const std::string& directory, std::chrono::sys_seconds now,
                            const StepDone& at_step = {});

// Finds a free name in server_priv for files that are put aside: replaced-DATE, or with a number behind it.
Result<std::string> free_folder(const Home& home, std::chrono::sys_seconds now);

// Makes a home go on without the acknowledged changes that its databases have lost. Before that it copies the
// databases, with their logs, to server_priv/replaced-DATE. Errors: a database is damaged beyond that, so
// that only a backup helps. REQUIRES: the caller has the home's lock.
struct AcceptedLoss {
    std::vector<std::string>
        texts;  // what was lost, one text for each database that lost something; empty: nothing was done
    std::string folder;  // the folder with the copies
};
Result<AcceptedLoss> accept_loss(const Home& home, std::chrono::sys_seconds now);

// PBSE_SYSTEM: "PATH: can not be opened: REASON".
tl::unexpected<Error> file_failed(std::string_view path, std::string_view doing, std::string_view why);

// Completes a restore that was decided, and clears away one that wasn't. True: a restore was completed; it is
// no error if there is nothing to do.
Result<bool> finish_restore(const Home& home, const StepDone& at_step = {});

}  // namespace pbs::host
