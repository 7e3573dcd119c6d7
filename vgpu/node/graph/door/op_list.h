/* SPDX-License-Identifier: MIT
 * op_list.h: a list of operations that keeps each of them alive while it is in there.
 */
#ifndef VGPU_OP_LIST_H
#define VGPU_OP_LIST_H

struct op;

struct op_list { /* all zero: empty */
    struct op **item;
    int count, room;
};

/* At the end; takes a reference. */
void op_list_add(struct op_list *list, struct op *op);

/* Take an item out, and hand its reference to the caller: the last one; number `i`, the order of
 * the others stays. */
struct op *op_list_pop(struct op_list *list);
struct op *op_list_take(struct op_list *list, int i);

/* Drops all of them. The list can be used again; op_list_free gives its own memory back, too. */
void op_list_clear(struct op_list *list);
void op_list_free(struct op_list *list);

#endif
