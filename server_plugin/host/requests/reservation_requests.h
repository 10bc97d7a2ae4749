// Functions that the requests about reservations share.
#pragma once

#include <cstdint>
#include <string>

#include "ifl/attribute.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

// Checks and applies one attribute of a client's request. `rights` are write flags of AttributeFlag.
// PBSE_NOATTR, PBSE_ATTRRO, PBSE_NOSUP, PBSE_BADATVAL, PBSE_UNKRESC, PBSE_NOSTF_RESV.
Result<void> set_reservation_attribute(Reservation& reservation, const ifl::Attribute& change,
                                       uint32_t rights, const State& state);

// Finds a reservation that the requester may change, as its owner, an operator or a manager. PBSE_UNKRESVID,
// PBSE_PERM.
Result<const Reservation*> own_reservation(const Context& context, std::string_view id);

// Returns the instant until which a client waits for an answer. `now`: when it asked. `interactive`: the
// value of that attribute, in seconds, whose sign doesn't count. The client waits for a hundred years at
// most.
int64_t waits_until(int64_t now, int64_t interactive);

// Makes the client wait for the scheduler's answer about a reservation, at most until an instant. If there is
// no answer by then, the reply says so. With `is_deleted`, the reservation is deleted instead.
class AwaitedReservation final : public Answered {
  public:
    AwaitedReservation(std::string id, int64_t until, bool is_deleted);
    // Call it for an alteration: notes the times that the reservation will have if the alteration is
    // confirmed.
    void wants(const Reservation& reservation, int64_t now);
    Remaining step(Context& context, ifl::StatusParts& out) override;

  private:
    std::string id_;
    int64_t until_;
    bool is_deleted_;
    bool was_altered_ = false;
    int64_t asked_at_ = 0;
    std::string wanted_start_;
    std::string wanted_end_;
};

}  // namespace pbs::host
