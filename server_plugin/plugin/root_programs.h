// Programs of server_dyn_res that run with root's rights, as they did under pbs_sched: those that root had in
// sched_config before the first start, or has written into the list since (objects/root_programs.h).
// Managers, who need not be root, choose what policies say, so nothing of a policy makes a program one of
// these.
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
    // What is listed, read again when the file is another one than before. Why it doesn't count goes to the
    // log, once.
    const objects::RootPrograms& listed(const Host& host);
    // Is this element listed? All of it counts: another resource, program or argument is another element.
    bool has(const Host& host, std::string_view element) { return listed(host).contains(element); }

  private:
    FileVersion version_{};
    objects::RootPrograms listed_;
    std::string said_;  // why the file doesn't count
};

// Lists what these sched_config files have, unless there is a list: before the first migration. A file that
// somebody else than root may change is left out, which the log has. Returns what is listed afterwards, or
// why it can't be written.
tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs);

}  // namespace pbs::plugin
