#include "tests/structure/arrows.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tests/structure/sources.h"

namespace pbs::structure {
namespace fs = std::filesystem;

namespace {

struct Room {
    std::string_view folder;                  // path with a slash at the end
    std::vector<std::string_view> outside{};  // headers outside the host's folders that it may use
};

// Adds a rule for each of the rooms (folders), by which it may use the rooms before it in the list.
void add_rooms(std::vector<Rule>& table, const std::vector<Room>& rooms) {
    std::vector<std::string_view> below;
    for (const Room& room : rooms) {
        Rule rule{room.folder.substr(0, room.folder.size() - 1), below, {}};
        rule.headers.insert(rule.headers.end(), room.outside.begin(), room.outside.end());
        table.push_back(std::move(rule));
        below.push_back(room.folder);
    }
}

// Returns the rooms of the bundled server: the folders of server_plugin/host/. Each may use those before it.
std::vector<Room> rooms_of_host() {
    constexpr std::string_view kPlugin = "server_plugin/plugin/pbs_plugin.h";
    return {
        {"server_plugin/host/base/", {"ifl/", "server_plugin/posix/"}},
        {"server_plugin/host/run/", {"ifl/", "text/", "server_plugin/posix/"}},
        {"server_plugin/host/state/", {"cluster/", "ifl/", "ifl/attributes/", "rrule/", "text/", kPlugin}},
        {"server_plugin/host/store/", {"server_plugin/client/", "ifl/", "sqlite/", kPlugin}},
        {"server_plugin/host/policy/",
         {"cluster/", "server_plugin/client/", "ifl/", "ifl/attributes/", "text/", kPlugin}},
        {"server_plugin/host/change/", {"server_plugin/client/", "ifl/", kPlugin}},
        {"server_plugin/host/life/", {"ifl/", "ifl/attributes/", "text/", "server_plugin/posix/", kPlugin}},
        {"server_plugin/host/peers/", {"ifl/", "server_plugin/posix/", kPlugin}},
        {"server_plugin/host/cycle/", {"ifl/", kPlugin}},
        {"server_plugin/host/requests/", {"cluster/", "server_plugin/client/", "ifl/", "text/", kPlugin}},
        {"server_plugin/host/net/", {"ifl/"}},
        {"server_plugin/host/main/", {"ifl/", kPlugin}}};
}

std::vector<Rule> all_rules() {
    std::vector<Rule> table{
        // every folder except ifl/iff may use values/
        {"values", {}, {}},
        {"text", {}, {}},
        {"rrule", {"text/"}, {"pbs_text"}},
        // both databases of a server, the plugin's and the bundled server's, use sqlite/
        {"sqlite", {}, {}},
        {"objects", {"text/", "rrule/", "sqlite/"}, {"pbs_text", "pbs_rrule", "pbs_sqlite"}},
        // ifl/attributes has the attributes of PBS's objects, for the bundled server and the commands
        {"ifl/attributes", {"ifl/pbs_ifl.h"}, {}},
        {"ifl", {"text/"}, {}},
        // ifl/iff is a setuid program; it uses no other code of this project, so that it stays small
        {"ifl/iff", {}, {}},
        // the commands use the server only through the C API, as any IFL program does
        {"ifl/cmds",
         {"text/", "ifl/attributes/", "ifl/pbs_ifl.h", "ifl/pbs_error.h", "objects/quota_rule.h",
          "objects/schema.h", "objects/spelling.h", "objects/unsupported.h"},
         {"pbs_text", "pbs_attributes", "pbspolicy", "pbs_objects", "pbs_objects_schema"}},
        {"tools/calendar",
         {"text/", "objects/", "rrule/", "cluster/exec_vnode.h", "ifl/attributes/execvnodes.h",
          "ifl/pbs_ifl.h", "ifl/pbs_error.h", "ifl/cmds/attr_list.h", "ifl/cmds/client.h",
          "ifl/cmds/quota_counter.h"},
         {"pbs_text", "pbs_attributes", "pbs_cluster", "pbs_objects", "pbs_rrule", "pbspolicy", "pbs_cmds"}},
        // pbs_migrate sends files to a running server through the C API, and reads the output of qmgr's print
        // with the grammar in ifl/cmds
        {"migrate",
         {"text/", "objects/", "rrule/", "ifl/pbs_ifl.h", "ifl/pbs_error.h", "ifl/cmds/attr_list.h",
          "ifl/cmds/client.h", "ifl/cmds/qmgr_grammar.h", "ifl/cmds/host_attributes.h",
          "ifl/attributes/built_in_resources.h", "ifl/attributes/entity_limits.h"},
         {"pbs_text", "pbs_attributes", "pbs_objects", "pbs_rrule", "pbspolicy", "pbs_cmds",
          "pbs_qmgr_language"}},
        // the scheduler reads configurations (snapshots), but uses neither the store nor any command
        {"server_plugin/scheduler",
         {"objects/error.h", "objects/formula.h", "objects/schema.h", "objects/snapshot.h", "objects/value.h",
          "objects/windows.h", "rrule/", "server_plugin/scheduler/model/", "server_plugin/scheduler/state/",
          "server_plugin/scheduler/log/", "server_plugin/scheduler/tickets/",
          "server_plugin/scheduler/framework/", "server_plugin/scheduler/explain/"},
         {"pbs_objects", "pbs_rrule"}},
        // the folders of the scheduler, the lowest one first: each may use those below it
        {"server_plugin/scheduler/model",
         {"objects/error.h", "objects/formula.h", "objects/policy_attributes.h",
          "objects/policy_attributes.def", "objects/quota_rule.h", "objects/schema.h", "objects/snapshot.h",
          "objects/value.h", "objects/windows.h", "rrule/"},
         {}},
        // placement/ uses formulas, as an order of vnodes by load computes load_formula
        {"server_plugin/scheduler/placement",
         {"server_plugin/scheduler/model/", "rrule/", "objects/formula.h"},
         {}},
        {"server_plugin/scheduler/state",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/", "rrule/",
          "objects/formula.h"},
         {}},
        {"server_plugin/scheduler/pending",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "rrule/"},
         {}},
        {"server_plugin/scheduler/future",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/", "rrule/"},
         {}},
        {"server_plugin/scheduler/tickets", {"server_plugin/scheduler/model/"}, {}},
        {"server_plugin/scheduler/log",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/", "rrule/"},
         {}},
        {"server_plugin/scheduler/framework",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/",
          "server_plugin/scheduler/future/", "server_plugin/scheduler/tickets/", "objects/formula.h",
          "objects/snapshot.h", "rrule/"},
         {}},
        {"server_plugin/scheduler/plugins",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/",
          "server_plugin/scheduler/future/", "server_plugin/scheduler/log/",
          "server_plugin/scheduler/framework/", "rrule/"},
         {}},
        {"server_plugin/scheduler/profiles",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/",
          "server_plugin/scheduler/future/", "server_plugin/scheduler/framework/",
          "server_plugin/scheduler/plugins/comparators.h", "server_plugin/scheduler/plugins/limits.h",
          "rrule/"},
         {}},
        {"server_plugin/scheduler/explain",
         {"server_plugin/scheduler/model/", "server_plugin/scheduler/placement/",
          "server_plugin/scheduler/state/", "server_plugin/scheduler/pending/",
          "server_plugin/scheduler/future/", "server_plugin/scheduler/framework/", "rrule/"},
         {}},
        // a record consists of data that the scheduler gives; the plugin writes records, and tools run them
        // again
        {"server_plugin/record",
         {"text/", "objects/", "rrule/", "server_plugin/scheduler/scheduler.h",
          "server_plugin/scheduler/record.h"},
         {"pbs_text", "pbs_objects", "pbs_scheduler"}},
        // server_plugin/posix has functions of POSIX that the hosts and the plugin share
        {"server_plugin/posix", {"text/"}, {}},
        {"server_plugin/plugin",
         {"text/", "server_plugin/posix/", "objects/", "rrule/", "ifl/", "migrate/", "server_plugin/record/",
          "server_plugin/scheduler/", "server_plugin/scheduler/model/"},
         {"pbs_text", "pbs_objects", "pbs_rrule", "pbs_ifl_codec", "pbs_migrate_lib", "pbs_record",
          "pbs_scheduler", "pbs_posix"}},
        // pbs_replay asks a server for a record, or runs one
        {"tools/replay",
         {"text/", "objects/", "rrule/", "ifl/pbs_ifl.h", "ifl/pbs_error.h", "ifl/cmds/attr_list.h",
          "ifl/cmds/client.h", "server_plugin/record/", "server_plugin/scheduler/scheduler.h"},
         {"pbs_text", "pbs_objects_schema", "pbs_rrule", "pbspolicy", "pbs_cmds", "pbs_record",
          "pbs_scheduler"}},
        // pbs_diag collects data for a diagnosis, which includes a record of a cycle
        {"tools/diag",
         {"ifl/pbs_ifl.h", "ifl/pbs_error.h", "ifl/cmds/attr_list.h", "ifl/cmds/client.h", "ifl/cmds/error.h",
          "ifl/cmds/surroundings.h", "tools/replay/anonymous.h"},
         {"pbspolicy", "pbs_cmds", "pbs_replay_lib"}},
        // pbs_simulate uses the scheduler and reads deadlines and ranges of jobs as the plugin does, and
        // reads the output of qmgr and pbs_config. With --external it answers the requests of a program as a
        // server does
        {"tools/simulate",
         {"text/",
          "objects/",
          "rrule/",
          "cluster/exec_vnode.h",
          "ifl/attributes/built_in_resources.h",
          "ifl/attributes/entity_limits.h",
          "ifl/error.h",
          "ifl/error_text.h",
          "ifl/pbs_ifl.h",
          "ifl/pbs_error.h",
          "ifl/program_requests.h",
          "ifl/reply.h",
          "ifl/request.h",
          "ifl/cmds/attr_list.h",
          "ifl/cmds/client.h",
          "ifl/cmds/fairshare_format.h",
          "ifl/cmds/qmgr_grammar.h",
          "ifl/cmds/host_attributes.h",
          "server_plugin/posix/",
          "server_plugin/record/",
          "server_plugin/scheduler/scheduler.h",
          "server_plugin/scheduler/model/chunk_range.h",
          "server_plugin/scheduler/model/deadline.h"},
         {"pbs_text", "pbs_objects", "pbs_rrule", "pbspolicy", "pbs_cmds", "pbs_cluster", "pbs_ifl_codec",
          "pbs_posix", "pbs_record", "pbs_scheduler"}},
        // pbs_web asks through the C API, so that it works with both hosts, and shows the output of
        // pbs_calendar, pbs_explain and pbs_config
        {"tools/web",
         {"text/", "rrule/", "objects/value.h", "ifl/pbs_ifl.h", "ifl/pbs_error.h", "ifl/cmds/attr_list.h",
          "ifl/cmds/client.h", "ifl/cmds/config_diff.h", "ifl/cmds/config_format.h", "ifl/cmds/datetime.h",
          "ifl/cmds/explain_format.h", "ifl/cmds/fairshare_format.h", "ifl/cmds/quota_counter.h",
          "ifl/cmds/text.h", "tools/calendar/"},
         {"pbs_text", "pbs_objects", "pbs_rrule", "pbspolicy", "pbs_cmds", "pbs_calendar_lib"}},
        // cluster/ has the objects of a PBS server: as attributes, and as the records in which both hosts
        // pass them to a plugin
        {"cluster",
         {"text/", "ifl/attribute.h", "ifl/error.h", "ifl/pbs_error.h", "ifl/attributes/entity_limits.h",
          "server_plugin/plugin/pbs_plugin.h", "server_plugin/plugin/text.h"},
         {"pbs_text", "pbs_attributes"}},
        // both hosts use only the plugin's C header, and load the plugin at run time
        {"server_plugin/client",
         {"cluster/", "ifl/", "server_plugin/plugin/pbs_plugin.h"},
         {"pbs_cluster", "pbs_ifl_codec"}},
        {"server_plugin/host",
         {},
         {"pbs_text", "pbs_cluster", "pbs_plugin_client", "pbs_attributes", "pbs_ifl_codec", "pbs_ifl_client",
          "pbs_posix", "pbs_sqlite", "pbs_rrule"}},
        {"server_plugin/openpbs",
         {"text/", "cluster/", "server_plugin/client/", "server_plugin/plugin/pbs_plugin.h", "ifl/",
          "ifl/attributes/attribute_table.h", "ifl/attributes/execution_type.h",
          "ifl/attributes/execvnodes.h", "ifl/attributes/reservation_start.h", "rrule/", "sqlite/"},
         {"pbs_text", "pbs_cluster", "pbs_plugin_client", "pbs_attributes", "pbs_ifl_codec", "pbs_ifl_client",
          "pbs_rrule", "pbs_sqlite"}},
    };
    add_rooms(table, rooms_of_host());
    return table;
}

}  // namespace

