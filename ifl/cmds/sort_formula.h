// Writes the file from which OpenPBS's server takes job_sort_formula. Whatever a request to set this
// attribute of the server or a scheduler says, the server takes the text from a file that only root can
// write, and refuses the request if there is no such file.
#pragma once

#include <csignal>
#include <string>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// The job_sort_formula that the directive sets; empty: it sets none.
std::string sort_formula_of(const Directive& directive);

// Removes a file left behind by a qmgr that was killed: the server would take it for the next request's text.
void remove_sort_formula_file();

// The file with the formula, in PBS_HOME of this host. It exists as long as this object, or until a server
// has read it; signals that would end the process are held back meanwhile.
class SortFormulaFile {
  public:
    explicit SortFormulaFile(const std::string& formula);
    ~SortFormulaFile();
    SortFormulaFile(const SortFormulaFile&) = delete;
    SortFormulaFile& operator=(const SortFormulaFile&) = delete;
    // False: this user may not write the file.
    bool written() const { return written_; }

  private:
    sigset_t before_{};
    bool written_ = false;
};

}  // namespace pbs::cmds
