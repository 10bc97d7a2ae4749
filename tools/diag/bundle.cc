#include "tools/diag/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/surroundings.h"
#include "ifl/pbs_ifl.h"
#include "tools/diag/names.h"
#include "tools/diag/tar.h"
#include "tools/replay/anonymous.h"
#include "values/this_host.h"

namespace pbs::diag {
namespace {

namespace fs = std::filesystem;
using cmds::StatusList;

// The most bytes of a day's log in a bundle, from the log's end: enough for recent events.
constexpr std::streamoff kMostOfALog = 20'000'000;
constexpr std::size_t kDaysOfLog = 2;

// Reads the last lines of a file; nullopt: the file can't be read.
std::optional<std::string> end_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return std::nullopt;
    const std::streamoff size = file.tellg();
    const std::streamoff from = std::max<std::streamoff>(0, size - kMostOfALog);
    file.seekg(from);
    std::string text(static_cast<std::size_t>(size - from), '\0');
    file.read(text.data(), size - from);
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (from > 0) text.erase(0, text.find('\n') + 1);
    return text;
}

class Maker {
  public:
    Maker(const cmds::Connection& connection, const BundleOptions& options)
        : connection_(connection), options_(options), tar_(options.now) {}

    cmds::Result<Bundle> make() {
        if (options_.anonymous) learn_names();
        // Fail if some names couldn't be learnt: they would stand in a bundle that is to have none.
        if (!bundle_.left_out.empty()) return cmds::fail(bundle_.left_out.front(), 1);
        bundle_.left_out = options_.left_out;
        add("report", options_.report);
        add("versions", options_.versions);
        add_configuration();
        add_records();
        add_logs();
        add("README", readme());
        bundle_.archive = tar_.finish();
        return std::move(bundle_);
    }

  private:
    void add(const std::string& name, std::string_view text) {
        files_.push_back(name);
        tar_.add("pbs_diag/" + name, options_.anonymous ? names_.replaced(text) : text);
    }
    void left_out(std::string_view what, std::string_view why) {
        bundle_.left_out.push_back(fmt::format("{}: {}", what, why));
    }
    StatusList list(batch_status* objects, std::string_view what) {
        if (objects == nullptr && pbs_errno != 0) left_out(what, connection_.error_text());
        return StatusList(objects);
    }

    void learn_host(std::string_view kind, std::string_view name) {
        names_.add(kind, name.substr(0, name.find('.')));
        if (name.find('.') != std::string_view::npos) names_.add("domain", name.substr(name.find('.') + 1));
    }
    // Learns the names in "alice@host": the user and the host.
    void learn_user(std::string_view user) {
        names_.add("user", user.substr(0, user.find('@')));
        if (user.find('@') != std::string_view::npos) learn_host("host", user.substr(user.find('@') + 1));
    }
    void learn_names() {
        const int handle = connection_.handle();
        const StatusList servers = list(pbs_statserver(handle, nullptr, nullptr), "names of servers");
        if (servers) {
            names_.add("server", cmds::view(servers->name));
            learn_host("host", cmds::value_of(servers->attribs, "server_host").value_or(""));
            for (const char* who : {"managers", "operators"}) {
                std::string_view users = cmds::value_of(servers->attribs, who).value_or("");
                while (!users.empty()) {
                    learn_user(users.substr(0, users.find(',')));
                    users.remove_prefix(std::min(users.find(','), users.size() - 1) + 1);
                }
            }
        }
        const StatusList queues = list(pbs_statque(handle, nullptr, nullptr, nullptr), "names of queues");
        for (const batch_status* at = queues.get(); at != nullptr; at = at->next)
            names_.add("queue", cmds::view(at->name));
        const StatusList vnodes = list(pbs_statvnode(handle, nullptr, nullptr, nullptr), "names of vnodes");
        for (const batch_status* at = vnodes.get(); at != nullptr; at = at->next)
            learn_host("vnode", cmds::view(at->name));
        cmds::AttrList owner;
        for (const char* name : {ATTR_owner, ATTR_euser, ATTR_egroup, ATTR_A, ATTR_project})
            owner.add(name, "", "");
        // Ask for finished jobs too, if the server keeps them.
        StatusList jobs(pbs_statjob(handle, nullptr, owner.attributes(), "x"));
        if (!jobs && pbs_errno != 0)
            jobs = list(pbs_statjob(handle, nullptr, owner.attributes(), nullptr), "names of users");
        for (const batch_status* at = jobs.get(); at != nullptr; at = at->next) {
            learn_user(cmds::value_of(at->attribs, ATTR_owner).value_or(""));
            names_.add("user", cmds::value_of(at->attribs, ATTR_euser).value_or(""));
            names_.add("group", cmds::value_of(at->attribs, ATTR_egroup).value_or(""));
            names_.add("account", cmds::value_of(at->attribs, ATTR_A).value_or(""));
            names_.add("project", cmds::value_of(at->attribs, ATTR_project).value_or(""));
        }
        if (options_.users)
            for (const std::string& user : *options_.users) learn_user(user);
    }

