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

// Two cycles never overlap, so nobody reads a half-written list but a person who looks at it.
std::string write_whole(int fd, std::string_view text) {
    if (ftruncate(fd, 0) != 0) return error_text(errno);
    while (!text.empty()) {
        const ssize_t n = write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_text(errno);
        text.remove_prefix(static_cast<size_t>(n));
    }
    return {};
}

}  // namespace

std::string write_dump_file(const DumpTarget& target, std::string_view text) {
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
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (file.get() < 0) return fmt::format("{}: {}", path, error_text(errno));
    struct stat info {};
    if (fstat(file.get(), &info) != 0) return fmt::format("{}: {}", path, error_text(errno));
    if (!S_ISREG(info.st_mode)) return fmt::format("{} is not a regular file", path);
    const std::string why = write_whole(file.get(), text);
    return why.empty() ? why : fmt::format("{}: {}", path, why);
}

}  // namespace pbs::plugin
