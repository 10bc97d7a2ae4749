// Other names in place of those of a site.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pbs::diag {

class Names {
  public:
    /// From now on `name` is replaced by `kind` and a number: "user3". A name that is known already, and an
    /// empty one, are left alone.
    void add(std::string_view kind, std::string_view name);
    /// The text with other names, wherever a name stands as a word of its own: in "alice@host", "12.server"
    /// and
    /// "/home/alice/x", not in "malice". What follows "job name = " up to a comma is replaced whatever it is.
    std::string replaced(std::string_view text) const;

  private:
    std::string word(std::string_view text) const;

    std::map<std::string, std::string, std::less<>> names_;
    std::map<std::string, int, std::less<>> counts_;  // by kind
};

}  // namespace pbs::diag
