// The list of programs of server_dyn_res that run with root's rights, as they did under pbs_sched: those that
// root had in sched_config before the first start, or has added to the list since (objects/root_programs.h).
// Managers, who need not be root, write policies, so no setting of a policy adds to the list.
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
    // Returns the list, which is read again when its file has changed. If others than root could change the
    // file, the list is empty, and the reason is logged once.
    const objects::RootPrograms& listed(const Host& host);
    // Returns whether the list has this element of server_dyn_res: exactly the same resource, program and
    // arguments.
    bool has(const Host& host, std::string_view element) { return listed(host).contains(element); }

  private:
    FileVersion version_{};
    objects::RootPrograms listed_;
    std::string said_;  // why the list is empty although there is a file; empty: no reason
};

// Before the first migration, makes the list from these sched_config files. Does nothing if there is a list.
// Ignores, and logs, a file that others than root may change. Returns the list, or the reason why it can't be
// written.
tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs);

}  // namespace pbs::plugin
