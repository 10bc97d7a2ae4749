#include "tools/simulate/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pbs::simulate {
namespace {

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

tl::unexpected<std::string> broken(const char* what, const std::string& file) {
    const std::string name = file != "-" ? file : what[0] == 'r' ? "standard input" : "standard output";
    return tl::unexpected(fmt::format("can't {} {}: {}", what, name, std::strerror(errno)));
}

}  // namespace

Result<std::string> read_file(const std::string& file) {
    const bool standard = file == "-";
    const File opened(standard ? nullptr : std::fopen(file.c_str(), "rb"));
    std::FILE* const in = standard ? stdin : opened.get();
    if (in == nullptr) return broken("read", file);
    std::string text;
    char buffer[65536];
    while (const std::size_t read = std::fread(buffer, 1, sizeof buffer, in)) text.append(buffer, read);
    if (std::ferror(in) != 0) return broken("read", file);
    return text;
}

Result<void> write_file(const std::string& file, const std::string& text) {
    const bool standard = file == "-";
    File opened(standard ? nullptr : std::fopen(file.c_str(), "wb"));
    std::FILE* const out = standard ? stdout : opened.get();
    if (out == nullptr) return broken("write", file);
    const bool written =
        std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
    if (!written) return broken("write", file);
    if (opened && std::fclose(opened.release()) != 0) return broken("write", file);
    return {};
}

}  // namespace pbs::simulate
