#include "tests/openpbs/parser_differences.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

namespace pbs::e2e {
namespace {

constexpr const char* kTheyRefuse = "< refused > accepted";
constexpr const char* kTheyAccept = "< accepted > refused";
constexpr const char* kTheyEnd = "< (the server ended|connection lost|qmgr ended)";

constexpr std::array kWanted{
    WantedDifference{"q...", kTheyAccept, "(02(29|3[01])|(0[469]|11)31)[0-9]{4}", "-a\037202902290000",
                     "A day that the month doesn't have is refused; OpenPBS takes the first of March."},
    WantedDifference{"q...", kTheyAccept, "umask=0*([0-9]*[89]|[1-9][0-9]{3})", "-Wumask=1000",
                     "A umask is octal and at most 0777; OpenPBS keeps any number."},
    WantedDifference{"qsub", kTheyAccept, "umask=([,\\x1f\\x1e\\s]|$)", "-Wumask=",
                     "An empty value of -W is a mistake, as OpenPBS says of the other attributes."},
    WantedDifference{"qsub", kTheyAccept, "run_count=", "-Wrun_count=5",
                     "The server counts the runs, and tells them apart by their numbers."},
    WantedDifference{"q...", kTheyAccept, "(cred|tolerate_node_failures)=", "-Wtolerate_node_failures=all",
                     "Not supported, and nothing is ignored."},
    WantedDifference{"q...", kTheyAccept, "on:\\+", "-Wdepend=on:+3", "A count has digits alone."},
    WantedDifference{"q...", kTheyAccept, "(select|nodes|mpiprocs)=.*[0-9]{6}",
                     "-lselect=mpiprocs=9223372036854775807",
                     "Chunks and processes are bounded: 1,000,000 and 100,000 of a job."},
    WantedDifference{"q...", kTheyAccept, "=-[0-9]", "-lfz_job=-2147483648",
                     "A job can't ask for less than nothing."},
    WantedDifference{"qsub", kTheyAccept, "(^|\\x1f)(\\x1e|$)", "-Roe\037",
                     "An empty operand names no script; OpenPBS reads standard input."},
    WantedDifference{"q...", kTheyAccept, "-([A-Za-z]).*-\\1", "-q\037a b\037-qworkq",
                     "Each value is checked, also that of an option that is given again."},
    WantedDifference{"qalter", kTheyAccept, "-h[\\x1f ]?p", "-h\037p",
                     "p is a hold of OpenPBS's Kerberos support."},
    WantedDifference{"q...", kTheyRefuse, "(\\x1f|(^|\\x1f)-[A-Za-z]\\x1f?|=)[ \\t]|[ \\t](\\x1f|\\x1e)",
                     "-N\037 a",
                     "Blanks around a value don't belong to it, for any option; OpenPBS has it so for some."},
    WantedDifference{"q...", "Account_Name|project|Submit_arguments", "-[AP]\\x1f?\\s", "-A\037 a",
                     "Blanks around a value don't belong to it."},
    WantedDifference{"q...", kTheyRefuse, "[^\\x01-\\x7f]", "-lfz_jobtext=\303\251",
                     "Values may have characters outside ASCII."},
    WantedDifference{
        "q...", "Account_Name|project|Job_Name|_Path|Submit_arguments|Variable_List|Resource_List",
        "[^\\x01-\\x7f]", "-A\037\320", "OpenPBS's qstat shows bytes outside ASCII in another form."},
    WantedDifference{"q...", kTheyRefuse, "[^\\x1f\\x1e]{1000}", "", "A path may be longer than 1024 bytes."},
    WantedDifference{"q...", kTheyRefuse, "-[eo][\\x1f ]?[^/\\x1f]*:", "-o\037a:b",
                     "A host of an output file isn't looked up at the submission."},
    WantedDifference{"q...", kTheyRefuse, "([a-z_]+)=.*\\b\\1=", "-lfile=1kbb,file=4w",
                     "Of a resource that is given twice the last value counts."},
    WantedDifference{"q...", kTheyRefuse, "-c[\\x1f ]?u", "-cu",
                     "u is the value that qstat shows without -c."},
    WantedDifference{"q...", kTheyRefuse, "nodes=[^\\x1f]*:(?!ppn=|cpp=|ncpus=)[a-z_]+=", "-lnodes=2:mem=1gb",
                     "A part of nodes may ask for any resource of vnodes; OpenPBS has few of them there."},
    WantedDifference{"q...", kTheyEnd, "nodes=.*([0-9]{6}|.{500})", "",
                     "OpenPBS's server ends at long requests for nodes, and at some of many."},
    WantedDifference{
        "qsub", kTheyRefuse, "-v.*[\"'\\\\]", "-v\037L='\"',E=",
        "Each kind of quotes hides the other one, and a backslash protects a quote, as qsub(1) says."},
    WantedDifference{"qsub", kTheyAccept, "-v.*[\"'\\\\]", "-v\037\"A=1", "A quote needs its end."},
    WantedDifference{"qsub", "Variable_List", "-v.*[\"'\\\\]", "-v\037G=\\\"q\\\"",
                     "A backslash protects a quote; OpenPBS drops the quote and keeps the backslash."},
    WantedDifference{"q...", "depend", "depend=", "-Wdepend=after:{job}:{job}",
                     "A job that is named twice counts once."},
    WantedDifference{"q...", kTheyRefuse, "(min|max)_walltime", "-lmax_walltime=1:00",
                     "Each bound of a walltime may stand alone."},
    WantedDifference{"qsub", kTheyRefuse, "-u[\\x1f ]?[^\\x1f]*@", "-ualice@*",
                     "A name for another host isn't looked up here, and * is no host."},
    WantedDifference{"qsub", "Job_Name|Priority|_Path", "-W.*(Job_Name|Priority)=", "-WPriority=5",
                     "Attributes of -W count; OpenPBS replaces these by its defaults."},
    WantedDifference{"qsub", "Resource_List.select", "nodes=[a-z]", "-lnodes=n1",
                     "A name in nodes is that of a vnode: all vnodes of the server are on its host."},
    WantedDifference{
        "qalter", "Resource_List.place", "select=", "-lselect=1:ncpus=2",
        "The default of place follows the select: free for chunks; OpenPBS keeps that of the submission."},
    WantedDifference{
        "qmgr", kTheyRefuse, ",\\s*[^\\s,=]+\\s*(,|#|$)", "set server managers = alice@*,root@*",
        "A comma that no assignment follows belongs to the value, as qmgr(8) says; OpenPBS wants quotes."},
    WantedDifference{"qmgr", kTheyRefuse, "\"\"|''", "set queue fz Priority=\"\"",
                     "An empty value unsets any attribute; at OpenPBS not those that are whole numbers."},
    WantedDifference{"qmgr", kTheyAccept, "^\\s*d\\S*\\s+(\\S+\\s+\\S+\\s+\\S|sc\\S*\\s+partition)",
                     "delete queue fz max_running",
                     "Attributes of delete mean nothing; OpenPBS ignores them."},
    WantedDifference{
        "qmgr", kTheyAccept,
        "alt_router|sched_cycle_length|log_events|checkpoint_min|throughput_mode|opt_backfill_fuzzy|"
        "node_fail_requeue|max_concurrent_provision|poweroff_eligible|current_aoe|no_multinode_jobs|job_"
        "requeue_timeout",
        "unset queue fz alt_router", "Not supported, and nothing is ignored."},
    WantedDifference{"qmgr", kTheyAccept, "[+-]=", "set sched scheduling += False",
                     "Nothing can be added to a value of True or False, or taken from it."},
    WantedDifference{
        "qmgr", "set (sched|policy)|accepted|refused",
        "do_not_span|only_explicit|preempt|opt_backfill|throughput|dyn_res_alarm|formula_threshold",
        "set sched do_not_span_psets = True",
        "These settings of a scheduler are those of its policy, with the policy's checks."},
    WantedDifference{"qmgr", "kill_delay", "kill_delay", "set queue fz kill_delay = 5",
                     "kill_delay is shown as a duration, 00:00:05."},
    WantedDifference{"qmgr", kTheyRefuse, "node_group_key", "set queue fz node_group_key = A1",
                     "A placement set may name a resource that is made later."},
    WantedDifference{"qmgr", "resources_available.host", "resources_available\\.host",
                     "set node n1 resources_available.host = a", "OpenPBS's mom reports the host again."},
    WantedDifference{"qmgr", kTheyAccept, "resv_enable", "set node n1 resv_enable = n",
                     "Not supported, and nothing is ignored."},
    WantedDifference{"qmgr", kTheyAccept, "\\][^,\"' \\[]", "set server max_run = \"[p:x=1]5\"",
                     "Nothing stands between two limits of entities, or behind the last one."},
    WantedDifference{"qrun", kTheyAccept, "nosuch|127\\.|BOX", "box+nosuch",
                     "Each vnode that is named has to exist; OpenPBS looks only at those that chunks need."},
    WantedDifference{"qrun", kTheyAccept, "\\([^)]*(\\(|\\x1f|$)|(^|\\))[^(]*\\)", "((box:ncpus=1)",
                     "Brackets come in pairs."},
    WantedDifference{"qrun", kTheyEnd, "[()]", "",
                     "OpenPBS's server ends at some brackets, such as two without a + between them."},
    WantedDifference{"qrun", kTheyAccept, "=[0-9]*[^0-9:+)]", "box:ncpus=1x",
                     "An amount is read as a whole; OpenPBS takes the digits at its beginning."},
    WantedDifference{"qrun", kTheyAccept, "=-|[0-9]{7}", "box:ncpus=-1",
                     "An amount is at least 0, and there has to be room for it."},
    WantedDifference{"qrun", "exec_vnode",
                     "(fz_(text|texts|bool)|arch|host|vnode|mpiprocs|ompthreads)=", "box:ncpus=1:fz_text=a",
                     "exec_vnode has only the amounts that the vnode gives to the job."},
    WantedDifference{"qmgr", kTheyEnd, "", "help queue \\\n ",
                     "OpenPBS's qmgr ends, or loses its connection, at some help and at very long names."},
};

constexpr std::array kSame{
    SameInput{"qrun", "box"},
    SameInput{"qrun", "(box)"},
    SameInput{"qrun", "box:mem=100mb\037ncpus=4"},
    SameInput{"qrun", "box+box\0373:ncpus=1"},
    SameInput{"qrun", "(box:ncpus=1+box:ncpus=2)+(box:mem=1gb)"},
    SameInput{"qrun", ""},
    SameInput{"qrun", "box+"},
    SameInput{"qrun", "box:"},
    SameInput{"qrun", "box:ncpus"},
    SameInput{"qrun", "box:nosuch=1"},
    SameInput{"qsub", "-q\037"},
    SameInput{"qsub", "-A\037"},
    SameInput{"qsub", "-P\037"},
    SameInput{"qsub", "-v\037"},
    SameInput{"qsub", "-l\037"},
    SameInput{"qsub", "-lfile="},
    SameInput{"qsub", "-lselect="},
    SameInput{"qsub", "-lselect=1:ncpus="},
    SameInput{"qsub", "-Pa/b"},
    SameInput{"qsub", "-P,"},
    SameInput{"qsub", "-cc=0"},
    SameInput{"qsub", "-u@"},
    SameInput{"qsub", "-uuna,una"},
    SameInput{"qsub", "-Ma,,b"},
    SameInput{"qsub", "-Ma@b@c"},
    SameInput{"qsub", "-Ssh"},
    SameInput{"qsub", "-S/bin/sh,/bin/bash"},
    SameInput{"qsub", "-S/bin/sh@box,/bin/x@box"},
    SameInput{"qsub", "-kd"},
    SameInput{"qsub", "-kon"},
    SameInput{"qsub", "-knd"},
    SameInput{"qsub", "-Wumask=022,"},
    SameInput{"qsub", "-W,umask=022"},
    SameInput{"qsub", "-Wumask=022,,group_list=una"},
    SameInput{"qsub", "-Wsandbox=private"},
    SameInput{"qsub", "-Wstageout=b@box:c"},
    SameInput{"qsub", "-obox:a"},
    SameInput{"qsub", "-o:a"},
    SameInput{"qsub", "-lnodes=2:ppn="},
    SameInput{"qsub", "-lnodes=2:ppn=0"},
    SameInput{"qsub", "-lnodes=2:cpp=2"},
    SameInput{"qsub", "-lnodes=2#excl"},
    SameInput{"qsub", "-lnodes=2#shared"},
    SameInput{"qsub", "-lnodes=1+2:ppn=2"},
    SameInput{"qsub", "-lselect=2:mem=1gb+1:mem=512mb"},
    SameInput{"qsub", "-lselect=3:mem=1024"},
    SameInput{"qsub", "-A\037\"<a b>\" & 'c'"},
    SameInput{"qsub", "\036#PBS -A \"a b\"\n#PBS -v A=1,B\\\n#PBS -h\nsleep 1\n#PBS -A c\n"},
    SameInput{"qsub", "\036# a comment \\\n#PBS -N a\nsleep 1\n"},
    SameInput{"qsub", "-Wdepend=on:2"},
    SameInput{"qalter", "-lplace=scatter"},
    SameInput{"qalter", "-Ma,"},
    SameInput{"qmgr", "set node n2 = 2"},
    SameInput{"qmgr", "set queue abc = 3"},
    SameInput{"qmgr", "set queue fz acl_users=,,Priority=5"},
    SameInput{"qmgr", "set queue fz Priority=5,,kill_delay=4"},
    SameInput{"qmgr", "s q fz acl_users = una , Priority = 3"},
    SameInput{"qmgr", "set queue fz \\\n Priority=3"},
    SameInput{"qmgr", "set queue fz comment=\"a"},
};

bool is_of(const char* parser, const std::string& name) {
    return parser == name || (std::string_view(parser) == "q..." && (name == "qsub" || name == "qalter"));
}

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

}  // namespace

std::span<const WantedDifference> wanted_differences() {
    return kWanted;
}
std::span<const SameInput> same_inputs() {
    return kSame;
}

std::string difference_of(const std::string& theirs, const std::string& ours) {
    const auto left = lines_in(theirs);
    const auto right = lines_in(ours);
    if (!left.empty() && !right.empty() && left[0] != right[0])
        return "< " + left[0] + " > " + right[0] + "\n";
    std::string out;
    for (const std::string& line : left)
        if (std::ranges::find(right, line) == right.end()) out += "< " + line + "\n";
    for (const std::string& line : right)
        if (std::ranges::find(left, line) == left.end()) out += "> " + line + "\n";
    return out.empty() && theirs != ours ? "other order\n" : out;
}

std::string unwanted(const std::string& parser, const std::string& input, const std::string& difference,
                     const WantedDifference* only) {
    if (difference.empty()) return difference;
    std::vector<std::string> lines = lines_in(difference);
    for (const WantedDifference& wanted : kWanted) {
        if ((only != nullptr && only != &wanted) || !is_of(wanted.parser, parser)) continue;
        // the pattern is for a part of the input, because std::regex needs much stack for a long one
        if (!std::regex_search(input.substr(0, 4000), std::regex(wanted.input))) continue;
        std::erase_if(lines, [line = std::regex(wanted.line)](const std::string& one) {
            return std::regex_search(one.substr(0, 200), line);
        });
    }
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
}

}  // namespace pbs::e2e
