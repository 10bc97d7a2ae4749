# bash completion for the commands of pbspolicy. Options are those that a command's own --help shows. The directives
# of qmgr and the names of queues and vnodes come from `qmgr --complete`, which has the tables that qmgr works with.

_pbspolicy_options() {
    "$1" --help 2>/dev/null | grep -oE -- '(^|[^[:alnum:]-])(--[a-z][a-z-]+|-[[:alnum:]])' |
        grep -oE -- '--?[[:alnum:]][[:alnum:]-]*' | sort -u
}

# Prints the names of the server's objects of a type (queue, node).
_pbspolicy_names() {
    qmgr --complete "list $1 x," 2>/dev/null | sed "s/^list $1 x,//"
}

# Adds the lines of the input that begin with $1 to the answers.
_pbspolicy_answer() {
    local line
    while IFS= read -r line; do
        [[ $line == "$1"* ]] && COMPREPLY+=("$line")
    done
}

_pbspolicy() {
    local command=$1 cur=$2 prev=$3
    COMPREPLY=()
    if [[ ${command##*/} == qmgr && $prev == -c ]]; then
        # bash parts words at an unquoted '=' and ':', but a directive of several words is in quotes: $2 is all
        # of it that has been typed.
        _pbspolicy_answer "$cur" < <("$command" --complete "$cur" 2>/dev/null)
        compopt -o nospace
        return
    fi
    case $cur in
    -*)
        _pbspolicy_answer "$cur" < <(_pbspolicy_options "$command")
        return
        ;;
    esac
    case $prev in
    -q) _pbspolicy_answer "$cur" < <(_pbspolicy_names queue) ;;
    -u) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
    *)
        case ${command##*/} in
        qdel | qhold | qrls | qalter | qrun | qrerun | qsig | qmsg | qorder | qmove | tracejob | pbs_explain)
            _pbspolicy_answer "$cur" < <(qselect 2>/dev/null)
            ;;
        qstat) _pbspolicy_answer "$cur" < <(
            qselect 2>/dev/null
            _pbspolicy_names queue
        ) ;;
        qenable | qdisable | qstart | qstop) _pbspolicy_answer "$cur" < <(_pbspolicy_names queue) ;;
        pbs_rstat | pbs_rdel | pbs_ralter) _pbspolicy_answer "$cur" < <(pbs_rstat -B 2>/dev/null | sed 's/^Resv ID: //') ;;
        pbs_quota) _pbspolicy_answer "$cur" < <(_pbspolicy_names quota) ;;
        pbsnodes) _pbspolicy_answer "$cur" < <(_pbspolicy_names node) ;;
        esac
        ;;
    esac
}
complete -o default -F _pbspolicy @PBSPOLICY_COMMANDS@
