// The host as the plugin's files see it: its properties, its log and its replies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "objects/unsupported.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::plugin {

// An attribute of an object in a reply. Its members are views, valid during the call that gets them.
struct ShownAttribute {
    std::string_view name;
    std::string_view value;
    std::string_view resource;
};

// A reply under construction, for one request.
class Reply {
  public:
    Reply(const pbs_host& host, pbs_reply* reply) : host_(host), reply_(reply) {}

    // Ends the request with a PBSE_ number. Returns the number, so that a handler can return it.
    int32_t error(int32_t code, std::string_view text);
    void warning(std::string_view text);
    void object(int32_t object_type, std::string_view name, std::span<const ShownAttribute> attributes);
    // takes_encoded() returns whether the host takes encoded objects. If so, encoded() adds an object that
    // ifl::encode_object has encoded.
    bool takes_encoded() const;
    void encoded(std::string_view object);
    // Adds an attribute to the object that was added last by object().
    void attribute(const ShownAttribute& attribute);

  private:
    const pbs_host& host_;
    pbs_reply* reply_;
};

class Host {
  public:
    // `host` must stay valid for the life of this object (a rule of the C interface for the host's table).
    explicit Host(const pbs_host& host) : host_(host) {}

    // Returns PBS_HOME as an absolute path.
    std::string_view home() const;
    std::string_view server_name() const;
    // Returns the IANA name of the server's zone; empty: the system's zone.
    std::string_view time_zone() const;

    // Writes a line to the server's log. `object` names the line's subject.
    void log(pbs_log_level level, std::string_view object, std::string_view message) const;

    // Tells the host that a cycle in a thread is over, if the host takes such calls. Any thread may call it.
    void cycle_finished() const;
    // takes_work_finished(): returns whether the host repeats calls after work_finished(), which tells it
    // that other work in a thread is over.
    bool takes_work_finished() const;
    void work_finished() const;

    // Returns whether the host has OpenPBS's pbs_sched and its files. State::has_pbs_sched() says for which
    // schedulers pbs_sched decides.
    bool has_pbs_sched() const;
    bool provisions() const;
    objects::ServerAbilities abilities() const;

    Reply reply(pbs_reply* reply) const { return {host_, reply}; }

  private:
    const pbs_host& host_;
};

}  // namespace pbs::plugin
