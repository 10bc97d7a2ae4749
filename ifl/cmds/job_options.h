// Reads the options of qsub and qalter: from the command line, from #PBS lines and from the server's
// defaults.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/error.h"

namespace pbs::cmds {

// Values that complete dates and paths.
struct OptionContext {
    std::time_t now = 0;
    std::string host;       // this host's name, for -o and -e without a host
    std::string directory;  // for relative paths
};

struct JobOptions {
    AttrList attributes;
    std::optional<std::string> destination;  // -q
    std::optional<std::string> prefix;       // -C
    std::optional<std::string> variables;    // -v
    bool all_variables = false;              // -V
    bool quiet = false;                      // -z
    bool interactive = false;                // -I
    bool block = false;                      // -W block=true
    std::vector<std::string> operands;       // script, or job identifiers
    std::vector<std::string> command;        // the words after "--"
};

// Reads the options of a qsub command line.
Result<JobOptions> parse_submit_options(const std::vector<std::string>& arguments,
                                        const OptionContext& context);
// Reads options in a line of a script, or in the server's default_qsub_arguments, where no operands are
// allowed.
Result<JobOptions> parse_option_line(std::string_view line, const OptionContext& context);
// Reads the options of a qalter command line.
Result<JobOptions> parse_alter_options(const std::vector<std::string>& arguments,
                                       const OptionContext& context);

// Adds the options of `lower` that `options` doesn't have: the command line takes precedence over the script,
// and the script over the server's defaults. Each resource of -l counts by itself.
void add_missing(JobOptions& options, const JobOptions& lower);
// A warning if the attributes ask for checkpoints, which the bundled server doesn't make; empty: they don't.
std::string without_effect(const AttrList& attributes);
// Adds a job's default values for attributes that `options` doesn't set.
void add_defaults(JobOptions& options);

// Splits a line into words: separated by blanks, held together by quotes; a backslash takes the next
// character as it is.
Result<std::vector<std::string>> split_words(std::string_view line);

// Adds "name=value,..." of -l as Resource_List entries. "name=" alone, without a value, takes the resource
// away from a job.
Result<void> add_resources(AttrList& attributes, std::string_view text);

// Returns a path of -o or -e in the server's form, host:/path. A directory keeps its final '/'.
std::string full_path(std::string_view path, const OptionContext& context);

// Returns the arguments of `qsub -- program arguments` in the server's form: one element each, in the
// notation of JSDL.
std::string encode_arguments(const std::vector<std::string>& arguments, std::size_t first = 0);

extern const char* const kQsubUsage;
extern const char* const kQalterUsage;

}  // namespace pbs::cmds
