#include "server_plugin/plugin/dump_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "server_plugin/plugin/file.h"

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

// Is `folder` (without links) HOME/sched_priv* or below?
bool in_sched_priv(const fs::path& home, const fs::path& folder) {
    const fs::path below = folder.lexically_relative(home);
    return !below.empty() && below.begin()->string().starts_with("sched_priv");
}

std::string write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_text(errno);
        text.remove_prefix(static_cast<size_t>(n));
    }
    return {};
}

// Two cycles never overlap, so nobody reads a half-written list but a person who looks at it.
std::string put(const DumpTarget& target, std::string_view text, bool append) {
    const fs::path base =
        target.sched_priv.empty() ? fs::path(target.home) / "sched_priv" : fs::path(target.sched_priv);
    const fs::path wanted = base / target.path;  // an absolute path stays as it is
    std::error_code failed;
    const fs::path folder = fs::canonical(wanted.parent_path(), failed);
    if (failed) return fmt::format("{}: {}", wanted.parent_path().string(), failed.message());
    const fs::path home = fs::canonical(target.home, failed);
    if (failed) return fmt::format("{}: {}", target.home, failed.message());
    if (!in_sched_priv(home, folder)) {
        return fmt::format("{} is not below {}, expected a path there", wanted.string(),
                           (home / "sched_priv").string());
    }
    const std::string path = (folder / wanted.filename()).string();
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (append ? O_APPEND : 0);
    const Descriptor file(open(path.c_str(), flags, 0600));
    if (file.get() < 0) return fmt::format("{}: {}", path, error_text(errno));
    struct stat info {};
    if (fstat(file.get(), &info) != 0) return fmt::format("{}: {}", path, error_text(errno));
    if (!S_ISREG(info.st_mode)) return fmt::format("{} is not a regular file", path);
    if (!append && ftruncate(file.get(), 0) != 0) return fmt::format("{}: {}", path, error_text(errno));
    const std::string why = write_all(file.get(), text);
    return why.empty() ? why : fmt::format("{}: {}", path, why);
}

}  // namespace

std::string write_dump_file(const DumpTarget& target, std::string_view text) {
    return put(target, text, false);
}

std::string append_dump_file(const DumpTarget& target, std::string_view text) {
    return put(target, text, true);
}

}  // namespace pbs::plugin
