// Reads the CONFIGFILE of the Origin scheduler (sched-config guide, "CONFIGURATION FILE SYNTAX").
//
// Format: lines of an option and one argument, separated by white space. A '#' begins a comment anywhere.
// Names of options are upper-case. An option that is set again replaces its value, but lists of queues
// append. Times are read from right to left, so that 01:30 is 90 seconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// The types of arguments (sched-config guide, "ARGUMENT TYPES").
enum class ArgumentType {
    boolean,     // True: true, yes, on, 1, or a date MM/DD/YYYY[@HH:MM:SS] that is past; else False
    integer,     // not negative
    percentage,  // an integer, with or without %
    real,
    pathname,
    program,  // a pathname that is run
    queue,    // queue or queue@host
    queues,   // a comma-separated list of queues
    host,
    timespec,  // HH:MM:SS, MM:SS or SS
    clock,     // a timespec that is a time of day
    variance,  // -mm%,+nn%
    restart,   // none, restart (or rerun) or resubmit
};

struct Option {
    std::string_view name;
    ArgumentType type;
    std::string_view other_name{};  // another spelling that the guide has; empty: none

    // Returns the name of the policy attribute: the option's name in lower case.
    std::string attribute() const;
};

// Returns all options, in the order of the guide.
std::span<const Option> options();

// One option with the value that is in force at the end of the file.
struct Setting {
    const Option* option = nullptr;
    std::string name;      // as the file spells it
    std::string argument;  // as the file has it (lists: all elements, joined by commas)
    std::string value;     // the attribute's value as text: "True", "02:00:00", "small,large"
    int line = 0;          // line of the last setting; for lists, of the first
    int column = 0;        // column of the argument

    // Returns whether the option is on: its value is neither False nor zero.
    bool on() const;
};

struct ConfigFile {
    std::string file;
    std::vector<Setting> settings;   // in the order of options()
    std::vector<std::string> notes;  // remarks on legal lines: values set twice, a word read as false
    // Mistakes against the guide that the scheduler overlooked: words after an argument, and options whose
    // required companions are missing.
    Problems mistakes;

    const Setting* find(std::string_view option) const;
};

// Returns whether the text is the configuration of an Origin scheduler: it has more of that scheduler's
// options than of sched_config's.
bool is_configfile(std::string_view text);

// Reads the text of a file; `file` is its name in messages. Returns problems for mistakes with which the
// scheduler refused to start: unknown or lower-case options, missing or bad arguments, queues missing or
// listed twice, and options that are set without others that the scheduler itself required beside them.
Result<ConfigFile> parse_configfile(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
