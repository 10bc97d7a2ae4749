// The clients of the server, with what each of them has: connections, memory, and turns. Does no input or
// output and reads no clock.
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

// One user with all of his connections; or an address whose users aren't known yet.
struct Client {
    std::string name;
    bool manager = false;
    std::size_t connections = 0;
    std::size_t bytes = 0;  // memory that the server keeps for these connections
    std::size_t busy = 0;   // connections whose memory gets less whatever else happens

  private:
    friend class Clients;
    std::deque<uint64_t> ready;     // connections that have something to do
    std::vector<uint64_t> waiting;  // connections that wait until the client has less memory
    bool in_round = false;
    std::chrono::nanoseconds credit{0};
};

class Clients {
  public:
    // `most_bytes`: the memory for all together, except that each client may always have `always` bytes.
    // `slice`: how long the requests of a client may take until it is another's turn.
    Clients(std::size_t most_bytes, std::size_t always, std::chrono::nanoseconds slice)
        : most_bytes_(most_bytes), always_(always), slice_(slice) {}

    // Adds or removes a connection of a client. References stay valid until the client's last connection is
    // gone.
    Client& join(const std::string& name);
    void leave(Client& client);
    // The client with most connections, without managers if these are to be spared; nullptr: there is none.
    Client* largest(bool spare_managers);

    // Adds to the client's memory and to its number of busy connections. If it may then begin something, or
    // none of its connections is busy, those that wait for memory get their turns.
    void count(Client& client, std::ptrdiff_t bytes, int busy = 0);
    std::size_t bytes() const { return bytes_; }
    // The memory that the client may have: a quarter of what is then left, so that something is always left
    // for others, whoever takes what he can. (Dynamic thresholds: Choudhury and Hahne, 1998.)
    std::size_t allowed(const Client& client) const;
    bool may_take(const Client& client) const { return client.bytes < allowed(client); }
    // A harder bound: four fifths of the free memory.
    bool may_begin(const Client& client) const { return client.bytes < 4 * allowed(client); }

    // Notes that a connection wants a turn: now, or when its client may take memory again.
    void want_turn(Client& client, uint64_t connection);
    void want_memory(Client& client, uint64_t connection);
    // Forgets a connection that is closed, or now another client's.
    void forget(Client& client, uint64_t connection);

    struct Turn {
        Client* client;
        uint64_t connection;
    };
    // The next turn. Clients take turns, and so do the connections of each. A client whose requests took
    // longer than its slice is passed over until the others have had as much (deficit round robin: Shreedhar
    // and Varghese, 1995).
    std::optional<Turn> next();
    void took(Client& client, std::chrono::nanoseconds time) { client.credit -= time; }
    bool anybody_ready() const { return ready_ != 0; }

  private:
    std::size_t most_bytes_;
    std::size_t always_;
    std::chrono::nanoseconds slice_;
    std::size_t bytes_ = 0;
    std::map<std::string, Client, std::less<>> clients_;
    std::list<Client*> round_;  // clients that take turns, the next one first
    std::size_t ready_ = 0;     // number of connections that are ready
};

}  // namespace pbs::host
