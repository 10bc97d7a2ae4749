// The clients of the server, each with its connections, its memory and its place in the order of turns. Does
// no input or output, and reads no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::host {

// One user with all of his connections; or one address whose users aren't known yet.
struct Client {
    std::string name;
    bool manager = false;
    std::size_t connections = 0;
    std::size_t bytes = 0;  // memory that the server uses for these connections
    std::size_t busy = 0;   // connections with a request or reply in work: they will release memory

  private:
    friend class Clients;
    std::deque<uint64_t> ready;     // connections with work to do
    std::vector<uint64_t> waiting;  // connections that wait until the client has less memory
    bool in_round = false;
    std::chrono::nanoseconds credit{0};
};

class Clients {
  public:
    // `most_bytes`: the memory of all clients together; even beyond that, each client may have `always`
    // bytes. `slice`: the time that a client's requests may take in one turn.
    Clients(std::size_t most_bytes, std::size_t always, std::chrono::nanoseconds slice)
        : most_bytes_(most_bytes), always_(always), slice_(slice) {}

    // Add and remove a connection of a client. References are valid until the client's last connection is
    // gone.
    Client& join(const std::string& name);
    void leave(Client& client);
    // The client with most connections; nullptr: there is none. `spare_managers`: managers don't count.
    Client* largest(bool spare_managers);

    // Adds to the client's memory and to its number of busy connections. If the client may then begin a
    // request, or has no busy connection, its connections that wait for memory get turns.
    void count(Client& client, std::ptrdiff_t bytes, int busy = 0);
    std::size_t bytes() const { return bytes_; }
    // The memory that the client may have: a quarter of the memory that is then free, so that some is left
    // for others even if each client takes what he may. (Dynamic thresholds: Choudhury and Hahne, 1998.)
    std::size_t allowed(const Client& client) const;
    bool may_take(const Client& client) const { return client.bytes < allowed(client); }
    // May the client begin a request? The bound for that is higher: four fifths of the free memory.
    bool may_begin(const Client& client) const { return client.bytes < 4 * allowed(client); }

    // Note that a connection wants a turn: now, or when its client may use more memory.
    void want_turn(Client& client, uint64_t connection);
    void want_memory(Client& client, uint64_t connection);
    // Forgets a connection that is closed, or that now belongs to another client.
    void forget(Client& client, uint64_t connection);

    struct Turn {
        Client* client;
        uint64_t connection;
    };
    // Returns the next turn. Clients take turns, and so do the connections of each client. A client whose
    // requests took longer than its slice loses turns until the others have had as much time (deficit round
    // robin: Shreedhar and Varghese, 1995).
    std::optional<Turn> next();
    void took(Client& client, std::chrono::nanoseconds time) { client.credit -= time; }
    bool anybody_ready() const { return ready_ != 0; }

  private:
    std::size_t most_bytes_;
    std::size_t always_;
    std::chrono::nanoseconds slice_;
    std::size_t bytes_ = 0;
    std::map<std::string, Client, std::less<>> clients_;
    std::list<Client*> round_;  // clients with ready connections; the first is next
    std::size_t ready_ = 0;     // number of connections that are ready
};

}  // namespace pbs::host
