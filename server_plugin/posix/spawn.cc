#include "server_plugin/posix/spawn.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "text/pointers.h"

namespace pbs::posix {
namespace {

pid_t spawned(const std::string& program, const posix_spawn_file_actions_t& actions,
              const posix_spawnattr_t& attributes, std::vector<std::string>& arguments,
              char* const* environment) {
    pid_t pid = 0;
    const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes,
                                  text::pointers(arguments).data(), environment);
    return error == 0 ? pid : -error;
}

}  // namespace

Spawn::Spawn(Signals signals) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t blocked;
    sigset_t all;
    sigemptyset(&blocked);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, signals == Signals::blocked ? &all : &blocked);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

Spawn::~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
}

void Spawn::give(int fd, int as) {
    posix_spawn_file_actions_adddup2(&actions_, fd, as);
}

void Spawn::give_nothing(int as) {
    posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDWR, 0);
}

void Spawn::close_from(int fd) {
    posix_spawn_file_actions_addclosefrom_np(&actions_, fd);
}

pid_t Spawn::start(const std::string& program, std::vector<std::string> arguments) const {
    return spawned(program, actions_, attributes_, arguments, environ);
}

pid_t Spawn::start(const std::string& program, std::vector<std::string> arguments,
                   std::vector<std::string> environment) const {
    return spawned(program, actions_, attributes_, arguments, text::pointers(environment).data());
}

}  // namespace pbs::posix
