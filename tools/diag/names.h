// Replaces the names of a site, such as "alice", by others, such as "user3".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pbs::diag {

class Names {
  public:
    /// Adds a name, which is replaced by `kind` and a number from now on: "user3". Does nothing if the name
    /// is empty or known already.
    void add(std::string_view kind, std::string_view name);
    /// Replaces known names in a text, if they stand as words: in "alice@host", "12.server" and
    /// "/home/alice/x", not in "malice". The text between "job name = " and a comma is always replaced.
    std::string replaced(std::string_view text) const;

  private:
    std::string word(std::string_view text) const;

    std::map<std::string, std::string, std::less<>> names_;
    std::map<std::string, int, std::less<>> counts_;  // how many names there are, by kind
};

}  // namespace pbs::diag
