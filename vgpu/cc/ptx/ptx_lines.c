/* SPDX-License-Identifier: MIT
 * ptx_lines.c: places of a PTX module's instructions: those in the source that .loc names; without
 * it, lines of the PTX file.
 */
#include "ptx_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANGUAGE_CXX = 3, LINES_ONLY = 2, WARN_OF_OTHERS = 1, DEBUG_VERSION = 3, DWARF_VERSION = 4 };

static void add_file(struct cc_ptx_module *m, int number, const char *path)
{
    m->file = cc_grow(m->file, m->files, &m->file_room, sizeof *m->file);
    m->file[m->files++] = (struct cc_ptx_file){.number = number, .path = path};
}

static struct cc_ptx_file *find_file(struct cc_ptx_module *m, int number)
{
    struct cc_ptx_file *found = &m->file[0];

    for (size_t i = 0; i < m->files; i++)
        if (m->file[i].number == number)
            found = &m->file[i];
    if (found->node == NULL)
        found->node = LLVMDIBuilderCreateFile(m->info, found->path, strlen(found->path), "", 0);
    return found;
}

static void add_flag(struct cc_ptx_module *m, const char *name, int value)
{
    LLVMAddModuleFlag(m->l->module, WARN_OF_OTHERS, name, strlen(name),
                      LLVMValueAsMetadata(cc_number(m->l, (uint64_t)value, 32)));
}

/* .file 1 "/home/a/sum.cu": at the end of the text, behind its uses. */
void cc_ptx_find_files(struct cc_ptx_module *m, const char *text)
{
    m->info = LLVMCreateDIBuilder(m->l->module);
    add_file(m, 0, m->l->source);
    for (const char *at = text; (at = strstr(at, ".file")) != NULL; at++) {
        char *end;
        int number = (int)strtol(at + strlen(".file"), &end, 10);
        const char *quoted = cc_ptx_skip_blank(end);
        if ((at == text || strchr("\n\t ", at[-1]) != NULL) && number > 0 && *quoted == '"')
            add_file(m, number, cc_copy(quoted + 1, strcspn(quoted + 1, "\"\n")));
    }
    add_flag(m, "Debug Info Version", DEBUG_VERSION);
    add_flag(m, "Dwarf Version", DWARF_VERSION);
    LLVMDIBuilderCreateCompileUnit(m->info, LANGUAGE_CXX, find_file(m, 0)->node, "", 0, 1, "", 0, 0,
                                   "", 0, LINES_ONLY, 0, 0, 0, "", 0, "", 0);
}

void cc_ptx_end_lines(struct cc_ptx_module *m)
{
    LLVMDIBuilderFinalize(m->info);
}

bool cc_ptx_read_loc(const char *at, int *file, unsigned *line, unsigned *column)
{
    return sscanf(at, "%d %u %u", file, line, column) == 3;
}

/* The first .loc of the body that begins at the next word; false: it has none. */
static bool find_first_loc(struct cc_ptx_module *m, int *file, unsigned *line)
{
    const char *found = strstr(m->at, ".loc"), *end = strstr(m->at, "\n}");
    unsigned column;

    while (found != NULL && cc_starts(found, ".local"))
        found = strstr(found + 1, ".loc");
    return found != NULL && (end == NULL || found < end) &&
           cc_ptx_read_loc(found + strlen(".loc"), file, line, &column);
}

LLVMMetadataRef cc_ptx_place_function(struct cc_ptx_module *m, LLVMValueRef function,
                                      const char *name)
{
    int file = 0;
    unsigned line = (unsigned)cc_ptx_here(m).line;

    find_first_loc(m, &file, &line);
    LLVMMetadataRef in = find_file(m, file)->node;
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(m->info, in, NULL, 0, 0);
    LLVMMetadataRef made = LLVMDIBuilderCreateFunction(
        m->info, in, name, strlen(name), name, strlen(name), in, line, type, 0, 1, line, 0, 1);
    LLVMSetSubprogram(function, made);
    return made;
}

LLVMMetadataRef cc_ptx_location(struct cc_ptx_module *m, LLVMMetadataRef function, int file,
                                unsigned line, unsigned column)
{
    LLVMMetadataRef in = find_file(m, file)->node, scope = function;

    if (LLVMDIScopeGetFile(function) != in)
        scope = LLVMDIBuilderCreateLexicalBlockFile(m->info, function, in, 0);
    return LLVMDIBuilderCreateDebugLocation(m->l->context, line, column, scope, NULL);
}

struct cc_place cc_ptx_source_place(struct cc_ptx_module *m, int file, int line, int column)
{
    return (struct cc_place){find_file(m, file)->path, line, column};
}
