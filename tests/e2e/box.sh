#!/bin/bash
# box.sh PREFIX WORK [COMMAND...]: runs COMMAND (by default a shell) as root in a box, which has a server of
# the OpenPBS that is installed in PREFIX. The box has its own network, processes, and files in /etc, PREFIX
# and /var/spool, with PBS_HOME (/var/spool/pbs). So the machine's own files don't change, and several boxes may
# run at a time. The folder WORK, which must not be under /tmp or /var/spool, keeps a home (PBS_HOME) that is made
# once and copied for each box. The box's files are in the folder that the variable BOX names (by default a new
# folder below WORK), and are removed when COMMAND has ended. In the box, `pbs start` and `pbs stop` start and stop
# the server.
set -euo pipefail

if [ -z "${IN_BOX:-}" ]; then
    prefix=$(realpath "${1:?PREFIX WORK}") work=$(realpath -m "${2:?WORK}")
    shift 2
    mkdir -p "$work"
    exec 9>"$work/lock"
    flock 9
    if [ ! -e "$work/base/made" ]; then
        rm -rf "$work/base"
        mkdir -p "$work/base"
        IN_BOX=make BOX=$work/base PREFIX=$prefix unshare -n -m -p -i -u -f --kill-child --propagation private \
            "$0" >"$work/made.log" 2>&1 || { cat "$work/made.log" >&2; exit 1; }
        touch "$work/base/made"
    fi
    flock -u 9
    exec 9>&-
    box=${BOX:-$(mktemp -d "$work/box.XXXXXX")}
    chmod 755 "$box"
    trap 'rm -rf "$box"' EXIT
    cp -a "$work/base/spool" "$work/base/etc" "$box/"
    [ $# -gt 0 ] || set -- bash
    # unshare kills all processes in the box when this script ends, however it ends.
    status=0
    IN_BOX=run BOX=$box PREFIX=$prefix unshare -n -m -p -i -u -f --kill-child --propagation private \
        "$0" "$@" || status=$?
    exit $status
fi

mkdir -p "$BOX"/{etc,etc.work,prefix,prefix.work,systemd,systemd.work,spool,tmp,vartmp,bin}
chmod 755 "$BOX"/{etc,prefix,spool,bin}
chmod 1777 "$BOX"/{tmp,vartmp}
hostname box
mount -t proc proc /proc
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$BOX/etc,workdir=$BOX/etc.work" /etc
mount -t overlay overlay -o "lowerdir=$PREFIX,upperdir=$BOX/prefix,workdir=$BOX/prefix.work" "$PREFIX"
# Commands prove their user with pbs_iff, which has to be setuid root. OpenPBS's "make install" doesn't set
# this bit.
chmod u+s "$PREFIX/sbin/pbs_iff"
# An overlay for /usr/lib/systemd, because pbs_postinstall writes into this folder, too.
[ ! -d /usr/lib/systemd ] ||
    mount -t overlay overlay -o "lowerdir=/usr/lib/systemd,upperdir=$BOX/systemd,workdir=$BOX/systemd.work" /usr/lib/systemd
mkdir -p /var/spool /run/postgresql
# Tests put copies of the plugin's files beside PBS_HOME.
mount -t tmpfs -o mode=0755 tmpfs /var/spool
mkdir /var/spool/pbs
mount --bind "$BOX/spool" /var/spool/pbs
# The box has its own /tmp, because qsub leaves a process there: later qsubs of the user find it by a file in
# /tmp.
mount --bind "$BOX/tmp" /tmp
mount --bind "$BOX/vartmp" /var/tmp
mount -t tmpfs -o "mode=2775,uid=$(id -u postgres),gid=$(id -g postgres)" tmpfs /run/postgresql
# Each command uses one of a few ports, and a closed connection blocks its port for a minute. So keep few
# closed connections.
echo 16 >/proc/sys/net/ipv4/tcp_max_tw_buckets
# OpenPBS refuses a host name with a loopback address, so give the host another address.
ip link set lo up
ip link add v0 type veth peer name v1
ip addr add 10.99.0.1/24 dev v0
ip link set v0 up
ip link set v1 up
# Names for the vnodes of tests, all with the address of this host; and x.org, the name of another host.
printf '127.0.0.1 localhost\n10.99.0.1 box %s\n10.99.0.2 x.org\n' "$(echo {n,v}{0..9})" >/etc/hosts
sed -i 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf

cat >"$BOX/bin/pbs" <<EOF
#!/bin/bash
case \$1 in
start)
    env -u IN_BOX $PREFIX/libexec/pbs_init.d start >/var/spool/pbs/start.log 2>&1 || { cat /var/spool/pbs/start.log >&2; exit 1; }
    for i in \$(seq 300); do $PREFIX/bin/qstat -B >/dev/null 2>&1 && exit 0; sleep 0.1; done
    echo "the server doesn't answer" >&2
    exit 1 ;;
*) exec $PREFIX/libexec/pbs_init.d "\$1" ;;
esac
EOF
chmod 755 "$BOX/bin/pbs"
export PATH=$BOX/bin:$PREFIX/bin:$PREFIX/sbin:/usr/sbin:/usr/bin:/sbin:/bin

if [ "$IN_BOX" = make ]; then
    unset IN_BOX
    rm -f /etc/pbs.conf
    PBS_SERVER=box "$PREFIX/libexec/pbs_postinstall" server
    sed -i 's/PBS_START_MOM=0/PBS_START_MOM=1/' /etc/pbs.conf
    # The users are a manager (alice), an operator (oscar), and one without privileges (una).
    for user in alice oscar una; do id $user >/dev/null 2>&1 || useradd -M -d / -s /bin/bash $user; done
    pbs start
    pbsnodes box >/dev/null 2>&1 || qmgr -c 'create node box'
    qmgr -c 'set server managers += alice@*'
    qmgr -c 'set server operators += oscar@*'
    qmgr -c 'set server acl_roots += root@*'
    pbs stop
    exit 0
fi
unset IN_BOX
"$@"