    void add_configuration() {
        const StatusList document =
            list(pbs_statconfiguration(connection_.handle(), nullptr), "configuration.json");
        if (!document) return;
        add("configuration.json", cmds::value_of(document->attribs, "json").value_or(""));
    }

    void add_records() {
        const StatusList scheds =
            list(pbs_statsched(connection_.handle(), nullptr, nullptr), "records of cycles");
        for (const batch_status* at = scheds.get(); at != nullptr; at = at->next) add_record(at->name);
    }
    // Adds the record of a scheduler. replay::anonymous() replaces the names, because it knows where a record
    // has them.
    void add_record(const std::string& sched) {
        const std::string name = "record." + sched;
        const StatusList parts = list(pbs_statrecord(connection_.handle(), sched.c_str(), nullptr), name);
        if (!parts) return;
        std::string text;
        for (const batch_status* part = parts.get(); part != nullptr; part = part->next)
            text += cmds::value_of(part->attribs, "text").value_or("");
        if (options_.anonymous) {
            auto other = replay::anonymous(text, name);
            if (!other) return left_out(name, other.error().message);
            text = std::move(*other);
        }
        files_.push_back(name);
        tar_.add("pbs_diag/" + name, text);
    }

    void add_logs() {
        if (options_.anonymous && !options_.users)
            return left_out("the log",
                            "it names all who have sent requests, and the server doesn't tell who they are");
        std::string home = options_.home;
        if (home.empty()) {
            const StatusList server = list(pbs_statserver(connection_.handle(), nullptr, nullptr), "the log");
            if (!server) return;
            const std::string_view host = cmds::value_of(server->attribs, "server_host").value_or("");
            if (!values::is_this_host(host))
                return left_out("the log", fmt::format("it is on {}, the server's host", host));
            home = cmds::server_home();
        }
        const fs::path folder = fs::path(home) / "server_logs";
        std::vector<fs::path> days;
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
            days.push_back(at->path());
        if (error) return left_out("the log", fmt::format("{}: {}", folder.string(), error.message()));
        std::ranges::sort(days, std::greater<>());
        days.resize(std::min(days.size(), kDaysOfLog));
        for (const fs::path& day : days) {
            if (const auto text = end_of(day))
                add("log." + day.filename().string(), *text);
            else
                left_out(day.string(), "it can't be read");
        }
    }

    std::string readme() const {
        std::string text =
            "Made by pbs_diag --bundle; see pbs_diag(8). pbs_replay(8) runs the records again.\n";
        for (const std::string& file : files_) text += fmt::format("{}\n", file);
        for (const std::string& what : bundle_.left_out) text += fmt::format("Not in it: {}\n", what);
        return text;
    }

    const cmds::Connection& connection_;
    const BundleOptions& options_;
    Tar tar_;
    Names names_;
    Bundle bundle_;
    std::vector<std::string> files_;
};

}  // namespace

cmds::Result<Bundle> make_bundle(const cmds::Connection& connection, const BundleOptions& options) {
    return Maker(connection, options).make();
}

}  // namespace pbs::diag
