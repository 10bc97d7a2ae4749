#include "server_plugin/openpbs/imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define WAIT "epoll_pwait"

static const char* const kOfServer[] = {"decode_DIS_ReqHdr", "decode_DIS_Manage",    "decode_DIS_Status",
                                        "decode_DIS_Run",    "decode_DIS_ReqExtend", "encode_DIS_reply"};

/* The tables in an object's dynamic section: its symbols, and two tables of relocations that refer to
 * symbols. */
struct dynamic {
    const ElfW(Sym) * symbols;
    const char* names;
    const char* tables[2]; /* for called functions; for functions whose address is taken */
    size_t sizes[2];
    size_t entry[2]; /* bytes of one relocation */
};

/* Returns an address in the object. Most loaders have replaced the offsets in the dynamic section by
 * addresses; others leave the offsets. */
static const char* address(const struct link_map* object, ElfW(Addr) value) {
    return (const char*)(value < object->l_addr ? value + object->l_addr : value);
}

static void read_dynamic(const struct link_map* object, struct dynamic* found) {
    const ElfW(Dyn) * one;
    memset(found, 0, sizeof *found);
    found->entry[0] = found->entry[1] = sizeof(ElfW(Rela));
    for (one = object->l_ld; one != NULL && one->d_tag != DT_NULL; ++one) switch (one->d_tag) {
            case DT_SYMTAB:
                found->symbols = (const void*)address(object, one->d_un.d_ptr);
                break;
            case DT_STRTAB:
                found->names = address(object, one->d_un.d_ptr);
                break;
            case DT_JMPREL:
                found->tables[0] = address(object, one->d_un.d_ptr);
                break;
            case DT_PLTRELSZ:
                found->sizes[0] = one->d_un.d_val;
                break;
            case DT_PLTREL:
                if (one->d_un.d_val == DT_REL) found->entry[0] = sizeof(ElfW(Rel));
                break;
            case DT_RELA:
            case DT_REL:
                found->tables[1] = address(object, one->d_un.d_ptr);
                if (one->d_tag == DT_REL) found->entry[1] = sizeof(ElfW(Rel));
                break;
            case DT_RELASZ:
            case DT_RELSZ:
                found->sizes[1] = one->d_un.d_val;
                break;
            default:
                break;
        }
}

static size_t symbol_of(const ElfW(Rel) * relocation) {
    return sizeof(relocation->r_info) == 8 ? ELF64_R_SYM((Elf64_Xword)relocation->r_info)
                                           : ELF32_R_SYM((Elf32_Word)relocation->r_info);
}

static int imports(const struct link_map* object, const char* name) {
    struct dynamic of;
    size_t table, at;
    if (object == NULL) return 0;
    read_dynamic(object, &of);
    if (of.symbols == NULL || of.names == NULL) return 0;
    for (table = 0; table < 2; ++table)
        for (at = 0; of.tables[table] != NULL && at < of.sizes[table]; at += of.entry[table]) {
            /* Relocations with and without addends begin with the same members, so read them all as
             * ElfW(Rel). */
            const ElfW(Sym)* symbol = of.symbols + symbol_of((const void*)(of.tables[table] + at));
            if (symbol->st_shndx == SHN_UNDEF && strcmp(of.names + symbol->st_name, name) == 0) return 1;
        }
    return 0;
}

/* Finds libpbs: the library with the functions that the preloaded object replaces. */
static const struct link_map* libpbs(void) {
    void* function = dlsym(RTLD_NEXT, kOfServer[0]);
    struct link_map* object = NULL;
    Dl_info found;
    if (function == NULL || dladdr1(function, &found, (void**)&object, RTLD_DL_LINKMAP) == 0) return NULL;
    return object;
}

int pbs_calls_can_be_caught(char* why, size_t why_size) {
    const struct link_map* server = dlopen(NULL, RTLD_LAZY);
    size_t i;
    if (!imports(server, WAIT) && !imports(libpbs(), WAIT)) {
        snprintf(why, why_size,
                 "neither this pbs_server nor its libpbs imports " WAIT
                 " from libc, so its main loop can't be seen");
        return PBS_NO_WAIT;
    }
    for (i = 0; i < sizeof kOfServer / sizeof *kOfServer; ++i) {
        if (imports(server, kOfServer[i]) && dlsym(RTLD_NEXT, kOfServer[i]) != NULL) continue;
        snprintf(
            why, why_size,
            "this pbs_server doesn't import %s from libpbs (it may have a copy of libpbs in itself), so its "
            "requests can't be seen",
            kOfServer[i]);
        return -1;
    }
    return 0;
}
