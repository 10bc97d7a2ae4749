#include "server_plugin/plugin/root_programs.h"

#include <fmt/format.h>

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

}  // namespace

const objects::RootPrograms& RootPrograms::listed(const Host& host) {
    const std::string path = path_of(host);
    const bool there = version_of(path) != FileVersion{};
    // Check each time whether only root can change the file: permissions of folders above it may have
    // changed.
    const auto file = there ? objects::roots_file(path) : tl::expected<std::string, std::string>();
    if (!file && file.error() != said_)
        host.log(PBS_LOG_ERROR, "server_dyn_res",
                 fmt::format("{} doesn't count, so its programs run as nobody: {}", path, file.error()));
    said_ = file ? std::string() : file.error();
    const FileVersion version = there && file ? version_of(*file) : FileVersion{};
    if (version == version_) return listed_;
    version_ = version;
    listed_ = version == FileVersion{} ? objects::RootPrograms{}
                                       : objects::read_root_programs(path).value_or(objects::RootPrograms{});
    return listed_;
}

tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs) {
    const std::string path = path_of(host);
    if (version_of(path) != FileVersion{}) return objects::read_root_programs(path);
    objects::RootPrograms all;
    for (const std::string& name : sched_configs) {
        if (version_of(name) == FileVersion{}) continue;
        const auto file = objects::roots_file(name);
        if (!file) {
            host.log(PBS_LOG_WARNING, "migration",
                     fmt::format("{}: its programs of server_dyn_res run as nobody: {}", name, file.error()));
            continue;
        }
        std::ostringstream text;
        text << std::ifstream(*file, std::ios::binary).rdbuf();
        for (const migrate::SchedSetting& setting : migrate::parse_sched_config(text.str(), name).settings)
            if (setting.option->name == "server_dyn_res")
                all.insert(objects::dynamic_resource(setting.value));
    }
    if (all.empty()) return all;
    std::string text = kHead;
    for (const std::string& element : all) text += element + "\n";
    if (const std::string why = replace_file(path, text, 0600); !why.empty()) return tl::unexpected(why);
    return all;
}

}  // namespace pbs::plugin
