#include "server_plugin/host/net/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/allocations_left.h"

namespace pbs::host {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

class ClientsTest : public testing::Test {
  protected:
    Client& with(const std::string& name, std::size_t connections) {
        for (std::size_t i = 1; i < connections; ++i) clients_.join(name);
        return clients_.join(name);
    }
    // Gives `count` turns to clients. A turn takes the time that `cost` has for its client, and the
    // connection then wants another turn. Returns the names of the clients in the order of their turns.
    std::vector<std::string> turns(std::size_t count, std::map<std::string, milliseconds> cost = {}) {
        std::vector<std::string> names;
        while (names.size() < count) {
            const auto turn = clients_.next();
            if (!turn) break;
            names.push_back(turn->client->name);
            clients_.took(*turn->client, cost.contains(names.back()) ? cost[names.back()] : milliseconds(2));
            clients_.want_turn(*turn->client, turn->connection);
        }
        return names;
    }

    Clients clients_{1000, 10, milliseconds(2)};
};

TEST_F(ClientsTest, UsersTakeTurnsNotConnections) {
    Client& many = with("many", 400);
    Client& one = with("one", 1);
    for (uint64_t id = 1; id <= 400; ++id) clients_.want_turn(many, id);
    clients_.want_turn(one, 401);
    EXPECT_THAT(turns(6), ElementsAre("many", "one", "many", "one", "many", "one"));
}

TEST_F(ClientsTest, ConnectionsOfAUserTakeTurnsToo) {
    Client& user = with("user", 3);
    for (const uint64_t id : {1, 2, 3}) clients_.want_turn(user, id);
    std::vector<uint64_t> ids;
    for (int i = 0; i < 5; ++i) {
        const auto turn = clients_.next();
        ids.push_back(turn->connection);
        clients_.want_turn(*turn->client, turn->connection);
    }
    EXPECT_THAT(ids, ElementsAre(1, 2, 3, 1, 2));
}

TEST_F(ClientsTest, CheapRequestsShareASlice) {
    clients_.want_turn(with("cheap", 1), 1);
    clients_.want_turn(with("other", 1), 2);
    EXPECT_THAT(turns(6, {{"cheap", milliseconds(1)}}),
                ElementsAre("cheap", "cheap", "other", "cheap", "cheap", "other"));
}

TEST_F(ClientsTest, WhoseRequestsAreExpensiveHasFewerTurns) {
    clients_.want_turn(with("expensive", 1), 1);
    clients_.want_turn(with("cheap", 1), 2);
    const auto names = turns(120, {{"expensive", milliseconds(40)}});
    // One turn of 40 ms takes as long as 20 turns of the cheap client.
    EXPECT_THAT(std::ranges::count(names, "expensive"), AllOf(Ge(5), Le(7)));
    EXPECT_EQ(names.at(1), "cheap");
}

TEST_F(ClientsTest, AnExpensiveRequestAloneIsNobodysLoss) {
    clients_.want_turn(with("expensive", 1), 1);
    EXPECT_EQ(turns(50, {{"expensive", milliseconds(1000)}}).size(), 50U);
}

TEST_F(ClientsTest, AClosedConnectionHasNoTurn) {
    Client& user = with("user", 2);
    clients_.want_turn(user, 1);
    clients_.want_turn(user, 2);
    clients_.forget(user, 1);
    clients_.leave(user);
    EXPECT_EQ(clients_.next()->connection, 2U);
    clients_.leave(user);
    EXPECT_FALSE(clients_.anybody_ready());
    EXPECT_FALSE(clients_.next());
}

TEST_F(ClientsTest, MemoryNeverComesToAnEnd) {
    // Each client takes all the memory that it may take; some is always left for the next client.
    std::size_t last = 1000;
    for (int i = 0; i < 50; ++i) {
        Client& user = with("user" + std::to_string(i), 1);
        const std::size_t allowed = clients_.allowed(user);
        EXPECT_GE(allowed, 10U);
        EXPECT_LE(allowed, last);
        clients_.count(user, static_cast<std::ptrdiff_t>(allowed));
        EXPECT_FALSE(clients_.may_take(user));
        last = allowed;
    }
    EXPECT_LT(clients_.bytes(), 1000U + 50U * 10U);
}

TEST_F(ClientsTest, OneMayHaveAQuarterOfTheRest) {
    Client& user = with("user", 1);
    EXPECT_EQ(clients_.allowed(user), 200U);
    clients_.count(user, 199);
    EXPECT_TRUE(clients_.may_take(user));
    clients_.count(user, 1);
    EXPECT_FALSE(clients_.may_take(user));
}

TEST_F(ClientsTest, WhoWaitsForMemoryGoesOnWhenThereIsSome) {
    Client& user = with("user", 2);
    clients_.count(user, 900, 1);
    clients_.want_memory(user, 7);
    EXPECT_FALSE(clients_.next());
    clients_.count(user, -50);
    EXPECT_FALSE(clients_.next()) << "still too much";
    clients_.count(user, -51);
    EXPECT_TRUE(clients_.may_begin(user));
    EXPECT_FALSE(clients_.may_take(user));
    ASSERT_TRUE(clients_.anybody_ready());
    EXPECT_EQ(clients_.next()->connection, 7U);
}

TEST_F(ClientsTest, WhenNothingGoesOnNobodyWaits) {
    Client& user = with("user", 2);
    clients_.count(user, 900, 1);
    clients_.want_memory(user, 7);
    clients_.count(user, 0, -1);
    EXPECT_TRUE(clients_.anybody_ready());
}

// There may be no later count that would look at those who wait.
TEST_F(ClientsTest, WhoWaitsForMemoryGoesOnAlsoIfTheProcessHasNone) {
    Client& user = with("user", 3);
    Client& other = with("other", 1);
    clients_.want_turn(other, 1);
    clients_.count(user, 900, 1);
    for (const uint64_t id : {7, 8}) clients_.want_memory(user, id);
    allocations_left = 1;
    clients_.count(user, 0, -1);
    EXPECT_EQ(std::exchange(allocations_left, 0), 1) << "nothing is allocated";
    EXPECT_EQ(clients_.next()->connection, 1U);
    EXPECT_EQ(clients_.next()->connection, 7U);
    EXPECT_EQ(clients_.next()->connection, 8U);
    EXPECT_FALSE(clients_.next());
    clients_.want_turn(user, 9);
    EXPECT_EQ(clients_.next()->connection, 9U);
}

TEST_F(ClientsTest, TheMemoryOfWhoLeavesIsFree) {
    Client& user = with("user", 1);
    clients_.count(user, 300);
    clients_.leave(user);
    EXPECT_EQ(clients_.bytes(), 0U);
    EXPECT_EQ(with("user", 1).bytes, 0U);
}

TEST_F(ClientsTest, TheLargestIsWhoHasMostConnections) {
    EXPECT_EQ(clients_.largest(false), nullptr);
    with("few", 2);
    with("root", 5).manager = true;
    with("many", 3);
    EXPECT_EQ(clients_.largest(false)->name, "root");
    EXPECT_EQ(clients_.largest(true)->name, "many");
}

}  // namespace
}  // namespace pbs::host
