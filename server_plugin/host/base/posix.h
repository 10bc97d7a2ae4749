// POSIX calls that the host makes again and again: whole reads and writes, locks, and what is at a path.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "server_plugin/host/base/error.h"
#include "values/fd.h"

namespace pbs::host {

using values::Fd;

// "No space left on device", for the errno value given.
std::string system_text(int error);

// Writes all of it; false with errno set otherwise (part of it may have been written).
bool write_all(int fd, std::string_view text);

// The whole file, up to `limit` bytes; larger is an error. The error says which file and why.
Result<std::string> read_file(const std::string& path, std::size_t limit = 64 * 1024 * 1024);
Result<std::string> read_fd(int fd, const std::string& name, std::size_t limit = 64 * 1024 * 1024);

// A new file at the path, in the place of whatever was there, for `uid` and `gid` (given by root only), open
// for reading and appending. No descriptor, and errno set, if that fails. The directory is to be one where no
// one else can put things, or sticky.
Fd new_file_for(const std::string& path, mode_t mode, uid_t uid, gid_t gid);

// A record lock (fcntl(2)) on one byte of a file, for the life of this process or until it closes any
// descriptor of the file. False if another process has it.
bool lock_byte(int fd, off_t byte);
// The process that has it; 0: none has.
pid_t lock_holder(int fd, off_t byte);

// Is there something at a path? A symbolic link counts as something, unless it is to be followed: then what
// it points to counts. `unknown`, with errno set: it can't be told, and nothing may be decided by it.
enum class Existence { there, gone, unknown };
enum class Links { kept, followed };
Existence look_for(const std::string& path, Links links = Links::kept);

// Makes renames and new names in a directory durable.
bool sync_directory(const std::string& path);

}  // namespace pbs::host
