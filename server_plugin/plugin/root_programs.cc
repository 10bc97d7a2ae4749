#include "server_plugin/plugin/root_programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "migrate/sched_config.h"
#include "objects/program_file.h"

namespace pbs::plugin {
namespace {

constexpr const char* kHead =
    "# Programs of server_dyn_res that run with root's rights, as pbs_sched ran them. Each line is an "
    "element\n"
    "# of server_dyn_res as policies have it; any other runs as nobody. Only root may change this file.\n";

std::string path_of(const Host& host) {
    return fmt::format("{}/server_priv/root_programs", host.home());
}

// Whole and on the disk, or not at all. Empty, or why not.
std::string write_new(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".new";
    ::unlink(temporary.c_str());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fmt::format("{}: {}", temporary, error_text(errno));
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    int error = written ? 0 : errno;
    ::close(fd);
    if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return {};
    ::unlink(temporary.c_str());
    return fmt::format("{}: {}", path, error_text(error));
}

}  // namespace

const objects::RootPrograms& RootPrograms::listed(const Host& host) {
    const std::string path = path_of(host);
    const FileVersion version = version_of(path);
    // Folders above it may be others than before, too: it is asked each time whether it is safe.
    const auto safe =
        version == FileVersion{} ? tl::expected<void, std::string>() : objects::check_roots_file(path);
    if (!safe && safe.error() != said_)
        host.log(PBS_LOG_ERROR, "server_dyn_res",
                 fmt::format("{} doesn't count, so its programs run as nobody: {}", path, safe.error()));
    said_ = safe ? std::string() : safe.error();
    if (safe && version == version_) return listed_;
    version_ = safe ? version : FileVersion{};
    listed_ =
        safe ? objects::read_root_programs(path).value_or(objects::RootPrograms{}) : objects::RootPrograms{};
    return listed_;
}

tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs) {
    const std::string path = path_of(host);
    if (version_of(path) != FileVersion{}) return objects::read_root_programs(path);
    objects::RootPrograms all;
    for (const std::string& file : sched_configs) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        objects::RootPrograms found;
        for (const migrate::SchedSetting& setting : migrate::parse_sched_config(text.str(), file).settings)
            if (setting.option->name == "server_dyn_res")
                found.insert(objects::dynamic_resource(setting.value));
        if (found.empty()) continue;
        if (const auto safe = objects::check_roots_file(file); !safe)
            host.log(PBS_LOG_WARNING, "migration",
                     fmt::format("{}: its programs of server_dyn_res run as nobody: {}", file, safe.error()));
        else
            all.merge(found);
    }
    if (all.empty()) return all;
    std::string text = kHead;
    for (const std::string& element : all) text += element + "\n";
    if (const std::string why = write_new(path, text); !why.empty()) return tl::unexpected(why);
    return all;
}

}  // namespace pbs::plugin
