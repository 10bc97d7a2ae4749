#include "server_plugin/host/base/users.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "values/text.h"

namespace pbs::host {
namespace {

// Begin with little space: each running job has a process that looks up its user, so its memory should be
// small. The entry of a group is longer, as it names the members.
constexpr size_t kUsualSpace = size_t{1} << 10;
constexpr size_t kUsualSpaceOfGroup = size_t{4} << 10;
constexpr size_t kMostSpace = size_t{16} << 20;  // enough for a group with very many members

// The time for which RecentUsers answers with a failure, in seconds.
constexpr int64_t kFailureStays = 5;

// Calls a reentrant look-up such as getpwnam_r() with more and more space, from `usual` on, until the entry
// fits. `call` makes the look-up, and returns its error code. Returns the last one.
template <typename Call>
int with_space(size_t usual, Call&& call) {
    int code = ERANGE;
    for (size_t size = usual; size <= kMostSpace && code == ERANGE; size *= 4) {
        std::vector<char> space(size);
        code = call(space.data(), space.size());
    }
    return code;
}

// Makes a look-up as with_space(), and once more if it has found nothing: if one source of users fails for
// once, another one may say that there is no such user.
template <typename Call>
int ask_twice(size_t usual, const bool& is_found, Call&& call) {
    const int code = with_space(usual, call);
    return is_found ? code : with_space(usual, call);
}

// Returns the error of a look-up that has found nothing; 0: there is no such entry. Modules of the directory
// services also say so by one of the numbers here.
int failure_of(int code) {
    return code == ENOENT || code == ESRCH || code == EBADF || code == EPERM ? 0 : code;
}

// Returns the group's name, or its number if it has no name, or if the look-up has failed (`error`).
std::string group_name(gid_t gid, int& error) {
    std::string name = std::to_string(gid);
    bool is_known = false;
    const int failed = ask_twice(kUsualSpaceOfGroup, is_known, [&](char* space, size_t size) {
        struct group entry {};
        struct group* found = nullptr;
        const int code = getgrgid_r(gid, &entry, space, size, &found);
        if (found != nullptr) name = found->gr_name;
        is_known = found != nullptr;
        return code;
    });
    error = is_known ? 0 : failure_of(failed);
    return name;
}

Account account_of(const struct passwd& entry) {
    return {entry.pw_name, entry.pw_dir, entry.pw_shell, entry.pw_uid, entry.pw_gid};
}

// `error`: as of group_name().
User user_of(Account account, int& error) {
    std::string group = group_name(account.gid, error);
    return {std::move(account.name), std::move(group), std::move(account.home), account.uid, account.gid};
}

}  // namespace

std::optional<Account> find_account(const std::string& name, int& error) {
    std::optional<Account> account;
    bool is_found = false;
    const int failed = ask_twice(kUsualSpace, is_found, [&](char* space, size_t size) {
        struct passwd entry {};
        struct passwd* found = nullptr;
        const int code = getpwnam_r(name.c_str(), &entry, space, size, &found);
        is_found = found != nullptr;
        if (is_found) account = account_of(*found);
        return code;
    });
    error = account ? 0 : failure_of(failed);
    return account;
}

std::optional<User> find_user(const std::string& name, int* error) {
    int failed = 0;
    auto account = find_account(name, failed);
    std::optional<User> user;
    if (account) user = user_of(std::move(*account), failed);
    if (error == nullptr) return user;
    *error = failed;
    if (failed != 0) user.reset();
    return user;
}

std::optional<User> find_user(uid_t uid) {
    std::optional<User> user;
    with_space(kUsualSpace, [&](char* space, size_t size) {
        struct passwd entry {};
        struct passwd* found = nullptr;
        const int code = getpwuid_r(uid, &entry, space, size, &found);
        int ignored = 0;
        if (found != nullptr) user = user_of(account_of(*found), ignored);
        return code;
    });
    return user;
}

std::optional<gid_t> find_group(const std::string& name, int* error) {
    std::optional<gid_t> gid;
    bool is_found = false;
    const int failed = ask_twice(kUsualSpaceOfGroup, is_found, [&](char* space, size_t size) {
        struct group entry {};
        struct group* found = nullptr;
        const int code = getgrnam_r(name.c_str(), &entry, space, size, &found);
        is_found = found != nullptr;
        if (is_found) gid = found->gr_gid;
        return code;
    });
    if (error != nullptr) *error = gid ? 0 : failure_of(failed);
    return gid;
}

std::string not_looked_up(std::string_view kind, std::string_view name, int error) {
    return fmt::format("the {} {} can't be looked up: {}", kind, name, values::system_text(error));
}

bool in_group(const User& user, const std::string& group, int* error) {
    const auto gid = find_group(group, error);
    if (!gid) return false;
    int count = 0;
    getgrouplist(user.name.c_str(), user.gid, nullptr, &count);
    std::vector<gid_t> gids(static_cast<size_t>(std::max(count, 1)));
    if (getgrouplist(user.name.c_str(), user.gid, gids.data(), &count) < 0) {
        *error = EAGAIN;  // the number of groups has changed meanwhile
        return false;
    }
    gids.resize(static_cast<size_t>(count));
    return std::find(gids.begin(), gids.end(), *gid) != gids.end();
}

std::optional<User> RecentUsers::find(const std::string& name, int64_t now, int& error) {
    error = 0;
    if (std::exchange(at_, now) != now) {
        users_.clear();
        std::erase_if(failures_, [&](const auto& entry) {
            const Failure& failure = entry.second;
            return now < failure.begin || now >= failure.end + kFailureStays;
        });
    }
    if (const auto known = users_.find(name); known != users_.end()) return known->second;
    if (const auto failed = failures_.find(name); failed != failures_.end()) {
        error = failed->second.error;
        return std::nullopt;
    }
    const auto begin = std::chrono::steady_clock::now();
    auto user = find_user(name, &error);
    const auto took = std::chrono::round<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    if (user)
        users_.emplace(name, *user);
    else if (error != 0)
        failures_[name] = {error, now, now + took.count()};
    return user;
}

}  // namespace pbs::host
