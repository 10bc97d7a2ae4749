#include "server_plugin/host/base/mom_config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "server_plugin/host/base/posix.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {

namespace {

std::string_view take_word(std::string_view& line) {
    line = values::trim(line);
    const std::string_view word(line.begin(), std::ranges::find_if(line, values::is_space));
    line.remove_prefix(word.size());
    return word;
}

// Reads the words after "$action checkpoint_abort". Returns nullopt if they are malformed.
std::optional<CheckpointAction> checkpoint_action(std::string_view line) {
    CheckpointAction action;
    const auto seconds = values::number<int>(take_word(line));
    if (!seconds || *seconds <= 0) return std::nullopt;
    action.timeout = std::chrono::seconds(*seconds);
    const auto program = take_word(line);
    if (!program.starts_with("!/")) return std::nullopt;
    action.program = program.substr(1);
    for (auto argument = take_word(line); !argument.empty(); argument = take_word(line))
        action.arguments.emplace_back(argument);
    return action;
}

// Reads a load average above 0, and returns it in thousandths.
std::optional<int64_t> load_value(std::string_view text) {
    constexpr double kMost = 1e9;
    const auto load = values::decimal(text);
    if (!load || *load < 0.001 || *load > kMost) return std::nullopt;
    return static_cast<int64_t>(*load * 1000);
}

// Reads a value that is on or off, in the words of Torque's MoM.
std::optional<bool> on_or_off(std::string_view word) {
    const auto is_word = [&](std::string_view other) { return values::same_word(word, other); };
    if (std::ranges::any_of(std::array{"true", "t", "yes", "y", "on", "1"}, is_word)) return true;
    if (std::ranges::any_of(std::array{"false", "f", "no", "n", "off", "0"}, is_word)) return false;
    return std::nullopt;
}

MomConfig not_read(const std::string& path, const std::string& why) {
    MomConfig config;
    config.notes.push_back(fmt::format("{} is not read: {}", path, why));
    return config;
}

}  // namespace

MomConfig parse_mom_config(std::string_view text, const std::string& name) {
    MomConfig config;
    for (int number = 1; !text.empty(); ++number) {
        std::string_view line = values::take_line(text);
        const auto directive = take_word(line);
        if (directive.empty() || directive.starts_with('#')) continue;
        auto what = take_word(line);
        if (directive == "$action" && what == "checkpoint_abort") {
            config.checkpoint = checkpoint_action(line);
            if (!config.checkpoint)
                config.notes.push_back(
                    fmt::format("{} line {}: expected $action checkpoint_abort, a number of seconds above 0, "
                                "and the absolute "
                                "path of a program after an exclamation mark",
                                name, number));
            continue;
        }
        if (directive == "$max_load" || directive == "$ideal_load") {
            if (const auto load = load_value(what))
                (directive == "$max_load" ? config.load.max : config.load.ideal) = *load;
            else
                config.notes.push_back(fmt::format("{} line {}: expected {} and a load average above 0", name,
                                                   number, directive));
            continue;
        }
        if (directive == "$source_login_batch") {
            if (const auto is_on = on_or_off(what))
                config.login_shell = *is_on;
            else
                config.notes.push_back(
                    fmt::format("{} line {}: expected {} and true or false", name, number, directive));
            continue;
        }
        const bool on = !what.starts_with('!');
        if (!on) what.remove_prefix(1);
        if (directive == "$enforce" && what == "mem") {
            config.enforce_mem = on;
        } else if (directive == "$enforce" && what == "vmem") {
            config.enforce_vmem = on;
        } else {
            config.notes.push_back(
                fmt::format("{} line {}: \"{}{}{}\" has no effect; expected $enforce mem, "
                            "$enforce vmem, $max_load, $ideal_load, $source_login_batch and $action "
                            "checkpoint_abort",
                            name, number, directive, what.empty() ? "" : " ", what));
        }
    }
    return config;
}

MomConfig read_mom_config(const std::string& home) {
    const std::string path = home + "/mom_priv/config";
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return errno == ENOENT ? MomConfig() : not_read(path, system_text(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return not_read(path, system_text(errno));
    if (!S_ISREG(status.st_mode)) return not_read(path, "it is not a file");
    if ((status.st_uid != 0 && status.st_uid != ::geteuid()) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return not_read(path, "others than root and the server's user may write it");
    const auto text = read_fd(file.get(), path, 65536);
    return text ? parse_mom_config(*text, path) : not_read(path, text.error().message);
}

}  // namespace pbs::host
