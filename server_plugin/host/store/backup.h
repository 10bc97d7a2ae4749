// A copy of a home's two databases, server.db and policy.db, and the way back.
//
// Both copies are of the same moment: for that moment the writers of both databases are kept out, as long as
// it takes to begin reading each. Then SQLite's online backup copies what was there, however long that takes,
// while the server goes on.
//
// A restore is prepared in server_priv/restore.new and then decided by one rename, which makes
// server_priv/restore.journal. What is left of it from then on, moving the old files to
// server_priv/replaced-DATE and the new ones into their places, is done by finish_restore(), again at the
// next start if it was cut short. So a crash leaves the old databases (no journal yet) or the new ones.
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

// Copies the databases of the home at `home`, whose server may be running, into `directory`, which is made
// (mode 0700, files 0600) or is empty; it appears whole or not at all. Errors name the file and what is
// wrong.
Result<Manifest> back_up(const std::string& home, const std::string& directory, std::chrono::sys_seconds now);

// Puts a backup in place of the databases of a home, whose lock the caller has. Everything is checked before
// anything is changed. `at_step`, if there is one, is called with each step that has been done. Returns the
// folder with the old databases; empty: there were none.
using StepDone = std::function<void(const std::string& step)>;
Result<std::string> restore(const Home& home, const std::string& directory, std::chrono::sys_seconds now,
                            const StepDone& at_step = {});

// A name in server_priv for what is put aside, that isn't taken: replaced-DATE, or with a number behind it.
Result<std::string> free_folder(const Home& home, std::chrono::sys_seconds now);

// What acknowledged changes the databases of a home have lost, one text for each database that has, once the
// home goes on without them: the databases, with their logs, are copied to server_priv/replaced-DATE before.
// The caller has the home's lock. Errors: a database is damaged beyond that, so that only a backup helps.
struct AcceptedLoss {
    std::vector<std::string> texts;  // empty: nothing is lost, and nothing was done
    std::string folder;              // where the copies are
};
Result<AcceptedLoss> accept_loss(const Home& home, std::chrono::sys_seconds now);

// PBSE_SYSTEM: "PATH: can not be opened: REASON".
tl::unexpected<Error> file_failed(std::string_view path, std::string_view doing, std::string_view why);

// Completes a restore that was decided, and clears away one that wasn't. Nothing to do is no error. True: a
// restore was completed.
Result<bool> finish_restore(const Home& home, const StepDone& at_step = {});

}  // namespace pbs::host
