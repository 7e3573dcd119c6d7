/* SPDX-License-Identifier: MIT
 * races.h: what race detection reports, in the place of the sentence that a program is told.
 */
#ifndef TEST_UNIT_RACES_H
#define TEST_UNIT_RACES_H

extern int race_reports; /* since the test set it to 0 */

#endif
