#include "ifl/openssl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

// The library of OpenSSL 3, whose headers declare the functions that are called. It loads libcrypto too.
constexpr const char* kTlsLibrary = "libssl.so.3";

Result<OpenSsl> find_all() {
    void* library = dlopen(kTlsLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
        return tl::unexpected(
            Error{PBSE_NOSUP, fmt::format("TLS: OpenSSL isn't installed: {}", why ? why : kTlsLibrary)});
    }
    OpenSsl found;
    const char* missing = nullptr;
#define PBS_FIND(name)                                                          \
    found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
    if (found.name == nullptr) missing = #name;
    PBS_OPENSSL_FUNCTIONS(PBS_FIND)
#undef PBS_FIND
    if (missing != nullptr)
        return tl::unexpected(Error{PBSE_NOSUP, fmt::format("TLS: {} has no {}", kTlsLibrary, missing)});
    return found;
}

}  // namespace

Result<const OpenSsl*> OpenSsl::load() {
    static const Result<OpenSsl> loaded = find_all();
    if (!loaded) return tl::unexpected(loaded.error());
    return &*loaded;
}

}  // namespace pbs::ifl
