// Declares the pages, each of which has a file. page.cc lists them.
#pragma once

#include "tools/web/page.h"

namespace pbs::web {

extern const Page kNowPage;
extern const Page kWhyPage;
extern const Page kWhenPage;
extern const Page kCalendarPage;
extern const Page kChangesPage;
extern const Page kSharesPage;
extern const Page kQuotasPage;
extern const Page kWhatIfPage;

}  // namespace pbs::web
