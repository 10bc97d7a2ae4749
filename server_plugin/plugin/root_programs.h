// Programs of server_dyn_res that run with root's rights, as they did under pbs_sched: programs that root had
// in sched_config before the first start, or has added to the list since (objects/root_programs.h). Managers,
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
    // The list, read again when the file has changed. The reason why the file doesn't count is logged once.
    const objects::RootPrograms& listed(const Host& host);
    // Is this element listed? It has to match wholly: another resource, program or argument is another
    // element.
    bool has(const Host& host, std::string_view element) { return listed(host).contains(element); }

  private:
    FileVersion version_{};
    objects::RootPrograms listed_;
    std::string said_;  // why the file doesn't count
};

// Makes the list from these sched_config files, unless there is a list: before the first migration. A file
// that somebody other than root may change is left out, and the log told. Returns the list, or the reason why
// it can't be written.
tl::expected<objects::RootPrograms, std::string> list_root_programs(
    const Host& host, const std::vector<std::string>& sched_configs);

}  // namespace pbs::plugin
