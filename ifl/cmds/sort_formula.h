// The job_sort_formula of an OpenPBS server and of its schedulers: the server takes the text from a file that
// root alone can write, whatever the request says, and refuses the request where there is no such file.
#pragma once

#include <csignal>
#include <string>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// What the directive sets a job_sort_formula to; empty: it sets none of those.
std::string sort_formula_of(const Directive& directive);

// Removes a file that a qmgr which was killed left behind: its text would be taken for the next request's.
void remove_sort_formula_file();

// The file with the formula, in PBS_HOME of this host. It is there as long as the object is, or until a
// server has read it; signals that would end the process wait for that.
class SortFormulaFile {
  public:
    explicit SortFormulaFile(const std::string& formula);
    ~SortFormulaFile();
    SortFormulaFile(const SortFormulaFile&) = delete;
    SortFormulaFile& operator=(const SortFormulaFile&) = delete;
    // False: this user can't write there.
    bool written() const { return written_; }

  private:
    sigset_t before_{};
    bool written_ = false;
};

}  // namespace pbs::cmds
