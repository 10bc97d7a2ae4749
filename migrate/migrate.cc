#include "migrate/migrate.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "migrate/convert.h"
#include "objects/store.h"

namespace pbs::migrate {
namespace {

constexpr const char* kSystemHolidays = "/usr/lib/acct/holidays";
constexpr std::uintmax_t kLargest = 16U << 20U;

// Errors that no line of a file is to blame for.
tl::unexpected<Problems> fail(const std::string& file, std::string message) {
    return tl::unexpected(Problems{{file, 0, 0, "", std::move(message)}});
}

Result<std::string> read_file(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error) return fail(path, fmt::format("can't be read: {}", error.message()));
    if (!std::filesystem::is_regular_file(status)) return fail(path, "is not a file");
    const auto size = std::filesystem::file_size(path, error);
    if (error || size > kLargest)
        return fail(path, fmt::format("is too large, expected at most {} bytes", kLargest));
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    errno = 0;
    if (!in || (size > 0 && !(text << in.rdbuf())))
        return fail(path, fmt::format("can't be read: {}", std::strerror(errno)));
    return std::move(text).str();
}

// Parses a file, or adds what is wrong with it to `problems`.
template <class Parse>
auto read(const std::string& path, const Parse& parse, Problems& problems)
    -> std::optional<typename decltype(parse(std::string_view{}, path))::value_type> {
    const auto text = read_file(path);
    if (!text) {
        problems.insert(problems.end(), text.error().begin(), text.error().end());
        return std::nullopt;
    }
    auto parsed = parse(*text, path);
    if (parsed) return std::move(*parsed);
    problems.insert(problems.end(), parsed.error().begin(), parsed.error().end());
    return std::nullopt;
}

bool is_file(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

Result<Conversion> read_and_convert_sched_config(const LegacyFiles& files, const objects::Snapshot* current,
                                                 const Surroundings& server) {
    Problems problems;
    std::optional<PbsHolidays> holidays;
    const auto config = read(files.sched_config, parse_sched_config, problems);
    if (!files.holidays.empty()) holidays = read(files.holidays, parse_pbs_holidays, problems);
    std::optional<DedicatedTime> dedicated;
    if (!files.dedicated_time.empty()) dedicated = read(files.dedicated_time, parse_dedicated_time, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return convert(*config, holidays, server, current, dedicated);
}

}  // namespace

LegacyFiles find_legacy_files(const std::string& home) {
    LegacyFiles files;
    for (const char* name : {"config", "CONFIGFILE"}) {
        files.config = home + "/sched_priv/" + name;
        if (is_file(files.config)) break;
        files.config.clear();
    }
    if (files.config.empty()) {
        files.sched_config = home + "/sched_priv/sched_config";
        if (!is_file(files.sched_config)) files.sched_config.clear();
        files.holidays = home + "/sched_priv/holidays";
        if (files.sched_config.empty() || !is_file(files.holidays)) files.holidays.clear();
        files.dedicated_time = home + "/sched_priv/dedicated_time";
        if (files.sched_config.empty() || !is_file(files.dedicated_time)) files.dedicated_time.clear();
        return files;
    }
    files.holidays = home + "/sched_priv/holidays";
    if (!is_file(files.holidays)) files.holidays = is_file(kSystemHolidays) ? kSystemHolidays : "";
    return files;
}

Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server) {
    if (!files.sched_config.empty()) return read_and_convert_sched_config(files, current, server);
    Problems problems;
    std::optional<ConfigFile> config;
    std::optional<HolidaysFile> holidays;
    if (!files.config.empty()) config = read(files.config, parse_configfile, problems);
    const Setting* enforce = config ? config->find("ENFORCE_PRIME_TIME") : nullptr;
    const bool system_file_matters = enforce != nullptr && enforce->on();
    if (!files.holidays.empty() && (files.holidays != kSystemHolidays || system_file_matters))
        holidays = read(files.holidays, parse_origin_holidays, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return convert(config, holidays, current);
}

Result<Report> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                       std::chrono::sys_seconds now, const Surroundings& server) {
    auto conversion = read_and_convert(files, store.snapshot().get(), server);
    if (!conversion) return tl::unexpected(std::move(conversion.error()));
    // Queues and resources may be made later: what isn't there yet is told in the report.
    conversion->changes.unknown_names = objects::UnknownNames::warn;
    if (!conversion->changes.commands.empty()) {
        const auto reply = store.apply(conversion->changes, identity, now);
        if (!reply) return fail("", reply.error().message);
        auto& notes = conversion->report.notes;
        notes.insert(notes.end(), reply->warnings.begin(), reply->warnings.end());
    }
    return std::move(conversion->report);
}

Result<Report> first_start(const std::string& home, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server) {
    const LegacyFiles files = find_legacy_files(home);
    if (files.empty()) return Report{};
    return migrate(files, store, identity, now, server);
}

}  // namespace pbs::migrate
