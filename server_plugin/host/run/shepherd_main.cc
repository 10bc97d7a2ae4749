// The program pbs_shepherd: the shepherd and warden of a job (shepherd.h), and the launcher that starts them
// (launcher.h).
#include "server_plugin/host/run/shepherd.h"

int main(int argc, char** argv) {
    return pbs::host::shepherd_main(argc, argv);
}
