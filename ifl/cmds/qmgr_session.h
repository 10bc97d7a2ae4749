// qmgr's execution of directives at servers, with its active servers and objects.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "ifl/cmds/qmgr_pipeline.h"

namespace pbs::cmds {

struct QmgrOptions {
    bool abort_on_error = false;  // -a
    bool echo = false;            // -e
    bool no_execution = false;    // -n
    bool silent = false;          // -z
    bool send_ahead = false;      // send changes without waiting for earlier answers
};

class QmgrSession {
  public:
    explicit QmgrSession(QmgrOptions options) : options_(options) {}

    // Connects to the servers that are active at first; the default one if none is named. False: a server
    // can't be reached, and a message is printed.
    bool connect(const std::vector<std::string>& servers);

    // Carries out one directive. Prints its output to stdout, and errors and warnings to stderr, both in the
    // order of the directives. This holds even if the answers to directives that were sent ahead come later.
    void run(std::string_view text);

    // Waits for the answers to directives sent ahead, and prints their messages as run() does.
    void take_answers();

    // Returns whether the session has ended, by quit or by an error with -a.
    bool finished() const { return finished_; }
    // qmgr's exit status: that of the last directive.
    int status() const { return status_; }
    // The argument of the last `history` directive, to be handled by the terminal; cleared by reading it.
    std::string take_history_request();

    // Names of the objects of a type at the active servers; for completion.
    std::vector<std::string> object_names(ObjectType type);
    // Names of the elements of an object's attribute, such as a quota's rules; for completion.
    std::vector<std::string> element_names(ObjectType type, const std::string& object,
                                           const std::string& attribute);
    // Returns the names of the resources whose values are numbers; for completion.
    std::vector<std::string> numeric_resources();

  private:
    // An object, or all of a type, at a server ("" is the default one).
    struct Target {
        std::string server;
        std::string object;
    };

    Connection* server(const std::string& name);
    std::vector<Target> targets(const Directive& directive);
    std::vector<Target> each_meant(const Target& target, const Directive& directive);
    void execute(const Directive& directive);
    void execute_at(const Target& target, const Directive& directive);
    void begin(std::string_view text);
    void send_ahead(std::string_view text, const Directive& directive);
    void take_answer();
    void change(Connection& connection, const Target& target, const Directive& directive);
    void answered(Connection& connection, const Target& target, int code);
    // Prints suggestions for misspelled attributes of PBS's own objects.
    void suggest(const Directive& directive) const;
    void show(Connection& connection, const Target& target, const Directive& directive);
    void list_as_it_comes(Connection& connection, const Target& target, ObjectType type, attrl* wanted);
    void print_server(Connection& connection, const Target& target);
    void activate(const Directive& directive);
    bool exists(const Directive& directive, const Target& target);
    // Prints the reason of a failed request with the PBS error `code`; `status` becomes qmgr's exit status.
    void report(Connection& connection, const Target& target, int code, int status);
    void warn(std::string_view text) const;
    void syntax_error(std::string_view text, const SyntaxError& error);
    void write_error(const std::string& text) const;
    void failed(int status, int status_when_aborting);

    QmgrOptions options_;
    std::map<std::string, Connection> connections_;
    std::vector<std::string> active_servers_;
    std::map<ObjectType, std::vector<Target>> active_;
    std::string history_request_;
    QmgrPipeline pipeline_;
    bool finished_ = false;
    int status_ = 0;
};

}  // namespace pbs::cmds
