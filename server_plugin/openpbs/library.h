// Finds the functions of OpenPBS's libpbs that the module needs in pbs_server.bin, by their names.
//
// The module also calls libpbs's decoders and encoders for requests and replies that aren't on a connection.
// For the time of such a call, the four functions by which libpbs moves bytes are replaced: a decoder then
// reads given bytes, and an encoder's bytes are collected. Nothing here depends on the structures of OpenPBS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ifl/attribute.h"
#include "server_plugin/openpbs/preload.h"

namespace pbs::openpbs {

// An attribute of a request exactly as the client sent it, since OpenPBS has to get the same bytes again.
struct RawAttribute {
    unsigned long length = 0;  // the attribute's length, as the client counts it
    std::string name;
    std::optional<std::string> resource;
    std::string value;
    unsigned long op = 0;

    ifl::Attribute attribute() const {
        return {name, resource.value_or(std::string()), value, static_cast<ifl::Op>(op)};
    }
};
using RawAttributes = std::vector<RawAttribute>;
void put_raw(ifl::DisWriter& out, const RawAttributes& attributes);

class Library {
  public:
    // Finds all functions, and tries decoders and encoders on a request and a reply. An error names a missing
    // function, or a result that differs from the expected one.
    static tl::expected<Library, std::string> open(const pbs_preload_calls& real);

    const pbs_preload_calls& real() const { return real_; }
    // Returns whether libpbs reads and writes a client's connection at the moment. (The other case is a mom's
    // stream.)
    bool on_connection() const;

    // These functions read from the connection as libpbs does. They return 0, or libpbs's own error.
    int get_unsigned(int sock, unsigned long& value) const;
    // Reads a text of at most `longest` bytes. Returns libpbs's error code for a longer text.
    int get_text(int sock, std::size_t longest, std::string& value) const;
    // Reads a text of any length.
    int get_any_text(int sock, std::string& value) const;
    int get_attributes(int sock, RawAttributes& attributes) const;
    int get_extend(int sock, std::string& extend, bool& present) const;

    // Calls `decoder`, which calls a decoder of libpbs. libpbs's decoder reads `bytes`. Returns the result of
    // `decoder`.
    int feed(std::string_view bytes, const std::function<int()>& decoder) const;
    // Returns libpbs's encoding of `reply`, a structure of libpbs, as the data of a packet; or libpbs's
    // error.
    tl::expected<std::string, int> encoded(int sock, void* reply) const;

    // put() adds the data of a packet to the connection's buffer, and flush() sends the buffer. Both return
    // 0, or an error.
    int put(int sock, std::string_view data) const;
    int flush(int sock) const;
    // Makes libpbs read and write clients' connections from now on.
    void use_connections() const;

  private:
    Library() = default;
    std::string find_all();
    std::string check_request() const;
    std::string check_reply() const;
    std::string check_events() const;

    pbs_preload_calls real_{};
    unsigned long (*disrul_)(int, int*) = nullptr;
    char* (*disrcs_)(int, std::size_t*, int*) = nullptr;
    int (*disrfcs_)(int, std::size_t*, std::size_t, char*) = nullptr;
    int (*dis_puts_)(int, const char*, std::size_t) = nullptr;
    int (*dis_flush_)(int) = nullptr;
    void (*tcp_funcs_)() = nullptr;
    void (*setup_channel_)(int, void* (*)(int)) = nullptr;
    // The addresses of libpbs's pointers to the four functions that move bytes.
    void* (**get_channel_)(int) = nullptr;
    int (**set_channel_)(int, void*) = nullptr;
    int (**receive_)(int, void*, int) = nullptr;
    int (**send_)(int, void*, int) = nullptr;
    void* (*tcp_get_channel_)(int) = nullptr;
    void* (*event_init_)(int) = nullptr;
    void (*event_destroy_)(void*) = nullptr;
    int (*event_add_)(void*, int, std::uint32_t) = nullptr;
    int (*event_wait_)(void*, epoll_event**, int, const sigset_t*) = nullptr;
};

}  // namespace pbs::openpbs
