/* SPDX-License-Identifier: MIT
 * table.c: the table and the log (-q) of nvidia-smi. What the virtual node does not model is N/A.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "smi.h"

static const char rule[] = "+-------------------------------------------------------------------"
                           "----------------------+";
static const char columns[] = "+-----------------------------------------+------------------------"
                              "+----------------------+";

static void print_head(const struct view *view)
{
    char now[64], head[128];
    time_text("%a %b %e %H:%M:%S %Y", now);
    printf("%-32s\n%s\n", now, rule);
    snprintf(head, sizeof head, "VGPU-SMI  node %-22.22s Driver Version: %-13s CUDA Version: %d.%d",
             view->info->name, "N/A", view->info->driver_version / 1000,
             view->info->driver_version % 1000 / 10);
    printf("| %-88s|\n", head);
    printf("%s\n", columns);
    puts("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. "
         "ECC |"
         "\n| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute "
         "M. "
         "|\n|                                         |                        |               "
         "MIG M. "
         "|\n|=========================================+========================+=================="
         "==="
         "=|");
}

static void print_gpu(const struct view *view, int d)
{
    const struct vgpu_device_info *g = &view->info->device[d];
    char bus[32], memory[32];
    bus_text(g, bus);
    snprintf(memory, sizeof memory, "%" PRIu64 "MiB / %6" PRIu64 "MiB", view_used_mib(view, d),
             g->total_bytes >> 20);
    printf("| %3d  %-27.27s %6s | %18s %3s | %20s |\n", d, g->name, "N/A", bus, "Off",
           g->ecc ? "0" : "N/A");
    printf("| N/A  N/A    N/A             N/A /  N/A  | %22s |     N/A      Default |\n", memory);
    printf("| %39s | %22s | %20s |\n%s\n", "", "", "N/A", columns);
}

static void print_processes(const struct view *view)
{
    int count = 0;
    printf("\n%s\n", rule);
    printf("| %-88s|\n", "Processes:");
    printf(
        "| %-88s|\n",
        " GPU   GI   CI              PID   Type   Process name                        GPU Memory ");
    printf(
        "| %-88s|\n",
        "       ID   ID                                                               Usage      ");
    puts("|========================================================================================"
         "=|");
    for (uint32_t i = 0; i < view->now.count; i++) {
        if (!view_has(view, view->now.user[i].device))
            continue;
        count++;
        printf("| %4d   N/A  N/A %16d      C   %-31.31s %10" PRIu64 "MiB |\n",
               view->now.user[i].device, view->now.user[i].pid, view->now.user[i].program,
               view->now.user[i].bytes >> 20);
    }
    if (count == 0)
        printf("| %-88s|\n", " No running processes found");
    puts(rule);
}

int print_table(const struct view *view)
{
    if (view->info->device_count == 0) {
        puts("No devices were found");
        return 0;
    }
    print_head(view);
    for (int d = 0; d < view->info->device_count; d++)
        if (view_has(view, d))
            print_gpu(view, d);
    print_processes(view);
    return 0;
}

/* ---- the log ---- */

static void print_entry(int depth, const char *name, const char *value)
{
    printf("%*s%-*s: %s\n", 4 * depth, "", 42 - 4 * depth, name, value);
}

static void print_number(int depth, const char *name, const char *format, uint64_t number)
{
    char value[40];
    snprintf(value, sizeof value, format, number);
    print_entry(depth, name, value);
}

enum section { MEMORY = 1, COMPUTE = 2, CLOCK = 4, PIDS = 8, GENERAL = 16, NOT_MODELLED = 32 };

/* Sections of the log that -d chooses; those that are not modelled have a title. */
static const struct {
    const char *word, *title;
    enum section section;
} sections_known[] = {
    {"MEMORY", NULL, MEMORY},
    {"COMPUTE", NULL, COMPUTE},
    {"CLOCK", NULL, CLOCK},
    {"PIDS", NULL, PIDS},
    {"UTILIZATION", "Utilization", NOT_MODELLED},
    {"TEMPERATURE", "Temperature", NOT_MODELLED},
    {"POWER", "GPU Power Readings", NOT_MODELLED},
    {"ECC", "ECC Errors", NOT_MODELLED},
    {"PERFORMANCE", "Performance State", NOT_MODELLED},
};
#define SECTIONS (sizeof sections_known / sizeof *sections_known)

/* Takes the next word of -d off `*words`; its number, or SECTIONS if nothing has that name. */
static size_t take_section(const char **words)
{
    size_t length = strcspn(*words, ","), i = 0;
    while (i < SECTIONS && (strlen(sections_known[i].word) != length ||
                            strncasecmp(sections_known[i].word, *words, length) != 0))
        i++;
    *words += length + ((*words)[length] == ',');
    return i;
}

