// Servers that commands of tests talk to, and the results of many inputs at each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/box.h"

namespace pbs::e2e {

// A server in a box, and the commands that are tried with it. `results` returns for each input the normal
// form of all that can be compared: the kind of error, and the objects or jobs that came out.
class ParserHost {
  public:
    ParserHost(std::shared_ptr<const Box> box, std::string name, std::string commands, std::string start);

    const std::string& name() const { return name_; }

    std::vector<std::string> qmgr_results(const std::vector<std::string>& inputs) const;
    std::vector<std::string> qsub_results(const std::vector<std::string>& inputs) const;
    std::vector<std::string> qalter_results(const std::vector<std::string>& inputs) const;
    std::vector<std::string> qrun_results(const std::vector<std::string>& inputs) const;

    void start() const;
    // Returns whether the server answers. If it doesn't, starts it again.
    bool still_answers() const;

    // Runs a shell script in the box. The commands are this host's.
    std::string sh(const std::string& script, const std::string& user = "root") const;

  private:
    struct Part {
        int exit = 0;
        std::string text;
    };
    std::string directives(const std::string& text) const;
    std::vector<Part> run_each(const std::vector<std::string>& commands, const std::string& user) const;
    std::vector<std::string> job_results(const std::vector<std::string>& commands) const;
    std::vector<std::string> make_jobs(std::size_t count, const std::string& options) const;

    std::shared_ptr<const Box> box_;
    std::string name_;
    std::string commands_;  // the folder of the commands, behind the variables of their environment
    std::string start_;     // a script that starts the server
};

// Starts an OpenPBS server and a bundled one in a box, with the same queue, vnode and resources.
std::shared_ptr<const Box> box_of_two_servers();
ParserHost openpbs_host(std::shared_ptr<const Box> box);
ParserHost bundled_host(std::shared_ptr<const Box> box);

}  // namespace pbs::e2e
