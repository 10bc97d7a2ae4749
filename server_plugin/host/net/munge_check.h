// Checks MUNGE credentials in threads, because munged and the look-up of users' names may be slow.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ifl/credential.h"
#include "ifl/munge.h"
#include "server_plugin/host/base/error.h"

struct uv_loop_s;

namespace pbs::host {

// A credential that a client has sent on a connection.
struct ShownCredential {
    std::string credential;
    ifl::ConnectionEnds ends;  // addresses and ports of the connection's two ends, as the server sees them
    bool own_host = false;     // the client's address is one of this machine's
};

// The services that a check of a credential uses. Tests replace them.
struct CredentialSources {
    std::function<Result<ifl::Munge::Decoded>(const std::string& credential)> decode;
    std::function<std::optional<std::string>(uid_t)> user_name;
    std::function<std::optional<uid_t>(const ifl::ConnectionEnds&)> owner;  // the user of a local client
};
// Returns the real services: munged, the users of this machine, and its kernel.
CredentialSources credential_sources(const ifl::Munge& munge);

// Returns the user whom a credential names. PBSE_BADCRED: munged refuses the credential; or it is for another
// connection; or its uid has no name here, or another name than on its own host; or the client is on this
// machine, and its process belongs to another user than the credential. (The last check matters because root
// of any host with the key can make credentials of root. An ordinary user of this machine who gets such a
// credential must not become root by it.)
Result<std::string> user_of(const ShownCredential& shown, const CredentialSources& sources);

class MungeCheck {
  public:
    // Called in the loop with the outcome of a check: the user, or the reason for a refusal.
    using Done = std::function<void(uint64_t connection, const Result<std::string>& user)>;

    MungeCheck(uv_loop_s* loop, CredentialSources sources, Done done);
    // REQUIRES: close() was called, and the loop has run since.
    ~MungeCheck();
    MungeCheck(const MungeCheck&) = delete;
    MungeCheck& operator=(const MungeCheck&) = delete;

    // Checks a credential. Calls `done` later, once, unless close() is called before. A few checks run at a
    // time; others wait.
    void check(uint64_t connection, ShownCredential shown);
    // Drops the check for a connection that doesn't need its outcome any more.
    void forget(uint64_t connection);
    // Drops all checks, without waiting for checks that are under way.
    void close();

  private:
    struct Shared;
    struct Handle;
    static void work(const std::shared_ptr<Shared>& shared);
    void take_answers();

    std::shared_ptr<Shared> shared_;  // shared with the threads
    Handle* handle_;                  // frees itself when it is closed
    Done done_;
};

}  // namespace pbs::host
