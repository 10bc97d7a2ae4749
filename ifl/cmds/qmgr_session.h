// qmgr at work: directives carried out at servers, and what is active.
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
    bool send_ahead = false;      // changes are sent without waiting for the answers to those before
};

class QmgrSession {
  public:
    explicit QmgrSession(QmgrOptions options) : options_(options) {}

    // Connects to the servers that are active at first; none named: the default one. False, with a message
    // written, when one can't be reached.
    bool connect(const std::vector<std::string>& servers);

    // Carries out one directive. What it asks for is written to stdout, errors and warnings to stderr; both
    // in the order of the directives, even if those that were sent ahead are told of later.
    void run(std::string_view text);

    // Waits for the answers to what was sent ahead, and tells of them as run() does.
    void take_answers();

    // Is nothing more to be read: after quit, or an error with -a?
    bool finished() const { return finished_; }
    // What qmgr ends with: the status of the last directive.
    int status() const { return status_; }
    // The number that the user gave to `history`, once it was asked for; read and cleared by the terminal.
    std::string take_history_request();

    // Names of the objects of a type at the active servers; for completion.
    std::vector<std::string> object_names(ObjectType type);

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
    // Says what misspelled attributes of PBS's own objects were perhaps meant to be.
    void suggest(const Directive& directive) const;
    void show(Connection& connection, const Target& target, const Directive& directive);
    void list_as_it_comes(Connection& connection, const Target& target, ObjectType type, attrl* wanted);
    void print_server(Connection& connection, const Target& target);
    void activate(const Directive& directive);
    bool exists(const Directive& directive, const Target& target);
    // Writes why a request failed with the PBS error `code`; `status` is what qmgr ends with for it.
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
