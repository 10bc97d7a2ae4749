#include "server_plugin/plugin/long_change.h"

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "values/mutex.h"

namespace pbs::plugin {

// The data that the plugin's thread and the thread of the change share. Until Stage::over, only the thread of
// the change touches `store` and `done`.
struct LongChange::Job {
    struct Stage {
        bool over = false;       // the work is over
        bool abandoned = false;  // nobody waits for the result
        bool gone = false;       // the thread has nothing left to do
    };
    values::Mutex mutex;
    Stage stage PBS_GUARDED_BY(mutex);
    std::atomic<bool> end = false;  // true: the work is to end as soon as it can
    std::shared_ptr<const objects::Store::Seed> seed;
    std::optional<objects::Store> store{};
    Done done = objects::fail(objects::Code::internal, "not done");

    Stage stage_now() {
        const values::Lock lock(mutex);
        return stage;
    }
    void work(const Work& what);
    // Closes the change's connection to the database. That takes a while, because SQLite copies its log into
    // the database.
    void close() {
        store.reset();
        const values::Lock lock(mutex);
        stage.gone = true;
    }
};

void LongChange::Job::work(const Work& what) {
    try {
        auto opened = objects::Store::prepare(*seed, end);
        if (opened) {
            store.emplace(std::move(*opened));
            done = what(*store);
        } else {
            done = tl::unexpected(opened.error());
        }
    } catch (const std::exception& escaped) {
        done = objects::fail(objects::Code::internal, escaped.what());
        store.reset();
    }
    bool wanted = false;
    {
        const values::Lock lock(mutex);
        stage.over = true;
        wanted = !stage.abandoned;
    }
    if (!wanted) close();
}

bool LongChange::busy() const {
    return ticket_ != 0 || (abandoned_ && !job_->stage_now().gone);
}

bool LongChange::ready() const {
    return !busy() && (!job_ || job_->stage_now().gone);
}

void LongChange::begin(objects::Store& store, std::uint64_t ticket, Work work) {
    if (thread_.joinable()) thread_.join();
    auto job = std::make_shared<Job>();
    job->seed = store.seed();
    thread_ = std::thread([job, work = std::move(work)] { job->work(work); });
    // Set these last: if the thread can't be made, no change has begun.
    job_ = std::move(job);
    ticket_ = ticket;
    abandoned_ = false;
}

bool LongChange::over() const {
    return ticket_ != 0 && job_->stage_now().over;
}

LongChange::Done LongChange::end(objects::Store& store) {
    thread_.join();
    ticket_ = 0;
    Done done = std::move(job_->done);
    try {
        if (done && job_->store) {
            if (const auto taken = store.take_over(*job_->store); !taken)
                done = tl::unexpected(taken.error());
        }
    } catch (...) {
        put_away();
        throw;
    }
    put_away();
    return done;
}

void LongChange::put_away() {
    // No thread, or no memory for one, is no failure: the change may be made by this time.
    try {
        thread_ = std::thread([job = job_] { job->close(); });
    } catch (const std::exception&) {
        job_->close();
    }
}

void LongChange::abandon(std::uint64_t ticket) {
    if (ticket == 0 || ticket != ticket_) return;
    ticket_ = 0;
    abandoned_ = true;
    bool over = false;
    {
        const values::Lock lock(job_->mutex);
        job_->stage.abandoned = true;
        job_->end = true;
        over = job_->stage.over;
    }
    if (!over) return;
    thread_.join();
    put_away();
}

void LongChange::stop() {
    abandon(ticket_);
    if (thread_.joinable()) thread_.join();
}

}  // namespace pbs::plugin
