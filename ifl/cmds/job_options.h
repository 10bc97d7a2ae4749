// The options of qsub and qalter, from the command line, from #PBS lines and from the server's defaults.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/error.h"

namespace pbs::cmds {

// What completes values: dates and paths.
struct OptionContext {
    std::time_t now = 0;
    std::string host;       // this host's name: of -o and -e without one
    std::string directory;  // of relative paths
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
    std::vector<std::string> command;        // behind "--"
};

// The options of a qsub command line.
Result<JobOptions> parse_submit_options(const std::vector<std::string>& arguments,
                                        const OptionContext& context);
// Options in a line of a script, or in the server's default_qsub_arguments: no operands.
Result<JobOptions> parse_option_line(std::string_view line, const OptionContext& context);
// The options of a qalter command line.
Result<JobOptions> parse_alter_options(const std::vector<std::string>& arguments,
                                       const OptionContext& context);

// Adds what `lower` has and `options` doesn't: the command line goes before the script, and that before the
// server's defaults. Of -l, each resource counts alone.
void add_missing(JobOptions& options, const JobOptions& lower);
// A warning about what a job is given and no server acts on; empty: there is nothing of the kind.
std::string without_effect(const AttrList& attributes);
// The values that a job has when nobody says anything else.
void add_defaults(JobOptions& options);

// Words of a line: blanks part them, quotes hold them together, a backslash takes the next character as it
// is.
Result<std::vector<std::string>> split_words(std::string_view line);

// "name=value,..." of -l into Resource_List entries.
Result<void> add_resources(AttrList& attributes, std::string_view text);

// A path of -o or -e as the server takes it: host:/path. A directory keeps its final '/'.
std::string full_path(std::string_view path, const OptionContext& context);

// Arguments as the server keeps those of `qsub -- program arguments`: one element each, in the notation of
// JSDL.
std::string encode_arguments(const std::vector<std::string>& arguments, std::size_t first = 0);

extern const char* const kQsubUsage;
extern const char* const kQalterUsage;

}  // namespace pbs::cmds
