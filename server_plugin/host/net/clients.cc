#include "server_plugin/host/net/clients.h"

#include <algorithm>

namespace pbs::host {

Client& Clients::join(const std::string& name) {
    Client& client = clients_[name];
    client.name = name;
    if (client.connections == 0 && client.place.empty()) client.place.push_back(&client);
    ++client.connections;
    return client;
}

void Clients::leave(Client& client) {
    if (--client.connections != 0) return;
    bytes_ -= client.bytes;
    ready_ -= client.ready.size();
    round_.remove(&client);
    clients_.erase(clients_.find(client.name));
}

Client* Clients::largest(bool spare_managers) {
    Client* most = nullptr;
    for (auto& [name, client] : clients_) {
        if (spare_managers && client.manager) continue;
        if (most == nullptr || client.connections > most->connections) most = &client;
    }
    return most;
}

void Clients::count(Client& client, std::ptrdiff_t bytes, int busy) {
    client.bytes += static_cast<std::size_t>(bytes);
    bytes_ += static_cast<std::size_t>(bytes);
    client.busy += static_cast<std::size_t>(busy);
    if (client.waiting.empty() || (client.busy != 0 && !may_begin(client))) return;
    enter_round(client);
    ready_ += client.waiting.size();
    client.ready.splice(client.ready.end(), client.waiting);
}

std::size_t Clients::allowed(const Client& client) const {
    const std::size_t others = bytes_ - client.bytes;
    const std::size_t free = most_bytes_ - std::min(most_bytes_, others);
    // If the client has x bytes, free - x are left. The client may have a quarter of what is left: x = (free
    // - x) / 4, so x is a fifth of free.
    return std::max(always_, free / 5);
}

void Clients::enter_round(Client& client) {
    if (client.place.empty()) return;
    round_.splice(round_.end(), client.place);
    client.credit = slice_;
}

void Clients::want_turn(Client& client, uint64_t connection) {
    client.ready.push_back(connection);
    ++ready_;
    enter_round(client);
}

void Clients::want_memory(Client& client, uint64_t connection) {
    client.waiting.push_back(connection);
}

void Clients::forget(Client& client, uint64_t connection) {
    std::erase(client.waiting, connection);
    ready_ -= std::erase(client.ready, connection);
}

// The client that had the last turn is still the first in round_. It loses this place here, if it has no
// ready connection or no credit.
std::optional<Clients::Turn> Clients::next() {
    while (!round_.empty()) {
        Client& client = *round_.front();
        if (client.ready.empty()) {
            client.place.splice(client.place.end(), round_, round_.begin());
        } else if (client.credit.count() <= 0) {
            client.credit += slice_;
            round_.splice(round_.end(), round_, round_.begin());
        } else {
            const uint64_t connection = client.ready.front();
            client.ready.pop_front();
            --ready_;
            return Turn{&client, connection};
        }
    }
    return std::nullopt;
}

}  // namespace pbs::host
