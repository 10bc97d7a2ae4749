// The program pbs_web: shows a server's state over HTTP.

#include <fmt/format.h>
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tools/web/address.h"
#include "tools/web/host_names.h"
#include "tools/web/server.h"
#include "tools/web/source.h"
#include "tools/web/trends.h"
#include "tools/web/what_if.h"

namespace {

using namespace pbs::web;  // NOLINT(google-build-using-namespace): this is a program

int complain(const std::string& message, int status) {
    fmt::print(stderr, "pbs_web: {}\n", message);
    return status;
}

// Serves until a signal tells the program to stop. All threads but the waiter have the signal blocked.
int serve(Server& server, const sigset_t& stops) {
    std::thread waiter([&server, &stops] {
        int signal = 0;
        sigwait(&stops, &signal);
        server.stop();
    });
    const bool done = server.run();
    // The signal is blocked in the other threads, so it only ends the waiter's wait.
    if (!done) pthread_kill(waiter.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
    waiter.join();
    return done ? 0 : complain("can't take connections any more", 1);
}

// Asks for the page Shares at intervals, so that trends also cover times in which nobody looks.
void follow_shares(Source& source, Trends& trends, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        Answer answer = source.ask(*find_page("shares"), {});
        if (answer.status == 200) trends.tell(answer);
        wake.wait_for(lock, stop, std::chrono::seconds(Trends::kBetween), [] { return false; });
    }
}

Answer compare(WhatIf& what_if, std::string_view body) {
    constexpr int kConflict = 409;
    constexpr int kAccepted = 202;
    const auto comparison = parse_comparison(body);
    if (!comparison) return refusal(kBad, comparison.error());
    if (!what_if.start(*comparison)) return refusal(kConflict, "a comparison runs; wait for its end");
    return {.status = kAccepted, .json = {{"version", kVersion}, {"state", "running"}}};
}

int run(int argc, char** argv) {
    std::string bind = "127.0.0.1";
    int port = 15080;
    std::string name;
    std::string base;
    std::vector<std::string> names;
    CLI::App app("Answers browsers and monitoring over HTTP about a PBS server, and changes nothing there.",
                 "pbs_web");
    app.footer("See pbs_web(8).");
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    app.add_option("--bind", bind, "Numeric address to listen on; 0.0.0.0 for all")
        ->type_name("ADDRESS")
        ->capture_default_str();
    app.add_option("-p,--port", port, "TCP port; 0 takes a free one")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    app.add_option("--base-path", base, "What all addresses begin with, behind a proxy that leaves it there")
        ->type_name("PATH");
    app.add_option("--host-name", names,
                   "A name to answer to, beside localhost and the address that is listened on; more than "
                   "once for more")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_option("--server", name, "The server to ask, in place of the default one")->type_name("NAME");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto prefix = parse_prefix(base);
    if (!prefix) return complain(fmt::format("bad --base-path '{}': expected a path such as /pbs", base), 2);
    if (const auto bad = std::ranges::find_if_not(names, is_host_name); bad != names.end())
        return complain(
            fmt::format("bad --host-name '{}': expected a name such as pbs.example.org, without a port",
                        *bad),
            2);
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stops, nullptr);
    std::signal(SIGPIPE, SIG_IGN);

    // Give monitoring a connection of its own, so that it doesn't wait for pages.
    Source counters(name);
    Source source(name);
    WhatIf what_if(simulate_program(), name);
    Trends trends;
    Server server({.metrics = [&counters] { return counters.metrics(); },
                   .ask =
                       [&](const Page& page, const Query& query) {
                           Answer answer = source.ask(page, query);
                           if (page.name == "what-if" && answer.status == 200) what_if.tell(answer);
                           if (page.name == "shares" && answer.status == 200) trends.tell(answer);
                           return answer;
                       },
                   .compare = [&what_if](std::string_view body) { return compare(what_if, body); },
                   .plots = [&what_if] { return what_if.plots(); },
                   .base = *prefix,
                   .names = names});
    const int taken = server.bind(bind, port);
    if (taken < 0) return complain(fmt::format("can't listen on {}, port {}", bind, port), 1);
    fmt::print("pbs_web: http://{}:{}{}/\n", bind.find(':') == std::string::npos ? bind : "[" + bind + "]",
               taken, *prefix);
    (void)std::fflush(stdout);
    const std::jthread follower([&](const std::stop_token& stop) { follow_shares(source, trends, stop); });
    return serve(server, stops);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return complain(error.what(), 1);
    }
}
