# Shell functions that the commands of the cases in this folder can use.
cd /
PATH=$stock:$(dirname "$stock")/sbin:$PATH
# Prints an attribute of a job.
of() { { qstat -fw "$1" 2>/dev/null || qstat -fwx "$1" 2>/dev/null; } | sed -n "s/^    $2 = //p"; }
# start prints the instant at which a job has started or is expected to start; apart prints the seconds
# between the starts of two jobs, rounded to tens: on a busy machine a job starts a second or two after the
# cycle that planned the others.
start() { date -d "$(of "$1" estimated.start_time | grep . || of "$1" stime)" +%s; }
apart() { echo $(((1000000 + $(start "$2") - $(start "$1") + 5) / 10 * 10 - 1000000)); }
# Prints an instant in the form that pbs_rsub reads.
at() { date -d "$1" +%y%m%d%H%M.%S; }
# Prints an attribute of a job that is a duration, in seconds.
secs() { of "$1" "$2" | awk -F: '{ s = 0; for (i = 1; i <= NF; ++i) s = 60 * s + $i; print s }'; }
# today prints the name of the present day. other_days prints a line for each other day, as in a holidays
# file, with the given times.
today() { date +%A | tr A-Z a-z; }
other_days() {
    for day in monday tuesday wednesday thursday friday saturday sunday; do
        [ $day = "$(today)" ] || echo "$day $*"
    done
}
# Deletes all time windows.
no_windows() {
    $ours/qmgr -c 'list time_window' | sed -n 's/^[Tt]ime_window *//p' | while read -r window; do
        $ours/qmgr -c "delete time_window $window"
    done
}
offline() { qmgr -c "set node $1 state = offline"; }
online() { qmgr -c "set node $1 state -= offline"; }
