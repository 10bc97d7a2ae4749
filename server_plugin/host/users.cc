#include "server_plugin/host/users.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <vector>

namespace pbs::host {
namespace {

// glibc asks for at most a few kilobytes an entry; large groups need more.
constexpr size_t entry_space = size_t{1} << 20;

std::string group_name(gid_t gid) {
    std::vector<char> space(entry_space);
    struct group entry {};
    struct group* found = nullptr;
    if (getgrgid_r(gid, &entry, space.data(), space.size(), &found) == 0 && found != nullptr)
        return found->gr_name;
    return std::to_string(gid);
}

std::optional<User> user_of(const struct passwd* entry) {
    if (entry == nullptr) return std::nullopt;
    return User{entry->pw_name, group_name(entry->pw_gid), entry->pw_dir, entry->pw_uid, entry->pw_gid};
}

}  // namespace

std::optional<User> find_user(const std::string& name) {
    std::vector<char> space(entry_space);
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found) != 0) return std::nullopt;
    return user_of(found);
}

std::optional<User> find_user(uid_t uid) {
    std::vector<char> space(entry_space);
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (getpwuid_r(uid, &entry, space.data(), space.size(), &found) != 0) return std::nullopt;
    return user_of(found);
}

std::optional<gid_t> find_group(const std::string& name) {
    std::vector<char> space(entry_space);
    struct group entry {};
    struct group* found = nullptr;
    if (getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return found->gr_gid;
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

}  // namespace pbs::host