std::span<const Rule> rules() {
    static const std::vector<Rule> table = all_rules();
    return table;
}

std::string to_string(const Violation& violation) {
    std::ostringstream out;
    out << violation.file << ':' << violation.line << ": " << violation.text << ": " << violation.why;
    return out.str();
}

namespace {

const Rule* rule_of(std::string_view path, std::span<const Rule> table) {
    const Rule* best = nullptr;
    for (const Rule& rule : table) {
        if (inside(path, rule.folder) && (!best || rule.folder.size() > best->folder.size())) best = &rule;
    }
    return best;
}

// Returns whether `by` may use `used` without listing it: `used` is values/, and `by` isn't ifl/iff, whose
// setuid program uses no other code.
bool is_common(const Rule& used, const Rule& by) {
    return used.folder == "values" && by.folder != "ifl/iff";
}

class Checker {
  public:
    Checker(fs::path root, std::span<const Rule> table) : root_(std::move(root)), table_(table) {}

    std::vector<Violation> run() {
        const std::vector<fs::path> files = governed_files(root_, table_);
        for (const fs::path& file : files) {
            if (file.filename() == "CMakeLists.txt") collect_targets(file);
        }
        for (const fs::path& file : files) {
            if (file.filename() == "CMakeLists.txt") {
                check_links(file);
            } else if (is_source(file)) {
                check_includes(file);
            }
        }
        return std::move(found_);
    }

