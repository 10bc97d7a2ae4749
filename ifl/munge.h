// Makes and checks users' credentials with MUNGE (munge(7)). By a credential, hosts that share a key tell
// each other a user's number. The daemon munged does the work. A credential is valid for five minutes, and
// once on each host.
//
// libmunge is loaded on first use, so that other clients and servers need no more packages.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "ifl/error.h"

namespace pbs::ifl {

class Munge {
  public:
    /// Loads libmunge. `socket` is munged's; empty: libmunge's default. Errors: PBSE_NOSUP, saying what is
    /// missing.
    static Result<Munge> load(const std::string& socket);

    /// Makes a credential of this process's effective user that carries `text`. Waits for munged up to ten
    /// seconds, as decode() does. Errors: PBSE_BADCRED with libmunge's text.
    Result<std::string> encode(const std::string& text) const;

    struct Decoded {
        uid_t uid = 0;
        std::string text;
    };
    /// Reads a credential, after checking its key, its time, and that it wasn't used here before. Threads may
    /// call it concurrently. Errors: PBSE_BADCRED with libmunge's text.
    Result<Decoded> decode(const std::string& credential) const;

  private:
    struct Library;
    Munge(std::shared_ptr<const Library> library, std::string socket)
        : library_(std::move(library)), socket_(std::move(socket)) {}

    std::shared_ptr<const Library> library_;
    std::string socket_;
};

}  // namespace pbs::ifl
