// Users and groups of this machine.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace pbs::host {

struct User {
    std::string name;
    std::string group;  // the login group's name, or its number
    std::string home;
    uid_t uid = 0;
    gid_t gid = 0;
};

std::optional<User> find_user(const std::string& name);
std::optional<User> find_user(uid_t uid);
std::optional<gid_t> find_group(const std::string& name);
bool in_group(const User& user, const std::string& group);

}  // namespace pbs::host
