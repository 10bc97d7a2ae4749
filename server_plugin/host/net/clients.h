// Who has connections to the server, and what each of them has: connections, memory, and his turns. It does
// no input or output and reads no clock.
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

// One user, however many connections he has; or those of an address whose users aren't known.
struct Client {
    std::string name;
    bool manager = false;
    std::size_t connections = 0;
    std::size_t bytes = 0;  // that the server keeps for these connections
    std::size_t busy = 0;   // connections whose bytes get fewer whatever else happens

  private:
    friend class Clients;
    std::deque<uint64_t> ready;     // connections that have something to do
    std::vector<uint64_t> waiting;  // and those that wait until the client has less memory
    bool in_round = false;
    std::chrono::nanoseconds credit{0};
};

class Clients {
  public:
    // `most_bytes` is what all may have together, but for `always` bytes that each may have in any case.
    // `slice` is how long the requests of a client may take until it's another's turn.
    Clients(std::size_t most_bytes, std::size_t always, std::chrono::nanoseconds slice)
        : most_bytes_(most_bytes), always_(always), slice_(slice) {}

    // A connection of this client more, or less. References are good until the client's last one.
    Client& join(const std::string& name);
    void leave(Client& client);
    // The one with most connections, but for managers if they are to be spared; nullptr: there is none.
    Client* largest(bool spare_managers);

    // The client has so many bytes more or less, and so many busy connections. If he may begin something
    // then, or none is busy, those that wait for memory get their turns.
    void count(Client& client, std::ptrdiff_t bytes, int busy = 0);
    std::size_t bytes() const { return bytes_; }
    // As much as the client may have: a quarter of what is then left, so that there is always something for
    // others, whoever takes what he can. (Dynamic thresholds: Choudhury and Hahne, 1998.)
    std::size_t allowed(const Client& client) const;
    bool may_take(const Client& client) const { return client.bytes < allowed(client); }
    // A harder bound: all but a fifth of what's free.
    bool may_begin(const Client& client) const { return client.bytes < 4 * allowed(client); }

    // The connection wants a turn: now, or when its client may take memory again.
    void want_turn(Client& client, uint64_t connection);
    void want_memory(Client& client, uint64_t connection);
    // It's closed, or another client's.
    void forget(Client& client, uint64_t connection);

    struct Turn {
        Client* client;
        uint64_t connection;
    };
    // Who is next. Clients take turns, and so do the connections of each. A client whose requests took longer
    // than his slice is passed over until the others have had as much (deficit round robin: Shreedhar and
    // Varghese, 1995).
    std::optional<Turn> next();
    void took(Client& client, std::chrono::nanoseconds time) { client.credit -= time; }
    bool anybody_ready() const { return ready_ != 0; }

  private:
    std::size_t most_bytes_;
    std::size_t always_;
    std::chrono::nanoseconds slice_;
    std::size_t bytes_ = 0;
    std::map<std::string, Client, std::less<>> clients_;
    std::list<Client*> round_;  // those who take turns, the next one first
    std::size_t ready_ = 0;     // connections
};

}  // namespace pbs::host
