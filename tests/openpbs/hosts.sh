#!/bin/bash
# hosts.sh make NAME...: adds hosts to a box (tests/e2e/box.sh), on a bridge with the server's host. Each has
# its own network, host name, home for mom (/var/spool/pbs) and /etc/pbs.conf. Starts a mom on each.
# hosts.sh on NAME COMMAND...: runs COMMAND on a host.
# hosts.sh cut NAME, hosts.sh join NAME: takes a host's link down, or up.
# hosts.sh kill NAME, hosts.sh mom NAME: kills a host's mom by SIGKILL, or starts one.
#
# /var/tmp is the same folder on all hosts, which mom knows by $usecp. Files in /tmp are copied from host to
# host by PBS_SCP, a script in place of scp.
set -euo pipefail
hosts=/var/tmp/hosts/run
stock=$(readlink -f "${stock:?the folder of commands of OpenPBS}")
prefix=${stock%/bin}
self=$(readlink -f "$0")

on() {
    local name=$1
    shift
    nsenter -t "$(cat $hosts/"$name")" -n -m -u -- "$@"
}
mom() { on "$1" "$prefix/sbin/pbs_mom"; }

# Runs in the namespaces of a new host: sets the host's name and mounts, then keeps the namespaces alive.
become() {
    hostname "$1"
    mount --bind "/var/tmp/hosts/$1/pbs.conf" /etc/pbs.conf
    mount --bind "/var/tmp/hosts/$1/spool" /var/spool/pbs
    mount --bind "/var/tmp/hosts/$1/tmp" /tmp
    ip link set lo up
    echo ready >"$hosts/$1.ready"
    exec sleep infinity
}

make() {
    local number=10 name
    mkdir -p $hosts
    ip link add br0 type bridge
    ip link set v1 master br0
    ip link set br0 up
    for name in "$@"; do
        number=$((number + 1))
        echo "10.99.0.$number $name" >>/etc/hosts
    done
    for name in "$@"; do
        mkdir -p "/var/tmp/hosts/$name/"{spool,tmp}
        chmod 1777 "/var/tmp/hosts/$name/tmp"
        local home=/var/tmp/hosts/$name/spool
        mkdir -p "$home"/{aux,checkpoint,mom_logs,mom_priv/{jobs,hooks/tmp},spool,undelivered}
        chmod 755 "$home" "$home"/{aux,mom_logs}
        chmod 700 "$home/checkpoint"
        chmod 751 "$home"/mom_priv{,/jobs,/hooks,/hooks/tmp}
        chmod 1777 "$home"/{spool,undelivered}
        cp /var/spool/pbs/pbs_environment "$home/" 2>/dev/null || true
        printf '$clienthost box\n$restrict_user_maxsysid 999\n$usecp *:/var/tmp /var/tmp\n' >"$home/mom_priv/config"
        sed 's/^PBS_START_SERVER=.*/PBS_START_SERVER=0/;/^PBS_SCP/d' /etc/pbs.conf >"/var/tmp/hosts/$name/pbs.conf"
        echo "PBS_SCP=/var/tmp/hosts/scp" >>"/var/tmp/hosts/$name/pbs.conf"
        unshare -n -m -u --propagation private "$self" become "$name" </dev/null >/dev/null 2>&1 &
        echo $! >"$hosts/$name"
        until [ -e "$hosts/$name.ready" ]; do sleep 0.05; done
    done
    number=10
    for name in "$@"; do
        number=$((number + 1))
        ip link add "l-$name" type veth peer name eth0 netns "$(cat "$hosts/$name")"
        ip link set "l-$name" master br0 up
        on "$name" ip addr add "10.99.0.$number/24" dev eth0
        on "$name" ip link set eth0 up
    done
    # Stands in for scp [-OPTION...] FROM TO, run by the job's user: copies between the hosts' folders below
    # /var/tmp/hosts.
    cat >/var/tmp/hosts/scp <<'END'
#!/bin/bash
place() {
    case $1 in
    *:*) host=${1%%:*} path=${1#*:}; host=${host#*@}
         case $host:$path in *:/tmp/*) echo "/var/tmp/hosts/$host$path" ;; *) echo "$path" ;; esac ;;
    *) echo "$1" ;;
    esac
}
while [[ $1 == -* ]]; do shift; done
exec cp -r "$(place "$1")" "$(place "$2")"
END
    chmod 755 /var/tmp/hosts/scp
    for name in "$@"; do mom "$name"; done
}

what=$1
shift
case $what in
cut) ip link set "l-$1" down ;;
join) ip link set "l-$1" up ;;
kill) kill -9 "$(cat "/var/tmp/hosts/$1/spool/mom_priv/mom.lock")" ;;
*) "$what" "$@" ;;
esac
