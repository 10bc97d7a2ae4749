// The sched_config file of the schedulers of PBS and TORQUE (OpenPBS, src/scheduler/pbs_sched_config; TORQUE,
// pbs_sched).
//
// Format: a line is empty, a comment, whose first character that isn't white space is '#' or '*', or
//
//     option: value [column] [# comment]
//
// The colon may be left out, and white space may stand around it. A value with white space in it is in double
// or single quotes. The column says when the value holds: prime, non_prime, all (if it is left out), or none,
// with which the line sets nothing; case doesn't count in it. A value that is set again replaces the earlier
// one in the columns that it has; job_sort_key, key, node_sort_key, peer_queue, server_dyn_res and the like
// append. Times are [[HH:]MM:]SS. A line that ends with a backslash goes on in the next one.
//
// What is wrong is what the older schedulers logged, and they went on: an unknown option or a bad value had
// no effect; any word but false was read as True; after a third word that is no column the value held at all
// times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// How the value of an option is written.
enum class SchedArgument : std::uint8_t {
    boolean,        // True or False in any case, or a number
    backfill,       // a boolean that becomes a depth, 1 or 0
    integer,        // not negative
    log_filter,     // bits of events that are not logged
    time,           // [[HH:]MM:]SS
    factor,         // between 0 and 1
    text,           // what the attribute takes
    job_sort_key,   // "resource HIGH|LOW"
    node_sort_key,  // "resource HIGH|LOW [total|assigned|unused]"
    sort_nodes,     // a boolean that becomes a node_sort_key
    sort_by,        // the name of an order, or multi_sort
    key,            // the name of an order
    resources,      // names separated by commas
    prefix,         // of names of queues
    distribution,   // pack, round_robin or lowest_load
    any,
};

// The prefix of no queue: names of queues begin with letters. Without the line every name begins with it.
inline constexpr std::string_view kNoPrefix = "-none-";

// What becomes of an option.
enum class SchedTarget : std::uint8_t { policy, fs_group, removed };

enum SchedOptionFlag : std::uint8_t {
    one_value = 0,
    by_time = 1,  // has a column: may differ between prime and non-prime time
    repeats = 2,  // further lines add to it
    torque = 4,   // of TORQUE's files alone, and of what OpenPBS and TORQUE come from
};

// A row of the table of options.
struct SchedOption {
    std::string_view name;
    SchedArgument argument;
    SchedTarget target;
    std::string_view attribute;  // of the policy or fs_group; empty if it is removed
    unsigned flags = one_value;  // of SchedOptionFlag
    // The attribute's value for a file without the option, where the old schedulers' default isn't the
    // attribute's own. Empty: the attribute stays at its default.
    std::string_view absent{};
    std::string_view instead{};  // removed: why, and what to use instead
};

// Every option of PBS Professional's, OpenPBS's and TORQUE's files (sched_config_options.cc).
std::span<const SchedOption> sched_options();

// When a setting holds: bits.
inline constexpr unsigned kPrimeTime = 1;
inline constexpr unsigned kNonPrimeTime = 2;
inline constexpr unsigned kAllTime = kPrimeTime | kNonPrimeTime;

struct SchedSetting {
    const SchedOption* option = nullptr;
    std::string value;            // the text of the attribute's value or element; else as it is written
    unsigned columns = kAllTime;  // in which it is in force at the end of the file
    int line = 0;
    int column = 0;  // of the value
};

struct SchedConfig {
    std::string file;
    std::vector<SchedSetting> settings;  // in force in at least one column, in the order of the lines
    std::vector<std::string> notes;      // what is legal but worth a look, such as values that are replaced
    // Unknown options, values that are missing or bad, unknown columns, open quotes, bytes that can't be
    // printed, and two ways of ordering jobs: each with what is done after it.
    Problems mistakes;
};

// Reads the text of a file; `file` is its name in messages.
SchedConfig parse_sched_config(std::string_view text, const std::string& file);

// Reads one value: the text for the attribute, or what was expected instead.
tl::expected<std::string, std::string> read_sched_argument(const SchedOption& option, std::string_view text);

// What the older schedulers made of a word that is neither True nor False nor a number, or of a number with
// something behind it: "True" or "False". nullopt: the option isn't a switch.
std::optional<std::string> truth_of_any_word(const SchedOption& option, std::string_view text);

}  // namespace pbs::migrate
