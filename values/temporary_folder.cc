#include "values/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "values/text.h"

namespace pbs::values {

tl::expected<TemporaryFolder, std::string> TemporaryFolder::make(std::string_view program) {
    const auto failed = [](const std::string& path, const std::string& why) {
        return tl::unexpected(fmt::format("can't make a temporary folder {}: {}", path, why));
    };
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    const std::string pattern = (parent / fmt::format("{}.XXXXXX", program)).string();
    if (error) return failed(pattern, error.message());
    std::string path = pattern;
    if (mkdtemp(path.data()) == nullptr) return failed(pattern, system_text(errno));
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace pbs::values
