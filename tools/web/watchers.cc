#include "tools/web/watchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pbs::web {
namespace {

// The longest time without an event: after a longer one, proxies and browsers would drop the connection.
constexpr std::chrono::seconds kLongestSilence{15};
constexpr int kTooMany = 503;

}  // namespace

struct Watchers::Watch {
    const Page& page;
    Query query;
    std::uint64_t revision = 0;
};

// Sends an event: "news" if the answer is new, else "same", with the PBS server's time when it was last
// asked.
bool Watchers::tell(Watch& watch, httplib::DataSink& sink) {
    const auto told = feed_.get(watch.page, watch.query);
    const bool news = told->revision != watch.revision;
    watch.revision = told->revision;
    const std::string event = fmt::format("event: {}\ndata: {{\"revision\":{},\"time\":{}}}\n\n",
                                          news ? "news" : "same", told->revision, told->time);
    if (!sink.is_writable() || !sink.write(event.data(), event.size())) return false;
    const auto end = std::min(told->good_until, std::chrono::steady_clock::now() + kLongestSilence);
    values::Lock lock(mutex_);
    while (!over_ && lock.wait_until(stopped_, end)) continue;
    return !over_;
}

void Watchers::watch(const Page& page, const Query& query, httplib::Response& answer) {
    {
        const values::Lock lock(mutex_);
        if (count_ == kMost || over_) {
            answer.status = kTooMany;
            answer.set_header("Retry-After", "30");
            return;
        }
        ++count_;
    }
    answer.set_header("X-Accel-Buffering", "no");  // keeps nginx from buffering events
    answer.set_content_provider(
        "text/event-stream",
        [this, watch = std::make_shared<Watch>(Watch{page, query})](size_t, httplib::DataSink& sink) {
            return tell(*watch, sink);
        },
        [this](bool) {
            const values::Lock lock(mutex_);
            --count_;
        });
}

void Watchers::stop() {
    const values::Lock lock(mutex_);
    over_ = true;
    stopped_.notify_all();
}

}  // namespace pbs::web
