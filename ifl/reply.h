// Replies of the batch protocol: their contents, encoding and decoding.
//
// On the wire a reply is, in DIS: the protocol's type (2) and version (2), the code and the auxiliary code
// (signed), the choice (which body follows), 1 if more parts follow or 0; then the body. Only status replies
// come in parts: each part is a packet of its own with the whole header, its objects follow those of the part
// before, and the last has 0 for "more parts follow".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/packet.h"

namespace pbs::ifl {

/// The body of a reply without contents, choice 1. The structures below are the bodies of the other choices.
struct NullReply {
    bool operator==(const NullReply&) const = default;
};

/// Choice 2: a job was queued and waits for its script or commit.
struct QueueReply {
    std::string job;
    bool operator==(const QueueReply&) const = default;
};

/// Choice 3: the job's script has arrived, and its commit may come.
struct ReadyToCommitReply {
    std::string job;
    bool operator==(const ReadyToCommitReply&) const = default;
};

/// Choice 4: the job is in its queue.
struct CommitReply {
    std::string job;
    bool operator==(const CommitReply&) const = default;
};

/// Choice 5: the ids of the selected jobs.
struct SelectReply {
    std::vector<std::string> jobs;
    bool operator==(const SelectReply&) const = default;
};

/// One object of a status reply. `type` is an enum mgr_obj of pbs_ifl.h. The operation of an attribute is
/// written as given; clients ignore it.
struct ObjectStatus {
    std::uint32_t type = 0;
    std::string name;
    Attributes attributes;
    bool operator==(const ObjectStatus&) const = default;
};

/// A part of a long status reply: the encoded objects, one after another.
struct StatusPart {
    std::size_t count = 0;
    std::string objects = {};
    bool operator==(const StatusPart&) const = default;
};

/// Types of objects in the reply to a request for jobs with subjobs, in which each job array is followed by
/// its subjobs that aren't queued (queued_subjobs.h): MGR_OBJ_JOBARRAY_PARENT and MGR_OBJ_SUBJOB of
/// pbs_ifl.h.
inline constexpr std::uint32_t kTypeOfArray = 10;
inline constexpr std::uint32_t kTypeOfSubjob = 11;

/// Choice 6: the objects of a status request.
struct StatusReply {
    std::vector<ObjectStatus> objects = {};
    /// More objects, to be sent after `objects`. Empty in a decoded reply.
    std::vector<StatusPart> encoded = {};
    bool operator==(const StatusReply&) const = default;
};

/// Choice 7: the text that belongs to the code; with code 0, a warning that the client prints.
struct TextReply {
    std::string text;
    bool operator==(const TextReply&) const = default;
};

/// Choice 8: a server's name.
struct LocateReply {
    std::string server;
    bool operator==(const LocateReply&) const = default;
};

/// Choice 9: four numbers for each resource: all `available` ones, then all `allocated` ones, and so on.
struct ResourceQueryReply {
    std::vector<std::uint32_t> available;
    std::vector<std::uint32_t> allocated;
    std::vector<std::uint32_t> reserved;
    std::vector<std::uint32_t> down;
    bool operator==(const ResourceQueryReply&) const = default;
};

/// Choice 10: the jobs of a preempt_jobs request. `order` begins with the letter of the method that
/// succeeded, or with another letter if none did.
struct PreemptReply {
    struct Job {
        std::string job;
        std::string order;
        bool operator==(const Job&) const = default;
    };
    std::vector<Job> jobs;
    bool operator==(const PreemptReply&) const = default;
};

/// Choice 11: the jobs of a delete_job_list request that were not deleted, with a PBS error number each.
struct DeleteReply {
    struct Job {
        std::string job;
        std::uint32_t code = 0;
        bool operator==(const Job&) const = default;
    };
    std::vector<Job> failed;
    bool operator==(const DeleteReply&) const = default;
};

/// The bodies in the order of their choices.
using AnyReplyBody =
    std::variant<NullReply, QueueReply, ReadyToCommitReply, CommitReply, SelectReply, StatusReply, TextReply,
                 LocateReply, ResourceQueryReply, PreemptReply, DeleteReply>;

/// The body of a reply. Its copies, moves and destructor are compiled once, as those of RequestBody are.
class ReplyBody : public AnyReplyBody {
  public:
    using AnyReplyBody::AnyReplyBody;
    using AnyReplyBody::operator=;
    ReplyBody();
    ReplyBody(const ReplyBody&);
    ReplyBody(ReplyBody&&) noexcept;
    ReplyBody& operator=(const ReplyBody&);
    ReplyBody& operator=(ReplyBody&&) noexcept;
    ~ReplyBody();
    bool operator==(const ReplyBody&) const;
};

struct Reply {
    std::int32_t code = 0;       ///< 0 or a PBS error number
    std::int32_t auxiliary = 0;  ///< 1 + index of the attribute at fault in a refused attribute list; else 0
    ReplyBody body;
    bool more_parts = false;

