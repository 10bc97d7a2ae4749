// Replaces getpwnam_r() of a test program by one that fails for some users, as if a directory service didn't
// answer. Include this file into one source of the program only.
#pragma once

#include <dlfcn.h>
#include <pwd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

namespace pbs {

// The look-up of this user fails always, also in programs that are run as /proc/self/exe.
inline constexpr std::string_view kUnansweredUser = "user.of.a.silent.directory";
// The look-up of this user fails, too.
inline std::string unanswered_user;

}  // namespace pbs

extern "C" int getpwnam_r(const char* name, passwd* entry, char* space, std::size_t size, passwd** found) {
    if (name == pbs::kUnansweredUser || name == pbs::unanswered_user) {
        *found = nullptr;
        return EIO;
    }
    using LookUp = int (*)(const char*, passwd*, char*, std::size_t, passwd**);
    static const auto look_up = reinterpret_cast<LookUp>(::dlsym(RTLD_NEXT, "getpwnam_r"));
    return look_up(name, entry, space, size, found);
}