/* All that -d asks for; 0: a word that is no section, which is reported on stderr. */
static unsigned chosen_sections(const char *words)
{
    unsigned chosen = 0;
    if (!words)
        return ~(unsigned)NOT_MODELLED;
    while (*words) {
        const char *word = words;
        size_t i = take_section(&words);
        if (i == SECTIONS) {
            fprintf(stderr, "vgpu-smi: -d has no section '%.*s'; it has", (int)strcspn(word, ","),
                    word);
            for (i = 0; i < SECTIONS; i++)
                fprintf(stderr, " %s", sections_known[i].word);
            fprintf(stderr, "\n");
            return 0;
        }
        chosen |= sections_known[i].section;
    }
    return chosen;
}

static void print_general_log(const struct vgpu_device_info *g, int d)
{
    char text[64];
    print_entry(1, "Product Name", g->name);
    snprintf(text, sizeof text, "%d.%d", g->cc_major, g->cc_minor);
    print_entry(1, "Compute Capability", text);
    uuid_text(g->uuid, text);
    print_entry(1, "GPU UUID", text);
    print_number(1, "Minor Number", "%" PRIu64, (uint64_t)d);
    puts("    PCI");
    print_number(2, "Bus", "0x%02" PRIX64, (uint64_t)g->pci_bus);
    print_number(2, "Device", "0x%02" PRIX64, (uint64_t)g->pci_device);
    print_number(2, "Domain", "0x%04" PRIX64, (uint64_t)g->pci_domain);
}

static void print_gpu_log(const struct view *view, int d, unsigned sections)
{
    const struct vgpu_device_info *g = &view->info->device[d];
    char text[64];
    bus_text(g, text);
    printf("\nGPU %s\n", text);
    if (sections & GENERAL)
        print_general_log(g, d);
    if (sections & MEMORY) {
        puts("    FB Memory Usage");
        print_number(2, "Total", "%" PRIu64 " MiB", g->total_bytes >> 20);
        print_number(2, "Used", "%" PRIu64 " MiB", view_used_mib(view, d));
        print_number(2, "Free", "%" PRIu64 " MiB", (g->total_bytes >> 20) - view_used_mib(view, d));
    }
    if (sections & COMPUTE)
        print_entry(1, "Compute Mode", "Default");
    if (sections & CLOCK) {
        puts("    Max Clocks");
        print_number(2, "SM", "%" PRIu64 " MHz", (uint64_t)g->clock_khz / 1000);
        print_number(2, "Memory", "%" PRIu64 " MHz", (uint64_t)g->memory_clock_khz / 1000);
    }
}

/* The sections of -d that are not modelled. */
static void print_missing_log(const char *words)
{
    while (*words) {
        size_t i = take_section(&words);
        if (sections_known[i].title)
            print_entry(1, sections_known[i].title, "N/A");
    }
}

static void print_processes_log(const struct view *view, int d)
{
    bool any = false;
    for (uint32_t i = 0; i < view->now.count; i++) {
        if (view->now.user[i].device != d)
            continue;
        if (!any)
            puts("    Processes");
        any = true;
        print_number(2, "Process ID", "%" PRIu64, (uint64_t)view->now.user[i].pid);
        print_entry(3, "Type", "C");
        print_entry(3, "Name", view->now.user[i].program);
        print_number(3, "Used GPU Memory", "%" PRIu64 " MiB", view->now.user[i].bytes >> 20);
    }
    if (!any)
        print_entry(1, "Processes", "None");
}

int print_query(const struct view *view, const char *words)
{
    unsigned sections = chosen_sections(words);
    char text[64];
    if (!sections)
        return 2;
    puts("\n==============VGPU-SMI LOG==============\n");
    time_text("%a %b %e %H:%M:%S %Y", text);
    print_entry(0, "Timestamp", text);
    print_entry(0, "Driver Version", "N/A");
    snprintf(text, sizeof text, "%d.%d", view->info->driver_version / 1000,
             view->info->driver_version % 1000 / 10);
    print_entry(0, "CUDA Version", text);
    puts("");
    print_number(0, "Attached GPUs", "%" PRIu64, (uint64_t)view->info->device_count);
    for (int d = 0; d < view->info->device_count; d++) {
        if (!view_has(view, d))
            continue;
        print_gpu_log(view, d, sections);
        if (sections & PIDS)
            print_processes_log(view, d);
        if (words)
            print_missing_log(words);
    }
    return 0;
}
