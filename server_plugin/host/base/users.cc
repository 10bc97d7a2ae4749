#include "server_plugin/host/base/users.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace pbs::host {
namespace {

constexpr size_t kUsualSpace = size_t{4} << 10;
constexpr size_t kMostSpace = size_t{16} << 20;  // enough for a group with very many members

// Calls a reentrant look-up such as getpwnam_r() with more and more space, until the entry fits. `call` makes
// the look-up, and returns its error code.
template <typename Call>
void with_space(Call&& call) {
    for (size_t size = kUsualSpace; size <= kMostSpace; size *= 4) {
        std::vector<char> space(size);
        if (call(space.data(), space.size()) != ERANGE) return;
    }
}

std::string group_name(gid_t gid) {
    std::string name = std::to_string(gid);
    with_space([&](char* space, size_t size) {
        struct group entry {};
        struct group* found = nullptr;
        const int code = getgrgid_r(gid, &entry, space, size, &found);
        if (found != nullptr) name = found->gr_name;
        return code;
    });
    return name;
}

std::optional<User> user_of(const struct passwd* entry) {
    if (entry == nullptr) return std::nullopt;
    return User{entry->pw_name, group_name(entry->pw_gid), entry->pw_dir, entry->pw_uid, entry->pw_gid};
}

}  // namespace

std::optional<User> find_user(const std::string& name) {
    std::optional<User> user;
    with_space([&](char* space, size_t size) {
        struct passwd entry {};
        struct passwd* found = nullptr;
        const int code = getpwnam_r(name.c_str(), &entry, space, size, &found);
        user = user_of(found);
        return code;
    });
    return user;
}

std::optional<User> find_user(uid_t uid) {
    std::optional<User> user;
    with_space([&](char* space, size_t size) {
        struct passwd entry {};
        struct passwd* found = nullptr;
        const int code = getpwuid_r(uid, &entry, space, size, &found);
        user = user_of(found);
        return code;
    });
    return user;
}

std::optional<gid_t> find_group(const std::string& name) {
    std::optional<gid_t> gid;
    with_space([&](char* space, size_t size) {
        struct group entry {};
        struct group* found = nullptr;
        const int code = getgrnam_r(name.c_str(), &entry, space, size, &found);
        if (found != nullptr) gid = found->gr_gid;
        return code;
    });
    return gid;
}

bool in_group(const User& user, const std::string& group) {
    const auto gid = find_group(group);
    if (!gid) return false;
    int count = 0;
    getgrouplist(user.name.c_str(), user.gid, nullptr, &count);
    std::vector<gid_t> gids(static_cast<size_t>(std::max(count, 1)));
    if (getgrouplist(user.name.c_str(), user.gid, gids.data(), &count) < 0) return false;
    gids.resize(static_cast<size_t>(count));
    return std::find(gids.begin(), gids.end(), *gid) != gids.end();
}

std::optional<User> RecentUsers::find(const std::string& name, int64_t now) {
    if (std::exchange(at_, now) != now) users_.clear();
    if (const auto known = users_.find(name); known != users_.end()) return known->second;
    auto user = find_user(name);
    if (user) users_.emplace(name, *user);
    return user;
}

}  // namespace pbs::host
