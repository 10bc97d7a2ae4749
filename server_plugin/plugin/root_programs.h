// Programs of server_dyn_res that run with root's rights, as they did under pbs_sched: those that root had in
// sched_config before the first start, or has added to the list since (objects/root_programs.h). Managers,
// who need not be root, write policies, so no setting of a policy adds to the list.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "objects/root_programs.h"
#include "server_plugin/plugin/file.h"
#include "server_plugin/plugin/host.h"

namespace pbs::plugin {

class RootPrograms {
  public:
    // The list, read again when its file has changed. If the file doesn't count, the reason is logged once.
    const objects::RootPrograms& listed(const Host& host);
    // Is this element in the list? It has to match completely: with another resource, program or argument it
    // is another element.
    bool has(const Host& host, std::string_view element) { return listed(host).contains(element); }

  private:
    FileVersion version_{};
    objects::RootPrograms listed_;
    std::string said_;  // why the file doesn't count
};

// Makes the list from these sched_config files, before the first migration; does nothing if there is a list.
// Ignores, and logs, a file that somebody other than root may change. Returns the list, or the reason why it
// can't be written.
tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs);

}  // namespace pbs::plugin
