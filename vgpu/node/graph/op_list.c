/* SPDX-License-Identifier: MIT
 * op_list.c: see op_list.h.
 */
#include "op_list.h"

#include <string.h>

#include "op.h"
#include "reserve.h"

static void grow_op_list(struct op_list *list)
{
    size_t had = (size_t)list->room * sizeof(struct op *);
    bool own = list->item == list->own;
    if (!list->item) {
        list->item = list->own;
        list->room = OP_LIST_OWN;
        return;
    }
    list->room *= 2;
    list->item = reserve_grow(own ? NULL : list->item, own ? 0 : had, 2 * had);
    if (own)
        memcpy(list->item, list->own, had);
}

void op_list_add(struct op_list *list, struct op *op)
{
    if (list->count == list->room)
        grow_op_list(list);
    list->item[list->count++] = op_keep(op);
}

struct op *op_list_pop(struct op_list *list)
{
    return list->item[--list->count];
}

struct op *op_list_take(struct op_list *list, int i)
{
    struct op *op = list->item[i];
    list->count--;
    memmove(list->item + i, list->item + i + 1, (size_t)(list->count - i) * sizeof(struct op *));
    return op;
}

void op_list_clear(struct op_list *list)
{
    while (list->count)
        op_drop(op_list_pop(list));
}

void op_list_free(struct op_list *list)
{
    op_list_clear(list);
    if (list->item && list->item != list->own)
        reserve_give(list->item);
    *list = (struct op_list){0};
}
