// MUNGE (munge(7)): hosts that share a key tell each other the number of a user, in credentials that its
// daemon munged makes and checks. A credential is good for five minutes, and once on each host.
//
// libmunge is loaded when it is needed, so that clients and servers that don't use it need no more packages.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "ifl/error.h"

namespace pbs::ifl {

class Munge {
  public:
    /// Loads libmunge. `socket`: that of munged; empty: libmunge's usual one. Errors: PBSE_NOSUP, saying what
    /// is missing.
    static Result<Munge> load(const std::string& socket);

    /// A credential of this process's effective user that carries `text`. Waits for munged, for up to ten
    /// seconds if it doesn't answer, as decode() does. Errors: PBSE_BADCRED with what libmunge says.
    Result<std::string> encode(const std::string& text) const;

    struct Decoded {
        uid_t uid = 0;
        std::string text;
    };
    /// What a credential says, if its key, its time and that it is new here are as they should be. Threads
    /// may call it. Errors: PBSE_BADCRED with what libmunge says.
    Result<Decoded> decode(const std::string& credential) const;

  private:
    struct Library;
    Munge(std::shared_ptr<const Library> library, std::string socket)
        : library_(std::move(library)), socket_(std::move(socket)) {}

    std::shared_ptr<const Library> library_;
    std::string socket_;
};

}  // namespace pbs::ifl
