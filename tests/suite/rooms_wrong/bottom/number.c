/* SPDX-License-Identifier: MIT
 * number.c: of the lower room: it calls upwards, and so goes in a circle with command.c.
 */
int command_count(void);
int number_next(void);

static int numbers;

/* With addresses, and constant all the same: no variable. */
static const char *const number_names[] = {"none", "one", "two", "three"};

int number_next(void)
{
    return ++numbers < 3 && number_names[numbers][0] ? command_count() : numbers;
}
