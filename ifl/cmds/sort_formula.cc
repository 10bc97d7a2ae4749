#include "ifl/cmds/sort_formula.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "ifl/cmds/surroundings.h"

namespace pbs::cmds {

std::string sort_formula_of(const Directive& directive) {
    if (directive.command != Command::set || directive.type != ObjectType::server) {
        return {};
    }
    const auto found =
        std::find_if(directive.attributes.begin(), directive.attributes.end(), [](const Assignment& change) {
            return change.name == "job_sort_formula" && change.resource.empty() && change.op == Operator::set;
        });
    return found == directive.attributes.end() ? std::string() : found->value;
}

SortFormulaFile::SortFormulaFile(const std::string& formula) {
    const std::string path = server_home() + "/server_priv/sched_formula";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return;
    }
    path_ = path;
    const std::string line = formula + '\n';
    const bool whole = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (::close(fd) != 0 || !whole) {
        ::unlink(path_.c_str());
        path_.clear();
    }
}

SortFormulaFile::~SortFormulaFile() {
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
}

}  // namespace pbs::cmds
