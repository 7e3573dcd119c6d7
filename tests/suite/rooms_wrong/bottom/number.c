/* SPDX-License-Identifier: MIT
 * number.c: of the lower room: it calls upwards, and so goes in a circle with command.c.
 */
int command_count(void);
int number_next(void);

static int numbers;

int number_next(void)
{
    return ++numbers < 3 ? command_count() : numbers;
}
