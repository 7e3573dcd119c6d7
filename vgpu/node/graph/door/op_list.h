/* SPDX-License-Identifier: MIT
 * op_list.h: a list of operations that holds a reference to each of them.
 */
#ifndef VGPU_OP_LIST_H
#define VGPU_OP_LIST_H

struct op;

enum { OP_LIST_OWN = 4 }; /* items for which the list allocates nothing */

/* All zero: empty. It must not be copied, since `item` may point into it. */
struct op_list {
    struct op **item; /* `own`, or memory of the reserve; NULL: never used */
    int count, room;
    struct op *own[OP_LIST_OWN];
};

/* Appends `op`; takes a reference. */
void op_list_add(struct op_list *list, struct op *op);

/* Remove an item and pass its reference to the caller: the last item, or item `i` (the order of the
 * others is kept). */
struct op *op_list_pop(struct op_list *list);
struct op *op_list_take(struct op_list *list, int i);

/* op_list_clear drops all items; op_list_free also frees the list's memory. The list can be used
 * again. */
void op_list_clear(struct op_list *list);
void op_list_free(struct op_list *list);

#endif
