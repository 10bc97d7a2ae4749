#include "server_plugin/host/store/job_rows.h"

#include <algorithm>
#include <new>
#include <utility>

#include "sqlite/connection.h"

namespace pbs::host {
namespace {

constexpr std::size_t kBytesTogether = std::size_t{256} << 10;
constexpr std::size_t kMostReady = 8;

constexpr const char* kQuery =
    "SELECT job.sequence, substate, queue_rank, ctime, qtime, etime, stime, job.mtime, obittime, at_end, "
    "deleted, job_comment.mtime, state, queue, exec_vnode, exec_host, defaulted, attributes, comment.text "
    "FROM job LEFT JOIN job_comment ON job_comment.job = job.sequence "
    "LEFT JOIN comment ON comment.id = job_comment.comment "
    "ORDER BY job.sequence";

}  // namespace

JobRows::JobRows(sqlite::Connection& db) : db_(db), current_(std::make_unique<Rows>()) {
    reader_ = std::thread([this] {
        bool ok = false;
        try {
            ok = read();
        } catch (const std::bad_alloc&) {
            // ok_ becomes false, which reports the failure.
        }
        const values::Lock lock(mutex_);
        ok_ = ok;
        over_ = true;
        changed_.notify_all();
    });
}

JobRows::~JobRows() {
    {
        const values::Lock lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    reader_.join();
}

const std::vector<JobRow>& JobRows::next() {
    static const std::vector<JobRow> none;
    values::Lock lock(mutex_);
    while (!over_ && ready_.empty()) lock.wait(changed_);
    if (ready_.empty()) return none;
    given_ = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return given_->rows;
}

bool JobRows::read() {
    sqlite::Statement query = db_.statement(kQuery);
    while (query.next()) {
        JobRow row;
        int column = 0;
        for (int64_t& number : row.number) number = query.integer(column++);
        std::size_t size = 0;
        for (std::string_view& text : row.text) {
            text = query.text(column++);
            size += text.size();
        }
        // A row's texts are views of these bytes, so the bytes must not move. When their memory is full, pass
        // the rows on, and begin a new block.
        std::string& bytes = current_->bytes;
        if (bytes.size() + size > bytes.capacity()) {
            if (!current_->rows.empty() && !pass_on()) return true;
            current_->bytes.reserve(std::max(size, kBytesTogether));
        }
        add(row);
    }
    if (query.ok() && !current_->rows.empty()) pass_on();
    return query.ok();
}

void JobRows::add(JobRow row) {
    std::string& bytes = current_->bytes;
    for (std::string_view& text : row.text) {
        const std::size_t begin = bytes.size();
        bytes += text;
        text = std::string_view(bytes).substr(begin);
    }
    current_->rows.push_back(row);
}

bool JobRows::pass_on() {
    values::Lock lock(mutex_);
    while (!stop_ && ready_.size() >= kMostReady) lock.wait(changed_);
    ready_.push_back(std::exchange(current_, std::make_unique<Rows>()));
    changed_.notify_all();
    return !stop_;
}

}  // namespace pbs::host
