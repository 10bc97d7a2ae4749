// Looks up users and groups of this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::host {

// An entry of the passwd database.
struct Account {
    std::string name;
    std::string home;
    std::string shell;  // empty: none
    uid_t uid = 0;
    gid_t gid = 0;
};

struct User {
    std::string name;
    std::string group;  // name of the login group, or its number if it has no name
    std::string home;
    uid_t uid = 0;
    gid_t gid = 0;
};

// nullopt: there is no such user, or the look-up has failed. `error`: set to the error's number if it has
// failed, for example for want of an answer of the directory service; else to 0.
std::optional<Account> find_account(const std::string& name, int& error);

// nullopt: there is no such user or group, or the look-up has failed. `error`: set to the error's number if
// it, or that of the user's login group, has failed, for example for want of memory or of an answer of the
// directory service; else to 0. Without `error`, a login group that can't be looked up has its number.
std::optional<User> find_user(const std::string& name, int* error = nullptr);
std::optional<User> find_user(uid_t uid);
std::optional<gid_t> find_group(const std::string& name, int* error = nullptr);
// Says that the look-up of a user or group (`kind`) has failed.
std::string not_looked_up(std::string_view kind, std::string_view name, int error);
// False: the user isn't in the group, or a look-up has failed (`error`).
bool in_group(const User& user, const std::string& group, int* error);

// Remembers the users that were looked up in the current second, and for five seconds that a look-up has
// failed. If many jobs of a user arrive or start at once, one look-up, which a directory service may answer
// slowly, is enough for them. A user who isn't found is looked up each time.
class RecentUsers {
  public:
    // `now`: seconds since the Epoch. `error`: as of find_user().
    std::optional<User> find(const std::string& name, int64_t now, int& error);

  private:
    struct Failure {
        int error = 0;
        int64_t begin = 0;
        int64_t end = 0;  // later than `begin` if the directory service took its time
    };
    std::map<std::string, User> users_;
    std::map<std::string, Failure> failures_;
    int64_t at_ = 0;
};

}  // namespace pbs::host
