// Checks MUNGE credentials beside the event loop: munged, and the service that knows the names of users, may
// take long.
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

// A credential that came on a connection.
struct ShownCredential {
    std::string credential;
    ifl::ConnectionEnds ends;  // the connection's ends, as the server sees them
    bool own_host = false;     // the client's address is one of this machine's
};

// The services that a check asks; tests have answers of their own.
struct CredentialSources {
    std::function<Result<ifl::Munge::Decoded>(const std::string& credential)> decode;
    std::function<std::optional<std::string>(uid_t)> user_name;
    std::function<std::optional<uid_t>(const ifl::ConnectionEnds&)> owner;  // of a client on this machine
};
// The real services: munged, the users of this machine, and its kernel.
CredentialSources credential_sources(const ifl::Munge& munge);

// The user whom a credential names. PBSE_BADCRED: munged refuses it; it is for another connection; its uid
// has no name here, or another name than where it was made; or the client is on this machine and its process
// belongs to another user, whatever the credential says. (Root of any host with the key can make credentials
// of root. Ordinary users of this machine can let him use their connections, and must not become root by
// that.)
Result<std::string> user_of(const ShownCredential& shown, const CredentialSources& sources);

class MungeCheck {
  public:
    // Called in the loop with the outcome.
    using Done = std::function<void(uint64_t connection, const Result<std::string>& user)>;

    MungeCheck(uv_loop_s* loop, CredentialSources sources, Done done);
    // REQUIRES: close() was called, and the loop has run since.
    ~MungeCheck();
    MungeCheck(const MungeCheck&) = delete;
    MungeCheck& operator=(const MungeCheck&) = delete;

    // Checks a credential. `done` is called later, once, unless close() is called before. A few credentials
    // are checked at a time, the others wait.
    void check(uint64_t connection, ShownCredential shown);
    // Forgets a connection: nobody waits for its answer any more.
    void forget(uint64_t connection);
    // Ends the checks, without waiting for those under way.
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
