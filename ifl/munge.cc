#include "ifl/munge.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "ifl/pbs_error.h"

// libmunge's functions, declared as in its munge.h, which isn't included so that a build doesn't need the
// package. They are those of version 2, which is part of the library's file name.
struct munge_ctx;

namespace pbs::ifl {
namespace {

constexpr const char* kMungeLibrary = "libmunge.so.2";
constexpr int kSuccess = 0;       // EMUNGE_SUCCESS
constexpr int kSocketOption = 8;  // MUNGE_OPT_SOCKET

}  // namespace

struct Munge::Library {
    int (*encode)(char** credential, munge_ctx* context, const void* text, int length) = nullptr;
    int (*decode)(const char* credential, munge_ctx* context, void** text, int* length, uid_t* uid,
                  gid_t* gid) = nullptr;
    const char* (*error_text)(int error) = nullptr;
    munge_ctx* (*create)() = nullptr;
    void (*destroy)(munge_ctx* context) = nullptr;
    int (*set)(munge_ctx* context, int option, ...) = nullptr;
    const char* (*context_error)(munge_ctx* context) = nullptr;

    using Context = std::unique_ptr<munge_ctx, void (*)(munge_ctx*)>;
    Context context(const std::string& socket) const {
        Context made(create(), destroy);
        if (made && !socket.empty() && set(made.get(), kSocketOption, socket.c_str()) != kSuccess)
            made.reset();
        return made;
    }
    tl::unexpected<Error> failed(std::string_view what, int error, munge_ctx* context) const {
        const char* detail = context != nullptr ? context_error(context) : nullptr;
        return tl::unexpected(
            Error{PBSE_BADCRED, fmt::format("MUNGE {}: {}", what, detail ? detail : error_text(error))});
    }
};

namespace {

// Looks up a function of the library, which stays loaded because a thread may be in it.
template <typename Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

Result<Munge> Munge::load(const std::string& socket) {
    void* library = dlopen(kMungeLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
        return tl::unexpected(
            Error{PBSE_NOSUP, fmt::format("MUNGE isn't installed: {}", why ? why : kMungeLibrary)});
    }
    auto found = std::make_shared<Library>();
    if (!find(library, "munge_encode", found->encode) || !find(library, "munge_decode", found->decode) ||
        !find(library, "munge_strerror", found->error_text) ||
        !find(library, "munge_ctx_create", found->create) ||
        !find(library, "munge_ctx_destroy", found->destroy) || !find(library, "munge_ctx_set", found->set) ||
        !find(library, "munge_ctx_strerror", found->context_error)) {
        return tl::unexpected(Error{PBSE_NOSUP, fmt::format("{} isn't libmunge", kMungeLibrary)});
    }
    return Munge(std::move(found), socket);
}

Result<std::string> Munge::encode(const std::string& text) const {
    const auto context = library_->context(socket_);
    if (!context) return tl::unexpected(Error{PBSE_SYSTEM, "MUNGE: no memory"});
    char* made = nullptr;
    const int error = library_->encode(&made, context.get(), text.data(), static_cast<int>(text.size()));
    const std::unique_ptr<char, void (*)(void*)> owned(made, std::free);
    if (error != kSuccess || made == nullptr)
        return library_->failed("makes no credential", error, context.get());
    return std::string(made);
}

// Decodes a credential. libmunge returns the text even of a credential that is too old or was used before;
// such a text is dropped.
Result<Munge::Decoded> Munge::decode(const std::string& credential) const {
    const auto context = library_->context(socket_);
    if (!context) return tl::unexpected(Error{PBSE_SYSTEM, "MUNGE: no memory"});
    void* text = nullptr;
    int length = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    const int error = library_->decode(credential.c_str(), context.get(), &text, &length, &uid, &gid);
    const std::unique_ptr<void, void (*)(void*)> owned(text, std::free);
    if (error != kSuccess) return library_->failed("refuses the credential", error, context.get());
    return Decoded{uid, text == nullptr
                            ? std::string()
                            : std::string(static_cast<const char*>(text), static_cast<std::size_t>(length))};
}

}  // namespace pbs::ifl
