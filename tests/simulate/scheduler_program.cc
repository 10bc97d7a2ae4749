// A program for tests of `pbs_simulate --external`: does the steps that its arguments name, and then only
// waits for changes. Writes lines about the steps to the file that its first argument names.
//
//     register            wait SECONDS        poll            record          tasks JOB HOST CPUS
//     start JOB PLACE     checked JOB PLACE   rerun JOB       delete JOB      comment JOB TEXT
//     ask JOB PLACE       unchecked JOB PLACE (check=False)   waited JOB PLACE (a checked pbs_runjob)
//     signal JOB NAME
//     estimate JOB TIME   node NAME       exit STATUS     hang            alter JOB NAME VALUE
//     connect             repeat STEP ...     die             until FILE (waits for the file)
//
// PLACE may be "-": no place. `connect` makes another connection, which the further steps use. `repeat` does
// a step for ever.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace {

class Steps {
  public:
    explicit Steps(const char* file) : out_(std::fopen(file, "a")) {
        if (out_ == nullptr) std::abort();
        connect();
    }

    void run(const std::vector<std::string>& words) {
        words_ = &words;
        while (at_ < words.size()) {
            if (words[at_] == "repeat") {
                const std::size_t from = ++at_;
                for (;; at_ = from) step();
            }
            step();
        }
        for (;;)
            if (!wait(3600)) std::exit(EXIT_FAILURE);
    }

  private:
    std::string word() { return at_ < words_->size() ? (*words_)[at_++] : std::string(); }
    void say(const std::string& line) const {
        fmt::print(out_, "{}\n", line);
        std::fflush(out_);
    }
    // Writes the result of a step.
    void result(const std::string& step, int code) const {
        const char* const text = code == 0 ? nullptr : pbs_geterrmsg(connection_);
        say(code == 0 ? step + ": done" : fmt::format("{}: {} {}", step, code, text == nullptr ? "" : text));
    }
    void connect() {
        connection_ = pbs_connect(nullptr);
        if (connection_ < 0) std::exit(EXIT_FAILURE);
    }
    // Returns the text of a reply, and takes its version.
    std::string take(batch_status* reply) {
        std::string text;
        for (const batch_status* part = reply; part != nullptr; part = part->next)
            for (const attrl* one = part->attribs; one != nullptr; one = one->next) text += one->value;
        pbs_statfree(reply);
        constexpr const char* kVersion = "\"version\":";
        const auto at = text.starts_with("{\"pbspolicy") ? text.find(kVersion) : text.rfind(kVersion);
        if (at != text.npos) version_ = std::atoll(text.c_str() + at + std::string(kVersion).size());
        return text;
    }
    static std::string now_in(const std::string& text) {
        const auto at = text.rfind("\"now\":");
        return at == text.npos ? "" : std::to_string(std::atoll(text.c_str() + at + 6) - 1795392000);
    }
    // Waits for changes. Writes the time, the changed jobs with their states, and the handles of the jobs
    // that are gone.
    bool wait(int seconds) {
        batch_status* const reply = pbs_statchanges(connection_, nullptr, version_, seconds, nullptr);
        if (reply == nullptr) {
            result("wait", pbs_errno);
            return false;
        }
        const std::string text = take(reply);
        std::string said = fmt::format("wait {}: at {}", seconds, now_in(text));
        for (std::size_t at = 0; (at = text.find("\"id\":\"", at)) != text.npos; ++at) {
            const auto state = text.find("\"state\":\"", at);
            const auto end = text.find('\n', at);
            said += ' ' + text.substr(at + 6, text.find('"', at + 6) - at - 6);
            if (state < end) said += text.substr(state + 9, 1);
        }
        for (std::size_t at = 0; (at = text.find("{\"gone\":{\"job\":", at)) != text.npos; ++at)
            said += fmt::format(" -{}", std::atoll(text.c_str() + at + 15));
        say(said);
        return true;
    }
    int alter(const std::string& job, const char* name, const char* resource, std::string value) const {
        attrl attribute{};
        std::string attribute_name = name;
        std::string of = resource;
        attribute.name = attribute_name.data();
        attribute.resource = of.empty() ? nullptr : of.data();
        attribute.value = value.data();
        return pbs_alterjob(connection_, job.c_str(), &attribute, nullptr);
    }
    int start(const std::string& job, const std::string& place, const char* extend) const {
        return pbs_asyrunjob_ack(connection_, job.c_str(), place == "-" ? nullptr : place.c_str(), extend);
    }
    // Writes the answer about a start: its outcome and reason, and the number of the filters that answer.
    void ask(const std::string& job, const std::string& place) {
        batch_status* const reply =
            pbs_asks(connection_, job.c_str(), place == "-" ? nullptr : place.c_str(), nullptr);
        const std::string step = "ask " + job + ' ' + place;
        if (reply == nullptr) return result(step, pbs_errno);
        std::string said;
        int filters = 0;
        for (const batch_status* part = reply; part != nullptr; part = part->next)
            for (const attrl* one = part->attribs; one != nullptr; one = one->next) {
                const std::string name = one->name;
                if (name == "outcome" || name == "reason" || name == "location")
                    said += fmt::format(" {}={}", name, one->value);
                filters += name == "gate" ? 1 : 0;
            }
        say(fmt::format("{}:{} filters={}", step, said, filters > 1 ? "several" : "few"));
        pbs_statfree(reply);
    }
    void node(const std::string& name) {
        batch_status* const reply = pbs_statvnode(connection_, name.c_str(), nullptr, nullptr);
        std::string said;
        for (const attrl* one = reply == nullptr ? nullptr : reply->attribs; one != nullptr; one = one->next)
            said += fmt::format(" {}{}{}={}", one->name, one->resource == nullptr ? "" : ".",
                                one->resource == nullptr ? "" : one->resource, one->value);
        if (reply == nullptr)
            result("node " + name, pbs_errno);
        else
            say("node " + name + ":" + said);
        pbs_statfree(reply);
    }

