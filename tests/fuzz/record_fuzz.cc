// Fuzz target of the reader of records of cycles. It must refuse the input with a message that names a line,
// or read a record that is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/record/record_file.h"

using namespace pbs::record;

namespace {

class Copy : public RecordSink {
  public:
    Result<void> begin(const std::string& time_zone) override {
        writer.begin(time_zone);
        return {};
    }
    Result<void> state(const pbs::sched::StateRecord& record) override {
        writer.state(record);
        return {};
    }
    RecordWriter writer;
};

// Reads a record, and returns it as it is written again. The decisions are left out, as reading skips them.
// Returns "" if the record is refused; with `must`, a refusal is a fault.
std::string written(std::string_view text, bool must) {
    Copy copy;
    const auto record = read_record(text, "fuzz", copy);
    if (!record) {
        if (must || !record.error().message.starts_with("fuzz:")) std::abort();
        return {};
    }
    copy.writer.cycle(record->cycle);
    return copy.writer.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string once = written({reinterpret_cast<const char*>(data), size}, false);
    if (once.empty()) return 0;
    if (written(once + "{\"end\":{}}\n", true) != once) std::abort();
    return 0;
}
