// Declares all rules (filters, deals, node orders and the like, plugins/), for the tables of the profiles.
#pragma once

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/boundaries.h"
#include "server_plugin/scheduler/framework/cycle_log.h"
#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/node_order.h"
#include "server_plugin/scheduler/framework/questions.h"
#include "server_plugin/scheduler/pending/deal.h"
#include "server_plugin/scheduler/plugins/limits.h"

namespace pbs::sched {

extern const Deal kByQueueDeal;
extern const Deal kFairShareDeal;
extern const Deal kPastUsageDeal;
extern const Deal kRoundRobinDeal;

extern const Admission kAllocationAdmission;
extern const Admission kSmallJobMaxAdmission;

extern const Filter kDedicatedEndFilter;
extern const Filter kDedicatedTimeFilter;
extern const Filter kExecutionTypeFilter;
extern const Filter kFragmentsFilter;
extern const Filter kHostsFilter;
extern const Filter kHpmCountersFilter;
extern const Filter kLoadThresholdsFilter;
extern const Filter kNoSharesFilter;
extern const Filter kNonprimeDrainFilter;
extern const Filter kPrimeBoundaryFilter;
extern const Filter kPrimeLimitFilter;
extern const Filter kQueueMaximumFilter;
extern const Filter kQuotaFilter;
extern const Filter kQueueStartedFilter;
extern const Filter kQueueWindowFilter;
extern const Filter kReservationsFilter;
extern const Filter kUserAclFilter;

extern const NodeOrder kNodeSortKeyOrder;
extern const NodeOrder kPriorityOrder;

extern const AfterRefusalRule kDrainAfterRefusal;
extern const AfterRefusalRule kEarlyNonPrimeAfterRefusal;
extern const AfterRefusalRule kPreemptionAfterRefusal;
extern const AfterRefusalRule kRestartActionAfterRefusal;
extern const AfterRefusalRule kTopJobsAfterRefusal;

extern const Decide kAccrualDecide;
extern const Decide kClosingsDecide;
extern const Decide kCommentsDecide;
extern const Decide kEstimatesDecide;
extern const Decide kImmediateDecide;
extern const Decide kHpmCountersDecide;
extern const Decide kMovesDecide;
extern const Decide kPreemptionsDecide;
extern const Decide kRejectionsDecide;
extern const Decide kStartsDecide;
extern const Decide kTestOnlyDecide;
extern const Decide kWeightsDecide;

extern const QuestionRule kAllocationQuestions;
extern const QuestionRule kDedicatedTimeQuestions;
extern const QuestionRule kHpmCountersQuestions;
extern const QuestionRule kServerDynResQuestions;

extern const BoundaryRule kDedicatedTimeBoundaries;
extern const BoundaryRule kEarlyNonPrimeBoundaries;
extern const BoundaryRule kPrimeLimitBoundaries;

extern const CycleLogRule kScheduleLogRule;
extern const CycleLogRule kSortedJobsRule;

}  // namespace pbs::sched
