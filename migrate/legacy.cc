#include "migrate/legacy.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <tl/expected.hpp>
#include <utility>

#include "migrate/grid_engine/folder.h"
#include "migrate/read_file.h"
#include "objects/plain_file.h"

namespace pbs::migrate {
namespace {

constexpr const char* kSystemHolidays = "/usr/lib/acct/holidays";

constexpr std::array kKinds{
    LegacyKind{"config", &LegacyFiles::config, &LegacyTexts::config},
    LegacyKind{"sched_config", &LegacyFiles::sched_config, &LegacyTexts::sched_config},
    LegacyKind{"holidays", &LegacyFiles::holidays, &LegacyTexts::holidays},
    LegacyKind{"dedicated_time", &LegacyFiles::dedicated_time, &LegacyTexts::dedicated_time},
    LegacyKind{"resource_group", &LegacyFiles::resource_group, &LegacyTexts::resource_group},
    LegacyKind{"sched_formula", &LegacyFiles::sched_formula, &LegacyTexts::sched_formula},
    LegacyKind{"qmgr_print", &LegacyFiles::qmgr_print, &LegacyTexts::qmgr_print},
    LegacyKind{"resourcedef", &LegacyFiles::resourcedef, &LegacyTexts::resourcedef},
    LegacyKind{"usage", &LegacyFiles::usage, &LegacyTexts::usage},
    LegacyKind{"decay_usage", &LegacyFiles::decay_usage, &LegacyTexts::decay_usage},
    LegacyKind{"allocations", &LegacyFiles::allocations, &LegacyTexts::allocations},
    LegacyKind{"current", &LegacyFiles::current, &LegacyTexts::current},
    LegacyKind{"grid_engine", &LegacyFiles::grid_engine, &LegacyTexts::grid_engine},
};

// Returns the reason for which the server must not read this file of a home; empty: it may.
std::string objection(const std::string& path, const std::string& home) {
    std::error_code error;
    const bool link = std::filesystem::is_symlink(path, error);
    const std::string target = link ? std::filesystem::canonical(path, error).string() : path;
    if (error) return fmt::format("can't be read: {}", error.message());
    const auto file = objects::open_plain_file(target, link ? "" : home);
    if (file) ::close(*file);
    if (file) return {};
    return link ? "is a symbolic link, expected a file, or a link to one that everybody may read"
                : file.error();
}

// Returns the path if it names anything, readable or not; else an empty text. A link to nowhere or a folder
// without permission must not look like a site without the file.
std::string if_there(const std::string& path) {
    struct stat info {};
    const bool gone = ::lstat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
    return gone ? std::string() : path;
}

void add(Problems& to, const Problems& more) {
    to.insert(to.end(), more.begin(), more.end());
}

Result<std::string> read_one(const LegacyKind& kind, const std::string& path) {
    if (kind.file == &LegacyFiles::grid_engine) return grid_engine::read_folder(path);
    auto text = read_file(path);
    if (!text) return refuse_file(path, std::move(text.error()));
    return std::move(*text);
}

// Parses a text. If that fails, adds its problems to `problems`.
template <class Parsed>
void parse_text(const std::optional<LegacyText>& text,
                Result<Parsed> (*parse)(std::string_view, const std::string&), std::optional<Parsed>& out,
                Problems& problems) {
    if (!text) return;
    auto parsed = parse(text->text, text->file);
    if (parsed) {
        out = std::move(*parsed);
    } else {
        add(problems, parsed.error());
    }
}

// Parses a text whose parser always succeeds. Adds the mistakes in it to `mistakes`.
template <class Parsed>
void parse_text(const std::optional<LegacyText>& text, Parsed (*parse)(std::string_view, const std::string&),
                std::optional<Parsed>& out, Problems& mistakes) {
    if (!text) return;
    out = parse(text->text, text->file);
    add(mistakes, out->mistakes);
}

// Moves the text of sched_config to `config` if it is the configuration of an Origin scheduler.
LegacyTexts by_content(const LegacyTexts& given, Problems& mistakes) {
    LegacyTexts texts = given;
    if (texts.config || !texts.sched_config || !is_configfile(texts.sched_config->text)) return texts;
    mistakes.push_back({texts.sched_config->file, 0, 0, "",
                        "holds options of an Origin scheduler, expected those of sched_config", false,
                        "it is read as an Origin scheduler's configuration file, and so are holidays beside "
                        "it; other files of PBS beside it are left out"});
    texts.config = std::exchange(texts.sched_config, std::nullopt);
    for (auto other : {&LegacyTexts::dedicated_time, &LegacyTexts::resource_group,
                       &LegacyTexts::sched_formula, &LegacyTexts::resourcedef, &LegacyTexts::usage})
        (texts.*other).reset();
    return texts;
}

bool observes_prime_time(const std::optional<ConfigFile>& config) {
    const Setting* enforce = config ? config->find("ENFORCE_PRIME_TIME") : nullptr;
    return enforce != nullptr && enforce->on();
}

}  // namespace

bool LegacyFiles::empty() const {
    return std::ranges::all_of(kKinds, [&](const LegacyKind& kind) { return (this->*kind.file).empty(); });
}

std::span<const LegacyKind> legacy_kinds() {
    return kKinds;
}

LegacyFiles find_legacy_files(const std::string& home) {
    const std::string folder = home + "/sched_priv/";
    LegacyFiles files;
    for (const char* name : {"config", "CONFIGFILE"})
        if (files.config.empty()) files.config = if_there(folder + name);
    if (!files.config.empty()) {
        files.holidays = if_there(folder + "holidays");
        if (files.holidays.empty()) files.holidays = if_there(kSystemHolidays);
        files.decay_usage = if_there(folder + "decay_usage");
        files.qmgr_print = if_there(folder + "qmgr_print");
        return files;
    }
    files.sched_config = if_there(folder + "sched_config");
    if (files.sched_config.empty()) return files;
    files.holidays = if_there(folder + "holidays");
    files.dedicated_time = if_there(folder + "dedicated_time");
    files.resource_group = if_there(folder + "resource_group");
    files.sched_formula = if_there(folder + "sched_formula");
    files.qmgr_print = if_there(folder + "qmgr_print");
    files.resourcedef = if_there(home + "/server_priv/resourcedef");
    files.usage = if_there(folder + "usage");
    return files;
}

LegacyFiles find_files_of_sched(const std::string& folder) {
    LegacyFiles files;
    files.sched_config = if_there(folder + "/sched_config");
    if (files.sched_config.empty()) return files;
    files.resource_group = if_there(folder + "/resource_group");
    files.sched_formula = if_there(folder + "/sched_formula");
    return files;
}

LegacyTexts read_files(const LegacyFiles& files, Problems& problems, const std::string& home) {
    LegacyTexts texts;
    for (const LegacyKind& kind : kKinds) {
        const std::string& path = files.*kind.file;
        if (path.empty()) continue;
        const std::string why_not = home.empty() ? "" : objection(path, home);
        auto text = why_not.empty() ? read_one(kind, path) : refuse_file(path, why_not);
        if (text) {
            texts.*kind.text = LegacyText{path, std::move(*text)};
        } else {
            add(problems, text.error());
        }
    }
    return texts;
}

Result<Legacy> parse(const LegacyTexts& given, bool strict) {
    Legacy legacy;
    Problems problems;
    Problems& mistakes = legacy.mistakes;
    const LegacyTexts texts = by_content(given, mistakes);
    parse_text(texts.config, parse_configfile, legacy.config, problems);
    if (legacy.config) add(mistakes, legacy.config->mistakes);
    parse_text(texts.sched_config, parse_sched_config, legacy.sched_config, mistakes);
    const bool alone = !texts.sched_config && !texts.config && texts.holidays;
    if (texts.sched_config || (alone && is_pbs_holidays(texts.holidays->text))) {
        parse_text(texts.holidays, parse_pbs_holidays, legacy.pbs_holidays, mistakes);
    } else if (texts.holidays &&
               (texts.holidays->file != kSystemHolidays || observes_prime_time(legacy.config))) {
        parse_text(texts.holidays, parse_origin_holidays, legacy.origin_holidays, mistakes);
    }
    parse_text(texts.dedicated_time, parse_dedicated_time, legacy.dedicated_time, mistakes);
    parse_text(texts.resource_group, parse_resource_group, legacy.resource_group, mistakes);
    parse_text(texts.sched_formula, parse_sched_formula, legacy.sched_formula, mistakes);
    parse_text(texts.qmgr_print, parse_qmgr_print, legacy.qmgr_print, mistakes);
    parse_text(texts.resourcedef, parse_resourcedef, legacy.resourcedef, mistakes);
    parse_text(texts.usage, parse_fairshare_usage, legacy.usage, mistakes);
    parse_text(texts.decay_usage, parse_decay_usage, legacy.decay_usage, mistakes);
    parse_text(texts.allocations, parse_allocations, legacy.allocations, mistakes);
    parse_text(texts.current, parse_current_usage, legacy.current, mistakes);
    parse_text(texts.grid_engine, parse_grid_engine, legacy.grid_engine, problems);
    if (strict) add(problems, std::exchange(mistakes, {}));
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return legacy;
}

}  // namespace pbs::migrate
