// Keeps account of the server's clients: their connections, their memory, and the order of their turns. In a
// turn, the server works on one client's requests for some milliseconds. This code does no input or output,
// and reads no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::host {

// A client is one user with all his connections, or one address with those of its connections whose users
// aren't known yet.
struct Client {
    std::string name;
    bool manager = false;
    std::size_t connections = 0;
    std::size_t bytes = 0;  // memory that the server uses for these connections
    std::size_t busy = 0;   // connections with a request or reply in work, which will release memory

  private:
    friend class Clients;
    // Lists, because a connection that has waited for memory has to get its turn even if there is none: its
    // place moves from one list to the other, and nothing is allocated.
    std::list<uint64_t> ready;    // connections with work to do
    std::list<uint64_t> waiting;  // connections that wait until the client has less memory
    std::list<Client*> place{};   // the client's place in Clients::round_, while it isn't there
    std::chrono::nanoseconds credit{0};
};

class Clients {
  public:
    // `most_bytes`: the memory of all clients together. `always`: the memory that each client may have even
    // beyond that, in bytes. `slice`: the time that a client's requests may take in one turn.
    Clients(std::size_t most_bytes, std::size_t always, std::chrono::nanoseconds slice)
        : most_bytes_(most_bytes), always_(always), slice_(slice) {}

    // join() adds a connection to the client with this name, and leave() removes one. The reference is valid
    // until the client's last connection is removed.
    Client& join(const std::string& name);
    void leave(Client& client);
    // Returns the client with most connections; nullptr: there is none. `spare_managers`: leaves managers
    // out.
    Client* largest(bool spare_managers);

    // Adds `bytes` to the client's memory and `busy` to its number of busy connections. If the client may
    // then begin a request, or has no busy connection, its connections that wait for memory get turns.
    void count(Client& client, std::ptrdiff_t bytes, int busy = 0);
    std::size_t bytes() const { return bytes_; }
    // Returns the memory that the client may have: a quarter of the memory that is free when the client has
    // it, so that some is left for others even if each client takes all that it may. (Dynamic thresholds:
    // Choudhury and Hahne, 1998.)
    std::size_t allowed(const Client& client) const;
    bool may_take(const Client& client) const { return client.bytes < allowed(client); }
    // Returns whether the client may begin a request. The bound for that is four times allowed(): four fifths
    // of the free memory.
    bool may_begin(const Client& client) const { return client.bytes < 4 * allowed(client); }

    // want_turn() notes that a connection wants a turn now; want_memory(), that it wants one when its client
    // may use more memory.
    void want_turn(Client& client, uint64_t connection);
    void want_memory(Client& client, uint64_t connection);
    // Forgets a connection that is closed, or that now belongs to another client.
    void forget(Client& client, uint64_t connection);

    struct Turn {
        Client* client;
        uint64_t connection;
    };
    // Returns the next turn; nullopt: no connection wants one. Clients take turns, and so do the connections
    // of each client. A client whose requests took longer than its slice loses turns until the others have
    // had as much time (deficit round robin: Shreedhar and Varghese, 1995).
    std::optional<Turn> next();
    void took(Client& client, std::chrono::nanoseconds time) { client.credit -= time; }
    bool anybody_ready() const { return ready_ != 0; }

  private:
    void enter_round(Client& client);

    std::size_t most_bytes_;
    std::size_t always_;
    std::chrono::nanoseconds slice_;
    std::size_t bytes_ = 0;
    std::map<std::string, Client, std::less<>> clients_;
    std::list<Client*> round_;  // clients with ready connections, in the order of their turns
    std::size_t ready_ = 0;     // number of connections that are ready
};

}  // namespace pbs::host
