// Wrappers for POSIX calls that the host makes often: complete reads, locks, and checks of paths.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <memory>
#include <string>

#include "server_plugin/host/base/error.h"
#include "values/fd.h"
#include "values/text.h"

namespace pbs::host {

using values::Fd;
using values::system_text;
using values::write_all;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using OpenDirectory = std::unique_ptr<DIR, CloseDirectory>;

// Returns whether an error may pass by itself, because it is a lack of memory, descriptors, processes or
// space on a disk.
bool may_pass(int error);

// Reads the whole file or descriptor. A file longer than `limit` bytes is an error. The error says which file
// and why.
Result<std::string> read_file(const std::string& path, std::size_t limit = 64 * 1024 * 1024);
Result<std::string> read_fd(int fd, const std::string& name, std::size_t limit = 64 * 1024 * 1024);

// Makes a new file at the path, replacing any file there. The file is owned by `uid` and `gid` (only root can
// give files away), and open for reading and appending. On failure returns no descriptor, and sets errno.
// REQUIRES: nobody else can make names in the directory, unless it is sticky.
Fd new_file_for(const std::string& path, mode_t mode, uid_t uid, gid_t gid);

// Makes a directory with this mode, whatever the umask. False: it failed, and errno is set; EEXIST: something
// of that name is there.
bool make_directory(const std::string& path, mode_t mode);

// Takes a record lock (fcntl(2)) on one byte of a file, for the life of this process or until it closes any
// descriptor of the file. Returns false if another process has the lock.
bool lock_byte(int fd, off_t byte);
// Returns the process that holds the lock on the byte; 0: no process holds it.
pid_t lock_holder(int fd, off_t byte);

// The result of look_for(). `unknown`, with errno set: the system couldn't tell, so make no decision by it.
enum class Existence { there, gone, unknown };
// The treatment of symbolic links. `kept`: a link is itself a file. `followed`: its target counts.
enum class Links { kept, followed };
// Returns whether there is a file at the path.
Existence look_for(const std::string& path, Links links = Links::kept);
inline bool is_there(const std::string& path, Links links = Links::kept) {
    return look_for(path, links) == Existence::there;
}

// Renames a file, unless there is a file of the new name. False: it failed, and errno is set; EEXIST: there
// is one. REQUIRES, on a file system without RENAME_NOREPLACE: nobody else makes the new name meanwhile.
bool rename_new(const std::string& from, const std::string& to);

// Makes renames and new names in a directory durable. False: it failed, and errno is set.
bool sync_directory(const std::string& path);

}  // namespace pbs::host
