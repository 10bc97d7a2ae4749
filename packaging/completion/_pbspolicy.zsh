#compdef @PBSPOLICY_COMMANDS@
# zsh completion for the commands of pbspolicy, with the words of completion/pbspolicy.bash.

_pbspolicy() {
    local command=$words[1] previous=$words[CURRENT-1]
    local -a found
    _pbspolicy_names() { qmgr --complete "list $1 x," 2>/dev/null | sed "s/^list $1 x,//" }
    if [[ ${command:t} == qmgr && $previous == -c ]]; then
        found=(${(f)"$($command --complete "${(Q)PREFIX}" 2>/dev/null)"})
        compadd -S '' -a found
        return
    fi
    if [[ $PREFIX == -* ]]; then
        found=(${(fu)"$($command --help 2>/dev/null |
            grep -oE -- '(^|[^[:alnum:]-])(--[a-z][a-z-]+|-[[:alnum:]])' | grep -oE -- '--?[[:alnum:]][[:alnum:]-]*')"})
        compadd -a found
        return
    fi
    case $previous in
    -q) found=(${(f)"$(_pbspolicy_names queue)"}) ;;
    -u) _users; return ;;
    *)
        case ${command:t} in
        qdel|qhold|qrls|qalter|qrun|qrerun|qsig|qmsg|qorder|qmove|tracejob|pbs_explain)
            found=(${(f)"$(qselect 2>/dev/null)"}) ;;
        qstat) found=(${(f)"$(qselect 2>/dev/null; _pbspolicy_names queue)"}) ;;
        qenable|qdisable|qstart|qstop) found=(${(f)"$(_pbspolicy_names queue)"}) ;;
        pbs_rstat|pbs_rdel|pbs_ralter) found=(${(f)"$(pbs_rstat -B 2>/dev/null | sed 's/^Resv ID: //')"}) ;;
        pbs_quota) found=(${(f)"$(_pbspolicy_names quota)"}) ;;
        pbsnodes) found=(${(f)"$(_pbspolicy_names node)"}) ;;
        *) _default; return ;;
        esac
        ;;
    esac
    compadd -a found || _default
}
_pbspolicy "$@"
