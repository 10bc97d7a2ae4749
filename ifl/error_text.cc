#include "ifl/error_text.h"

#include <algorithm>
#include <iterator>

#include "ifl/pbs_error.h"

namespace pbs::ifl {

namespace {

struct Text {
    int code;
    std::string_view text;
};

// By number. The numbers that no server of this kind gives are left out.
constexpr Text kTexts[] = {
    {PBSE_UNKJOBID, "Unknown Job Id"},
    {PBSE_NOATTR, "Undefined attribute"},
    {PBSE_ATTRRO, "Cannot set attribute, read only or insufficient permission"},
    {PBSE_IVALREQ, "Invalid request"},
    {PBSE_UNKREQ, "Unknown request"},
    {PBSE_TOOMANY, "Too many attempts to submit"},
    {PBSE_PERM, "Unauthorized Request"},
    {PBSE_BADHOST, "Access from host not allowed, or unknown host"},
    {PBSE_JOBEXIST, "Job already exists"},
    {PBSE_SYSTEM, "System error"},
    {PBSE_INTERNAL, "PBS server internal error"},
    {PBSE_REGROUTE, "The job depended on is in a routing queue"},
    {PBSE_UNKSIG, "Unknown signal name"},
    {PBSE_BADATVAL, "Illegal attribute or resource value"},
    {PBSE_MODATRRUN, "Cannot modify attribute while job running"},
    {PBSE_BADSTATE, "Request invalid for state of job"},
    {PBSE_UNKQUE, "Unknown queue"},
    {PBSE_BADCRED, "Invalid credential"},
    {PBSE_EXPIRED, "Expired credential"},
    {PBSE_QUNOENB, "Queue is not enabled"},
    {PBSE_QACESS, "Access to queue is denied"},
    {PBSE_BADUSER, "The job's user may not run jobs here"},
    {PBSE_HOPCOUNT, "Job was routed too many times"},
    {PBSE_QUEEXIST, "Queue already exists"},
    {PBSE_ATTRTYPE, "Attribute is incompatible with the type of the queue"},
    {PBSE_OBJBUSY, "Cannot delete busy object"},
    {PBSE_QUENBIG, "Queue name too long"},
    {PBSE_NOSUP, "No support for requested service"},
    {PBSE_QUENOEN, "Cannot enable queue, its definition is incomplete"},
    {PBSE_PROTOCOL, "Batch protocol error"},
    {PBSE_BADATLST, "Malformed list of attributes"},
    {PBSE_NOCONNECTS, "No free connections"},
    {PBSE_NOSERVER, "No server specified"},
    {PBSE_UNKRESC, "Unknown resource"},
    {PBSE_EXCQRESC, "Job violates queue and/or server resource limits"},
    {PBSE_QUENODFLT, "No default queue specified"},
    {PBSE_NORERUN, "job is not rerunnable"},
    {PBSE_ROUTEREJ, "Job rejected by all possible destinations"},
    {PBSE_ROUTEEXPD, "Job stayed too long in its routing queue"},
    {PBSE_MOMREJECT, "Execution server rejected request"},
    {PBSE_BADSCRIPT, "Cannot access the job's script"},
    {PBSE_STAGEIN, "Stage-in of files failed"},
    {PBSE_RESCUNAV, "Resource temporarily unavailable"},
    {PBSE_BADGRP, "The job's group isn't allowed"},
    {PBSE_MAXQUED, "Maximum number of jobs already in queue"},
    {PBSE_CKPBSY, "Checkpoint busy, may be retried"},
    {PBSE_EXLIMIT, "Resource limit exceeds allowable"},
    {PBSE_BADACCT, "Invalid account"},
    {PBSE_ALRDYEXIT, "Job is already ending"},
    {PBSE_BADDEPEND, "Invalid Job Dependency"},
    {PBSE_DUPLIST, "Duplicate entry in list"},
    {PBSE_DISPROTO, "Malformed request"},
    {PBSE_EXECTHERE, "Cannot execute at the given host"},
    {PBSE_SVRDOWN, "Request not allowed: server shutting down"},
    {PBSE_UNKNODE, "Unknown node"},
    {PBSE_UNKNODEATR, "Unknown node attribute"},
    {PBSE_NONODES, "Server has no node list"},
    {PBSE_NODENBIG, "Node name is too long"},
    {PBSE_NODEEXIST, "Node name already exists"},
    {PBSE_BADNDATVAL, "Illegal value for node attribute"},
    {PBSE_MUTUALEX, "Mutually exclusive values"},
    {PBSE_GMODERR, "Modification failed for some nodes"},
    {PBSE_NORELYMOM, "Server could not connect to the execution host"},
    {PBSE_JOBNOTRESV, "Not a reservation job"},
    {PBSE_UNKRESVID, "Unknown Reservation Id"},
    {PBSE_delProgress, "Delete already in progress"},
    {PBSE_BADTSPEC, "Invalid time specification"},
    {PBSE_NOTRESV, "Not a reservation"},
    {PBSE_BADNODESPEC, "Invalid node specification"},
    {PBSE_NOSCHEDULER, "Could not contact the scheduler"},
    {PBSE_RESCNOTSTR, "Resource is not of type string or string_array"},
    {PBSE_MaxArraySize, "Array job exceeds server or queue size limit"},
    {PBSE_INVALSELECTRESC, "Resource invalid in \"select\" specification"},
    {PBSE_INVALJOBRESC, "Resource cannot be asked for beside \"select\" or \"place\""},
    {PBSE_INVALNODEPLACE, "Cannot be used with select or place"},
    {PBSE_PLACENOSELECT, "Cannot have \"place\" without \"select\""},
    {PBSE_DUPRESC, "Resource given twice in one chunk"},
    {PBSE_CONNFULL, "Server connection table full"},
    {PBSE_BAD_FORMULA, "Invalid formula"},
    {PBSE_BAD_FORMULA_KW, "Formula contains an unknown name"},
    {PBSE_BAD_FORMULA_TYPE, "Formula contains a resource of an invalid type"},
    {PBSE_BAD_RRULE_SYNTAX, "Invalid recurrence rule"},
    {PBSE_HOOKERROR, "Hook error"},
    {PBSE_NEEDQUET, "Queue type must be set"},
    {PBSE_ETEERROR, "Cannot set attribute when eligible_time_enable is OFF"},
    {PBSE_HISTJOBID, "Job has finished"},
    {PBSE_JOBHISTNOTSET, "The server keeps no job history"},
    {PBSE_ENTLIMCT, "A limit on the number of jobs would be exceeded"},
    {PBSE_ENTLIMRESC, "A limit on a resource would be exceeded"},
    {PBSE_ATVALERANGE, "Attribute value is out of range"},
    {PBSE_HISTJOBDELETED, "Job history deleted"},
    {PBSE_NORUNALTEREDJOB, "Cannot run a job that was changed during the scheduling cycle"},
    {PBSE_SAVE_ERR, "Failed to save to the database"},
    {PBSE_NOLIMIT_RESOURCE, "No limit can be set for this resource"},
    {PBSE_IVAL_OBJ_NAME, "Invalid object name"},
    {PBSE_JOBNBIG, "Job name is too long"},
    {PBSE_RESCBUSY, "Resource is in use"},
    {PBSE_JOBSCRIPTMAXSIZE, "Job script is longer than jobscript_max_size"},
    {PBSE_WRONG_RESUME, "Job cannot be resumed by this signal"},
    {PBSE_TRYAGAIN, "Try the request again later"},
    {PBSE_JOB_MOVED, "Job moved to another server"},
    {PBSE_SCHEDEXIST, "Scheduler already exists"},
    {PBSE_POLICY_NOT_FOUND, "Unknown policy, time_window or fs_group"},
    {PBSE_UNKSCHED, "Unknown scheduler"},
    {PBSE_SCHED_NO_DEL, "Cannot delete scheduler"},
    {PBSE_SCHED_OP_NOT_PERMITTED, "Operation is not permitted on the default scheduler"},
    {PBSE_NODE_BUSY, "Node is busy"},
    {PBSE_HISTDEPEND, "Finished job did not satisfy dependency"},
};

}  // namespace

std::string_view error_text(int code) {
    const auto* found =
        std::find_if(std::begin(kTexts), std::end(kTexts), [code](const Text& t) { return t.code == code; });
    return found == std::end(kTexts) ? std::string_view() : found->text;
}

}  // namespace pbs::ifl