  private:
    std::string relative(const fs::path& file) const {
        return file.lexically_relative(root_).generic_string();
    }

    void check_includes(const fs::path& file) {
        static const std::regex include(R"(^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">])",
                                        std::regex::multiline);
        const std::string name = relative(file);
        const Rule* from = rule_of(name, table_);
        if (!from) return;
        const std::string text = read_text(file);
        for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
            const std::string target = included_path(root_, file, (*it)[1].str());
            const Rule* to = rule_of(target, table_);
            if (!to || to == from || is_common(*to, *from) || allowed_header(*from, *to, target)) continue;
            found_.push_back({name, line_at(text, static_cast<size_t>(it->position(1))), "#include " + target,
                              std::string(from->folder) + " may not include this"});
        }
    }

    static bool allowed_header(const Rule& from, const Rule& to, const std::string& target) {
        return std::any_of(from.headers.begin(), from.headers.end(), [&](std::string_view entry) {
            if (!entry.ends_with('/')) return entry == target;
            return entry.substr(0, entry.size() - 1) == to.folder;
        });
    }

    void collect_targets(const fs::path& file) {
        static const std::regex declaration(
            R"((?:^|\n)[ \t]*(?:pbs_library|pbs_program|add_library|add_executable)\s*\(\s*([A-Za-z0-9_.+-]+))");
        const Rule* owner = rule_of(relative(file), table_);
        if (!owner) return;
        const std::string text = read_text(file);
        for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
            target_owner_[(*it)[1].str()] = owner;
        }
    }

    void check_links(const fs::path& file) {
        static const std::regex call(R"(target_link_libraries\s*\(([^)]*)\))");
        const std::string name = relative(file);
        const Rule* from = rule_of(name, table_);
        if (!from) return;
        const std::string text = read_text(file);
        for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
            const int line = line_at(text, static_cast<size_t>(it->position(0)));
            check_link_words(*from, name, line, (*it)[1].str());
        }
    }

    void check_link_words(const Rule& from, const std::string& name, int line, const std::string& arguments) {
        // Generator expressions name targets, too, so everything that can't be part of a name separates
        // words.
        static const std::regex word(R"([A-Za-z0-9_.+-]+)");
        for (std::sregex_iterator it(arguments.begin(), arguments.end(), word), end; it != end; ++it) {
            const std::string linked = it->str();
            const auto owner = target_owner_.find(linked);
            if (owner == target_owner_.end() || owner->second == &from || is_common(*owner->second, from))
                continue;
            if (std::find(from.targets.begin(), from.targets.end(), linked) != from.targets.end()) continue;
            found_.push_back({name, line, "target_link_libraries " + linked,
                              std::string(from.folder) + " may not link this"});
        }
    }

    fs::path root_;
    std::span<const Rule> table_;
    std::map<std::string, const Rule*> target_owner_;
    std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_tree(const fs::path& root, std::span<const Rule> table) {
    return Checker(root.lexically_normal(), table).run();
}

}  // namespace pbs::structure
