// Reads the sched_config file of the schedulers of PBS and TORQUE (OpenPBS, src/scheduler/pbs_sched_config;
// TORQUE, pbs_sched).
//
// Format: a line is empty; a comment, which begins with '#' or '*' after any white space; or
//
//     option: value [column] [# comment]
//
// The colon may be left out, and white space may surround it. A value that contains white space stands in
// double or single quotes. The column says when the value holds: prime, non_prime, all (the default), or
// none, with which the line sets nothing; case doesn't matter. A later value replaces an earlier one in the
// columns that it has; job_sort_key, key, node_sort_key, peer_queue, server_dyn_res and the like append.
// Times are [[HH:]MM:]SS. A line that ends with a backslash goes on in the next one.
//
// Mistakes are lines that the older schedulers logged before they went on: an unknown option or a bad value
// had no effect; any word but false was read as True; with an unknown column the value held at all times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// The form of the value of an option in sched_config.
enum class SchedArgument : std::uint8_t {
    boolean,        // True or False in any case, or a number
    backfill,       // True or False, which becomes a depth of 1 or 0
    integer,        // not negative
    log_filter,     // bits of classes of events that aren't logged
    time,           // [[HH:]MM:]SS
    factor,         // between 0 and 1
    text,           // any text that the attribute takes
    job_sort_key,   // "resource HIGH|LOW"
    node_sort_key,  // "resource HIGH|LOW [total|assigned|unused]"
    sort_nodes,     // True or False, which becomes a node_sort_key
    sort_by,        // the name of an order, or multi_sort
    key,            // the name of an order
    resources,      // names separated by commas
    prefix,         // beginning of queues' names
    distribution,   // pack, round_robin or lowest_load
    any,
};

// A prefix that no queue's name has, since names don't begin with '-'. Without a line for the option,
// pbs_sched used the empty prefix, which every queue's name has.
inline constexpr std::string_view kNoPrefix = "-none-";

// All classes of events in the log, a bit each, except the class of lines that are always logged (OpenPBS,
// log.h).
inline constexpr std::int64_t kAllEvents = 8191;

// The objects that get an option's value as an attribute. removed: there is no such attribute.
enum class SchedTarget : std::uint8_t { policy, fs_group, removed };

enum SchedOptionFlag : std::uint8_t {
    one_value = 0,
    by_time = 1,  // has a column: prime and non-prime time may differ
    repeats = 2,  // later lines add to the value
    torque = 4,   // read only by TORQUE, or by the scheduler that TORQUE and OpenPBS come from
};

// A row of the table of options.
struct SchedOption {
    std::string_view name;
    SchedArgument argument;
    SchedTarget target;
    std::string_view attribute;  // of the policy or fs_group; empty: the option is removed
    unsigned flags = one_value;  // combined SchedOptionFlag
    // The attribute's value if the file lacks the option, and the old schedulers had another default than the
    // attribute. Empty: the attribute keeps its default.
    std::string_view absent{};
    std::string_view instead{};  // for a removed option: the reason, and the replacement
};

// Returns all options in the files of PBS Professional, OpenPBS and TORQUE (sched_config_options.cc).
std::span<const SchedOption> sched_options();

// The times at which a setting holds, as bits.
inline constexpr unsigned kPrimeTime = 1;
inline constexpr unsigned kNonPrimeTime = 2;
inline constexpr unsigned kAllTime = kPrimeTime | kNonPrimeTime;

struct SchedSetting {
    const SchedOption* option = nullptr;
    std::string value;            // the attribute's value or element as text; the file's text if the option
                                  // has no attribute
    unsigned columns = kAllTime;  // columns in which the setting is in force at the end of the file
    int line = 0;
    int column = 0;  // column of the value in its line
};

struct SchedConfig {
    std::string file;
    std::vector<SchedSetting> settings;  // in force in at least one column, in the order of the lines
    std::vector<std::string> notes;      // remarks on legal lines, such as values that are replaced later
    // Unknown options and columns, missing or bad values, missing quotes, unprintable bytes, and two options
    // for the order of jobs, each with its consequence.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
SchedConfig parse_sched_config(std::string_view text, const std::string& file);

// Reads a value and returns it as the attribute's text. The error says what was expected instead.
tl::expected<std::string, std::string> read_sched_argument(const SchedOption& option, std::string_view text);

// Returns how the older schedulers read a bad word for a boolean: "False" for a word that begins with the
// number 0, else "True". nullopt: the option isn't boolean.
std::optional<std::string> truth_of_any_word(const SchedOption& option, std::string_view text);

}  // namespace pbs::migrate
