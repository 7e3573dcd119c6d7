/* SPDX-License-Identifier: MIT
 * command.c: of the upper room of an example that tests/suite/rooms.py must reject.
 */
int command_count(void);
int number_next(void);

int command_count(void)
{
    return number_next();
}
