#include "values/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "values/fd.h"

namespace pbs::values {

int write_new_file(const std::string& path, std::string_view text, mode_t permissions) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions));
    if (!file) return errno;
    if (write_all(file.get(), text) && ::fsync(file.get()) == 0) return 0;
    const int error = errno;
    ::unlink(path.c_str());
    return error;
}

}  // namespace pbs::values