    /// A reply of success without contents.
    static Reply ok() { return {}; }
    /// A reply that refuses the request; without a text, it has that of error_text(code) (ifl/error_text.h).
    static Reply error(int code, std::string_view text = {});
    /// A reply of success with a warning for the user.
    static Reply warning(std::string_view text);

    bool operator==(const Reply&) const = default;
};

/// The largest reply that a client accepts, since any server may have sent it.
struct ReplyLimits {
    std::size_t packet = 256U << 20;   ///< bytes of one part
    std::size_t name = 4096;           ///< names of objects, jobs, attributes, resources
    std::size_t value = 64U << 20;     ///< an attribute's value, a text
    std::size_t attributes = 1000000;  ///< of one object
    std::size_t objects = 10000000;    ///< in one part
};

/// Returns the data of a reply's packet, without the packet's header.
std::string encode_reply(const Reply& reply);

/// Returns the whole packet of a reply.
std::string reply_packet(const Reply& reply);

/// An object of a status reply while it is read: views into the packet's bytes.
struct ObjectView {
    std::uint32_t type = 0;
    std::string_view name;
    std::span<const AttributeView> attributes;
};
/// A function that takes the objects of status replies, in their order. An object is valid during the call.
using ObjectSink = std::function<void(const ObjectView&)>;

/// Decodes the data of one whole packet. With a `sink`, the objects of a status reply go there as they are
/// read and StatusReply::objects stays empty; if an error is found later, the sink may have got some.
Result<Reply> decode_reply(std::string_view data, const ReplyLimits& limits = {},
                           const ObjectSink& sink = nullptr);

/// The encoding of an object of a status reply: the type, the name, and the list of attributes.
std::string encode_object(std::uint32_t type, std::string_view name,
                          std::span<const AttributeView> attributes);

/// Divides the objects of a status reply into parts, in the order in which they are added.
class StatusParts {
  public:
    /// A part is full with this many objects or bytes, whichever comes first. A subjob never begins a part,
    /// because OpenPBS's clients then don't know its job array any more.
    explicit StatusParts(std::size_t objects_per_part = 500, std::size_t bytes_per_part = 1U << 16)
        : max_objects_(objects_per_part), max_bytes_(bytes_per_part) {}

    void add(std::uint32_t type, std::string_view name, const Attributes& attributes);
    void add(std::uint32_t type, std::string_view name, std::span<const AttributeView> attributes);
    /// Adds an object encoded by encode_object().
    void add_encoded(std::string_view object);
    bool empty() const { return parts_.empty(); }
    /// The number of bytes in the parts that weren't taken.
    std::size_t bytes() const;
    /// Takes all parts, also the one still being filled.
    std::vector<StatusPart> take();
    /// Takes all parts but the one still being filled.
    std::vector<StatusPart> take_full();

  private:
    std::string& next(std::uint32_t type);

    std::size_t max_objects_;
    std::size_t max_bytes_;
    std::vector<StatusPart> parts_;
};

/// The packet of a part of a successful status reply, as two pieces to be sent one after the other.
/// `more_parts`: another part follows.
std::array<std::string, 2> part_packet(StatusPart part, bool more_parts);

/// The packets of a successful status reply, one for each part, as pieces to be sent one after another.
std::vector<std::string> status_packets(StatusReply reply);

/// Splits a connection's stream of bytes into replies, and joins the parts of status replies.
class ReplyDecoder {
  public:
    struct NeedMore {};
    struct Malformed {
        Error error;
    };
    using Decoded = std::variant<NeedMore, Reply, Malformed>;

    explicit ReplyDecoder(ReplyLimits limits = {}) : limits_(limits), packets_(limits.packet) {}

    void feed(std::string_view bytes) { packets_.feed(bytes); }
    /// For reading into the buffer instead of feed(), as in PacketReader.
    char* room(std::size_t size) { return packets_.room(size); }
    void filled(std::size_t size) { packets_.filled(size); }
    /// The next complete reply. After Malformed, only Malformed follows. With a `sink`, the objects of a
    /// status reply go there, part by part as they arrive; pass the same sink until the reply is complete.
    Decoded next(const ObjectSink& sink = nullptr);

  private:
    Decoded malformed(Error error);

    ReplyLimits limits_;
    PacketReader packets_;
    StatusReply parts_;
    bool in_parts_ = false;
    Error malformed_;
};

}  // namespace pbs::ifl