    void step() {
        const std::string name = word();
        if (name == "register") return result(name, pbs_schedregister(connection_, nullptr, nullptr));
        if (name == "connect") return connect();
        if (name == "wait") return void(wait(std::atoi(word().c_str())));
        if (name == "poll") return void(wait(0));
        if (name == "exit") std::exit(std::atoi(word().c_str()));
        if (name == "die") raise(SIGKILL);
        if (name == "until") {
            for (const std::string file = word(); access(file.c_str(), F_OK) != 0;) usleep(20'000);
            return;
        }
        if (name == "hang")
            for (;;) pause();
        if (name == "record") {
            return say("record: at " + now_in(take(pbs_statrecord(connection_, nullptr, nullptr))));
        }
        const std::string job = word();
        const std::string step = name + ' ' + job;
        if (name == "node") return node(job);
        if (name == "rerun") return result(step, pbs_rerunjob(connection_, job.c_str(), nullptr));
        if (name == "delete") return result(step, pbs_deljob(connection_, job.c_str(), nullptr));
        const std::string more = word();
        if (name == "start") return result(step + ' ' + more, start(job, more, nullptr));
        if (name == "signal")
            return result(step + ' ' + more, pbs_sigjob(connection_, job.c_str(), more.c_str(), nullptr));
        if (name == "ask") return ask(job, more);
        if (name == "checked") return result(step + ' ' + more, start(job, more, "check=True"));
        if (name == "unchecked") return result(step + ' ' + more, start(job, more, "check=False"));
        if (name == "waited")
            return result(step + ' ' + more,
                          pbs_runjob(connection_, job.c_str(), more.c_str(), "check=True"));
        if (name == "comment") return result(step, alter(job, "comment", "", more));
        if (name == "estimate") return result(step, alter(job, "estimated", "start_time", more));
        if (name == "alter") return result(step, alter(job, more.c_str(), "", word()));
        if (name == "tasks") {
            const pbs_task_map tasks[] = {{std::atoi(word().c_str()), more.c_str()}, {0, nullptr}};
            return result(step + ' ' + more, pbs_runtasks(connection_, job.c_str(), tasks, nullptr));
        }
        say("unknown step " + name);
        std::exit(EXIT_FAILURE);
    }

    std::FILE* out_;
    int connection_ = -1;
    long long version_ = 0;
    const std::vector<std::string>* words_ = nullptr;
    std::size_t at_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return EXIT_FAILURE;
    Steps steps(argv[1]);
    steps.run({argv + 2, argv + argc});
}
