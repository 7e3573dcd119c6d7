/* SPDX-License-Identifier: MIT
 * image_script.c: the linker scripts of a device image.
 *
 * The linker puts together what each file has of the tables of image.h. Only these are exported, so
 * only what they reach is kept. Constructors and what unwinding
 * needs are left out: they would keep host code alive, and device code has neither. The __device__
 * variables get pages of their own, over which vgpu-exec maps device memory.
 */
#include "image_script.h"

#include <string.h>

#include "diag.h"
#include "image.h"
#include "proc.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static const char layout[] =
    "PHDRS {\n"
    "  text PT_LOAD FILEHDR PHDRS FLAGS(5);\n"
    "  data PT_LOAD FLAGS(6);\n"
    "  dynamic PT_DYNAMIC FLAGS(6);\n"
    "  stack PT_GNU_STACK FLAGS(6);\n"
    "}\n"
    "SECTIONS {\n"
    "  . = SIZEOF_HEADERS;\n"
    "  .hash : { *(.hash) } :text\n"
    "  .gnu.hash : { *(.gnu.hash) } :text\n"
    "  .dynsym : { *(.dynsym) }\n"
    "  .dynstr : { *(.dynstr) }\n"
    "  .gnu.version : { *(.gnu.version) }\n"
    "  .gnu.version_d : { *(.gnu.version_d) }\n"
    "  .gnu.version_r : { *(.gnu.version_r) }\n"
    "  .rela.dyn : { *(.rela.*) }\n"
    "  .plt : { *(.plt) *(.iplt) }\n"
    "  .plt.got : { *(.plt.got) }\n"
    "  .plt.sec : { *(.plt.sec) }\n"
    "  .text : { *(.text .text.*) }\n"
    "  .rodata : { *(.rodata .rodata.*) }\n"
    "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
    "  .data.rel.ro.vgpu : SUBALIGN(8) {\n"
    "    vgpu_image_kernels = .; KEEP(*(" VGPU_KERNEL_TABLE_SECTION ")) vgpu_kernels_end = .;\n"
    "    vgpu_image_vars = .; KEEP(*(" VGPU_VAR_TABLE_SECTION ")) vgpu_vars_end = .;\n"
    "    vgpu_image_kernel_count = .;\n"
    "    LONG((vgpu_kernels_end - vgpu_image_kernels) / " TEXT(
        VGPU_KERNEL_BYTES) ")\n"
                           "    vgpu_image_var_count = .;\n"
                           "    LONG((vgpu_vars_end - vgpu_image_vars) / " TEXT(
                               VGPU_VAR_BYTES) ")\n"
                                               "    vgpu_image_abi = .; LONG(" TEXT(
                                                   VGPU_IMAGE_ABI) ")\n"
                                                                   "  } :data\n"
                                                                   "  .data.rel.ro : { "
                                                                   "*(.data.rel.ro .data.rel.ro.*) "
                                                                   "}\n"
                                                                   "  .dynamic : { *(.dynamic) } "
                                                                   ":data :dynamic\n"
                                                                   "  .got : { *(.got) *(.got.plt) "
                                                                   "} :data\n"
                                                                   "  .tdata : { *(.tdata "
                                                                   ".tdata.*) }\n"
                                                                   "  .tbss : { *(.tbss .tbss.*) "
                                                                   "}\n"
                                                                   "  /DISCARD/ : {\n"
                                                                   "    *(.data.DW.ref.*) "
                                                                   "*(.init_array .init_array.* "
                                                                   ".ctors .ctors.*)\n"
                                                                   "    *(.preinit_array "
                                                                   ".fini_array .fini_array.* "
                                                                   ".dtors .dtors.*)\n"
                                                                   "    *(.eh_frame .eh_frame_hdr "
                                                                   ".gcc_except_table "
                                                                   ".gcc_except_table.*)\n"
                                                                   "    *(.note.* .comment)\n"
                                                                   "  }\n"
                                                                   "  .data : { *(.data .data.*) "
                                                                   "}\n"
                                                                   "  . = "
                                                                   "ALIGN(CONSTANT(MAXPAGESIZE));\n"
                                                                   "  " VGPU_DEVICE_VAR_SECTION
                                                                   " : {\n"
                                                                   "    *(" VGPU_DEVICE_VAR_SECTION
                                                                   ")\n"
                                                                   "    . = "
                                                                   "ALIGN(CONSTANT(MAXPAGESIZE));\n"
                                                                   "  }\n"
                                                                   "  .bss : { *(.bss .bss.*) "
                                                                   "*(COMMON) }\n"
                                                                   "}\n";

static const char exports[] = "{ global: vgpu_image_abi; vgpu_image_kernels; "
                              "vgpu_image_kernel_count; vgpu_image_vars; vgpu_image_var_count; "
                              "local: *; };\n";

bool cc_write_image_scripts(void)
{
    if (cc_write_file(cc_temp_path("image.ld"), layout, strlen(layout)) &&
        cc_write_file(cc_temp_path("image.ver"), exports, strlen(exports)))
        return true;
    cc_fail("cannot write '%s': is the disk full?", cc_temp_path("image.ld"));
    return false;
}
