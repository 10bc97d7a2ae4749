#include "values/pbs_conf.h"

#include <fstream>
#include <string_view>
#include <utility>

#include "values/text.h"

namespace pbs::values {

std::string pbs_conf_path(std::string named) {
    return named.empty() ? "/etc/pbs.conf" : std::move(named);
}

std::map<std::string, std::string> read_pbs_conf(const std::string& path) {
    std::map<std::string, std::string> settings;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::string_view text = trim(line);
        const std::size_t equals = text.find('=');
        if (text.empty() || text.front() == '#' || equals == std::string_view::npos) continue;
        std::string_view value = trim(text.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
            value.back() == value.front()) {
            value = value.substr(1, value.size() - 2);
        }
        settings[std::string(trim(text.substr(0, equals)))] = std::string(value);
    }
    return settings;
}

}  // namespace pbs::values
