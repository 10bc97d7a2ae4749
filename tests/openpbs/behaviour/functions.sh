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
# Sets the attribute `sharing` of a vnode, which only a file of its mom does.
sharing() {
    printf '$configversion 2\n%s: sharing = %s\n' "$1" "$2" > /tmp/sharing
    (
        number=$((100 + 2 * ${1#v}))
        export PBS_HOME=/var/spool/pbs/$1 PBS_MOM_HOME=/var/spool/pbs/$1 PBS_MOM_NODE_NAME=$1 \
            PBS_LEAF_NAME=$1 PBS_MOM_SERVICE_PORT=15$number PBS_MANAGER_SERVICE_PORT=15$((number + 1))
        pbs_mom -d "$PBS_HOME" -s remove sharing
        pbs_mom -d "$PBS_HOME" -s insert sharing /tmp/sharing
        kill -HUP "$(cat "$PBS_HOME/mom_priv/mom.lock")"
    )
    for i in $(seq 50); do pbsnodes "$1" | grep "sharing = $2$" && return; sleep 0.1; done
    return 1
}
