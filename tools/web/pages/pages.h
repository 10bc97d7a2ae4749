// Declares the pages, of which each has a source file. page.cc lists them in the order of the menu.
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
