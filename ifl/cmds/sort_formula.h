// The job_sort_formula of an OpenPBS server: it takes the text from a file that root alone can write,
// whatever the request says, and refuses the request where there is no such file.
#pragma once

#include <string>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// What the directive sets the server's job_sort_formula to; empty: it doesn't.
std::string sort_formula_of(const Directive& directive);

// The file with the formula, in PBS_HOME of this host. It is there as long as the object is, or until a
// server has read it.
class SortFormulaFile {
  public:
    explicit SortFormulaFile(const std::string& formula);
    ~SortFormulaFile();
    SortFormulaFile(const SortFormulaFile&) = delete;
    SortFormulaFile& operator=(const SortFormulaFile&) = delete;
    // False: this user can't write there, or there is such a file.
    bool written() const { return !path_.empty(); }

  private:
    std::string path_;
};

}  // namespace pbs::cmds
