// pbsnodes: shows vnodes and hosts, and marks them.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/pbsnodes_format.h"
#include "ifl/cmds/pbsnodes_options.h"
#include "ifl/pbs_error.h"

namespace {

using namespace pbs::cmds;

const Program kProgram{"pbsnodes", kPbsnodesUsage};

void append(StatusList& list, StatusList more) {
    if (list == nullptr) {
        list = std::move(more);
        return;
    }
    batch_status* last = list.get();
    while (last->next != nullptr) last = last->next;
    last->next = more.release();
}

class Pbsnodes {
  public:
    Pbsnodes(const PbsnodesOptions& options, const Connection& connection)
        : options_(options), connection_(connection) {}

    int run() {
        switch (options_.action) {
            case NodesAction::show:
                show(named());
                break;
            case NodesAction::show_all:
                show(all());
                break;
            case NodesAction::show_host:
                show(vnodes_of_hosts());
                break;
            case NodesAction::list_marked: {
                const StatusList nodes = all();
                fmt::print("{}", marked_nodes_text(nodes.get()));
                break;
            }
            case NodesAction::down_exactly:
                mark_down();
                break;
            default:
                for (const std::string& name : options_.names) mark(name);
        }
        // PBS's pbsnodes exits with 1 for every failure
        return failed_ ? 1 : 0;
    }

  private:
    void complain_of(const std::string& text) {
        failed_ = true;
        if (!options_.quiet) fmt::print(stderr, "{}\n", text);
    }

    StatusList stat(const char* name, bool vnodes) {
        pbs_errno = PBSE_NONE;
        StatusList list(vnodes ? pbs_statvnode(connection_.handle(), name, nullptr, nullptr)
                               : pbs_stathost(connection_.handle(), name, nullptr, nullptr));
        const int code = pbs_errno;
        // a server without vnodes is no failure
        if (list == nullptr && code != PBSE_NONE && !(name == nullptr && code == PBSE_UNKNODE)) {
            complain_of(name == nullptr
                            ? fmt::format("pbsnodes: {}", connection_.error_text())
                            : fmt::format("Node: {},  Error: {}", name, connection_.error_text()));
        }
        return list;
    }

    StatusList all() { return stat(nullptr, options_.vnodes || options_.action == NodesAction::show_host); }

    StatusList named() {
        StatusList nodes;
        for (const std::string& name : options_.names) append(nodes, stat(name.c_str(), options_.vnodes));
        return nodes;
    }

    StatusList vnodes_of_hosts() {
        StatusList chosen;
        StatusList rest = all();
        std::vector<std::string> missing = options_.names;
        while (rest != nullptr) {
            StatusList one(rest.release());
            rest.reset(one->next);
            one->next = nullptr;
            const auto host = value_of(one->attribs, ATTR_rescavail, "host").value_or("");
            if (std::find(options_.names.begin(), options_.names.end(), host) != options_.names.end()) {
                missing.erase(std::remove(missing.begin(), missing.end(), host), missing.end());
                append(chosen, std::move(one));
            }
        }
        for (const std::string& name : missing)
            complain_of(fmt::format("Node: {},  Error: no vnodes on this host", name));
        return chosen;
    }

    void show(const StatusList& nodes) {
        if (options_.format == ListFormat::json) {
            fmt::print("{}", nodes_json(nodes.get(), connection_.server(), server_version(),
                                        std::time(nullptr), options_));
        } else if (options_.summary && nodes == nullptr) {
            return;  // no heading without vnodes
        } else if (options_.summary) {
            fmt::print("{}{}", nodes_summary_heading(options_),
                       nodes_summary(nodes.get(), connection_.server(), options_));
        } else {
            fmt::print("{}", nodes_text(nodes.get(), options_));
        }
    }

    std::string server_version() {
        AttrList wanted;
        wanted.add(ATTR_version, "", "");
        const StatusList server(pbs_statserver(connection_.handle(), wanted.attributes(), nullptr));
        return server == nullptr ? "" : std::string(value_of(server->attribs, ATTR_version).value_or(""));
    }

    void change(const std::string& name, AttrList attributes) {
        if (pbs_manager(connection_.handle(), MGR_CMD_SET, options_.vnodes ? MGR_OBJ_NODE : MGR_OBJ_HOST,
                        name.c_str(), attributes.operations(), nullptr) != 0)
            complain_of(fmt::format("Error marking node {} - {}", name, connection_.error_text()));
    }

    void mark(const std::string& name) {
        AttrList attributes;
        if (options_.action == NodesAction::offline)
            attributes.add(ATTR_NODE_state, "", "offline", INCR);
        else if (options_.action == NodesAction::online || options_.action == NodesAction::clear)
            attributes.add(ATTR_NODE_state, "", "offline", DECR);
        if (options_.action == NodesAction::clear) attributes.add(ATTR_NODE_state, "", "down", DECR);
        if (options_.comment) attributes.add(ATTR_comment, "", *options_.comment, SET);
        change(name, std::move(attributes));
    }

    // Marks the named vnodes down, and clears down from all others.
    void mark_down() {
        const StatusList nodes = all();
        for (const batch_status* node = nodes.get(); node != nullptr; node = node->next) {
            const std::string name(view(node->name));
            const bool wanted =
                std::find(options_.names.begin(), options_.names.end(), name) != options_.names.end();
            if (wanted != has_state(*node, "down")) {
                AttrList attributes;
                attributes.add(ATTR_NODE_state, "", "down", wanted ? INCR : DECR);
                change(name, std::move(attributes));
            }
        }
    }

    const PbsnodesOptions& options_;
    const Connection& connection_;
    bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    const auto options = parse_pbsnodes_options(arguments);
    if (!options) {
        usage_error(kProgram, options.error());
        return 1;  // for every failure
    }
    const auto connection = Connection::open(options->server);
    if (!connection) {
        complain(kProgram, connection.error().message);
        return 1;
    }
    return Pbsnodes(*options, *connection).run();
}
