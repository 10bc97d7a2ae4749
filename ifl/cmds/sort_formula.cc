#include "ifl/cmds/sort_formula.h"

#include <fcntl.h>
#include <unistd.h>

#include "ifl/cmds/surroundings.h"
#include "values/fd.h"

namespace pbs::cmds {

namespace {

std::string path() {
    return server_home() + "/server_priv/sched_formula";
}

}  // namespace

// If the directive sets the attribute several times, the last value counts.
std::string sort_formula_of(const Directive& directive) {
    std::string formula;
    if (directive.command != Command::set ||
        (directive.type != ObjectType::server && directive.type != ObjectType::sched))
        return formula;
    for (const Assignment& change : directive.attributes)
        if (change.name == "job_sort_formula" && change.resource.empty() && change.op == Operator::set)
            formula = change.value;
    return formula;
}

void remove_sort_formula_file() {
    ::unlink(path().c_str());
}

SortFormulaFile::SortFormulaFile(const std::string& formula) {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&ends, signal);
    ::pthread_sigmask(SIG_BLOCK, &ends, &before_);
    const int fd = ::open(path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return;
    written_ = values::write_all(fd, formula + '\n');
    written_ = ::close(fd) == 0 && written_;
    if (!written_) remove_sort_formula_file();
}

SortFormulaFile::~SortFormulaFile() {
    if (written_) remove_sort_formula_file();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace pbs::cmds
