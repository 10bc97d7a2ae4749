#include "sqlite/mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "values/fnv.h"

namespace pbs::sqlite {
namespace {

constexpr std::size_t kSlot = 512;
constexpr off_t kPlaces[] = {0, 4096};
constexpr off_t kTurnPlace = 8192;
constexpr off_t kUserPlace = 12288;

tl::unexpected<std::string> failed(const std::string& path, std::string_view doing) {
    return tl::unexpected(
        fmt::format("{} {}: {}", path, doing, std::error_code(errno, std::generic_category()).message()));
}

std::string slot_text(const Mark& mark) {
    std::string text = fmt::format("pbs-mark 1 {} {} {} {} {} ", mark.generation, mark.number, mark.position,
                                   mark.checkpointed, mark.unfinished ? 1 : 0);
    text += fmt::format("{:016x}", values::fnv1a(text));
    text.resize(kSlot - 1, ' ');
    return text + '\n';
}

// Reads one of the two slots of the mark. nullopt: the slot isn't whole. Errors: the errno of a failed read;
// the slot may be whole then.
tl::expected<std::optional<Mark>, int> read_slot(int fd, off_t place) {
    std::array<char, kSlot + 1> bytes{};
    ssize_t n = 0;
    do {
        n = ::pread(fd, bytes.data(), kSlot, place);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return tl::unexpected(errno);
    if (n != static_cast<ssize_t>(kSlot)) return std::nullopt;
    Mark mark;
    long long numbers[4] = {};
    int unfinished = 0;
    // NOLINTNEXTLINE(cert-err34-c): the numbers are checked by comparing the slot's text with theirs.
    if (std::sscanf(bytes.data(), "pbs-mark 1 %lld %lld %lld %lld %d", &numbers[0], &numbers[1], &numbers[2],
                    &numbers[3], &unfinished) != 5)
        return std::nullopt;
    mark = {numbers[0], numbers[1], numbers[2], numbers[3], unfinished != 0};
    if (slot_text(mark) != std::string_view(bytes.data(), kSlot)) return std::nullopt;
    return mark;
}

struct Found {
    Mark mark;
    std::size_t slot;
};

// Finds the newest mark in the two slots. Fails if a slot can't be read, because it may have the newest mark.
tl::expected<std::optional<Found>, int> newest(int fd) {
    std::optional<Found> best;
    for (std::size_t i = 0; i < std::size(kPlaces); ++i) {
        const auto mark = read_slot(fd, kPlaces[i]);
        if (!mark) return tl::unexpected(mark.error());
        if (*mark && (!best || (*mark)->generation > best->mark.generation)) best = Found{**mark, i};
    }
    return best;
}

bool write_at(int fd, off_t place, const std::string& text) {
    ssize_t n = 0;
    do {
        n = ::pwrite(fd, text.data(), text.size(), place);
    } while (n < 0 && errno == EINTR);
    if (n >= 0 && n < static_cast<ssize_t>(text.size())) errno = ENOSPC;
    return n == static_cast<ssize_t>(text.size());
}

bool write_slot(int fd, std::size_t slot, const Mark& mark) {
    return write_at(fd, kPlaces[slot], slot_text(mark));
}

std::string first_line(const char* path) {
    std::string line;
    std::getline(std::ifstream(path), line);
    return line;
}

// Returns the line that names this process. Its process id alone isn't enough: another machine, or another
// namespace, may have a process with the same one.
std::string user_line() {
    const std::string status = first_line("/proc/self/stat");
    // The start is the 22nd field. The second one, a name in parentheses, may contain blanks.
    std::istringstream fields(status.substr(std::min(status.rfind(')') + 1, status.size())));
    std::string start;
    for (int field = 3; field <= 22; ++field) fields >> start;
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    std::string line = fmt::format("pbs-user 1 {} {} {} {}", first_line("/proc/sys/kernel/random/boot_id"),
                                   ::getpid(), start.empty() ? "0" : start, host.data());
    line.resize(kSlot - 1, ' ');
    return line + '\n';
}

// Makes the database's owner, who has to write the mark later, the owner of a mark that root makes.
bool give_to_owner_of(const std::string& database, int fd) {
    struct stat status {};
    if (::geteuid() != 0 || ::stat(database.c_str(), &status) != 0) return true;
    return ::fchown(fd, status.st_uid, status.st_gid) == 0;
}

bool sync_folder_of(const std::string& path) {
    const std::string folder = path.substr(0, path.find_last_of('/') + 1);
    const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool done = ::fsync(fd) == 0;
    ::close(fd);
    return done;
}

// Makes the mark file. When it returns, both slots are on the disk; after an error there is no mark.
Result<void> make(const std::string& database) {
    const std::string path = mark_path(database);
    const std::string next = path + ".new";
    const int fd = ::open(next.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return failed(next, "can not be made");
    const bool done = give_to_owner_of(database, fd) && write_slot(fd, 0, Mark{1}) &&
                      write_slot(fd, 1, Mark{2}) && ::fsync(fd) == 0 &&
                      ::rename(next.c_str(), path.c_str()) == 0 && sync_folder_of(path);
    const int why = errno;
    ::close(fd);
    errno = why;
    return done ? Result<void>{} : failed(path, "can not be made");
}

// Holds the lock of a mark file, also if an exception passes. Keeps errno when it ends.
class MarkLock {
  public:
    explicit MarkLock(int fd) : fd_(::flock(fd, LOCK_EX) == 0 ? fd : -1) {}
    ~MarkLock() {
        const int why = errno;
        if (fd_ >= 0) ::flock(fd_, LOCK_UN);
        errno = why;
    }
    MarkLock(const MarkLock&) = delete;
    MarkLock& operator=(const MarkLock&) = delete;

    bool held() const { return fd_ >= 0; }

  private:
    int fd_;
};

int open_mark(const std::string& path, int how) {
    return ::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

}  // namespace

std::string mark_path(const std::string& database) {
    return database + "-mark";
}

Result<std::optional<Mark>> read_mark(const std::string& database) {
    const std::string path = mark_path(database);
    const int fd = open_mark(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT) return std::nullopt;
    if (fd < 0) return failed(path, "can not be read");
    const auto found = newest(fd);
    ::close(fd);
    if (!found) {
        errno = found.error();
        return failed(path, "can not be read");
    }
    if (!*found) return tl::unexpected(path + " is damaged");
    return (*found)->mark;
}

Result<MarkFile> MarkFile::open(const std::string& database) {
    const std::string path = mark_path(database);
    int fd = open_mark(path, O_RDWR);
    if (fd < 0 && errno == ENOENT) {
        if (auto made = make(database); !made) return tl::unexpected(made.error());
        fd = open_mark(path, O_RDWR);
    }
    if (fd < 0) return failed(path, "can not be opened");
    return MarkFile(path, fd);
}

MarkFile::MarkFile(MarkFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), user_(std::move(other.user_)) {}

MarkFile::~MarkFile() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> MarkFile::change(const std::function<void(Mark&)>& work) {
    const MarkLock lock(fd_);
    if (!lock.held()) return failed(path_, "can not be locked");
    const auto newest_slot = newest(fd_);
    if (!newest_slot) {
        errno = newest_slot.error();
        return failed(path_, "can not be read");
    }
    const std::optional<Found>& found = *newest_slot;
    Mark mark = found ? found->mark : Mark{};
    work(mark);
    ++mark.generation;
    // Write into the other slot: the current one counts until the new mark is on the disk.
    const bool done = write_slot(fd_, found ? 1 - found->slot : 0, mark) && ::fdatasync(fd_) == 0;
    return done ? Result<void>{} : failed(path_, "can not be written");
}

// Locks or unlocks a byte after the slots. The lock belongs to the open file and not to the process, because
// each thread has an open file of its own.
bool MarkFile::turn(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = kTurnPlace;
    lock.l_len = 1;
    return ::fcntl(fd_, F_OFD_SETLK, &lock) == 0;
}

Result<void> MarkFile::take_over() {
    user_ = user_line();
    std::array<char, kSlot> known{};
    if (::pread(fd_, known.data(), kSlot, kUserPlace) == static_cast<ssize_t>(kSlot) &&
        std::string_view(known.data(), kSlot) == user_)
        return {};  // this process has opened the database before
    if (!write_at(fd_, kUserPlace, user_) || ::fdatasync(fd_) != 0)
        return failed(path_, "can not be written");
    return {};
}

std::optional<std::string> MarkFile::later_user() const {
    std::array<char, kSlot + 1> bytes{};
    if (::pread(fd_, bytes.data(), kSlot, kUserPlace) != static_cast<ssize_t>(kSlot)) return std::nullopt;
    const std::string_view found(bytes.data(), kSlot);
    if (found == user_ || !found.starts_with("pbs-user 1 ")) return std::nullopt;
    std::istringstream fields{std::string(found)};
    std::string word, process, host;
    for (int i = 0; i < 3; ++i) fields >> word;
    fields >> process >> word >> host;
    return fmt::format("process {} on host {}", process, host);
}

bool MarkFile::take_turn() {
    return turn(F_WRLCK);
}

void MarkFile::end_turn() {
    turn(F_UNLCK);
}

}  // namespace pbs::sqlite
