/* SPDX-License-Identifier: MIT
 * about.c: for verifiers that are built without peerlab_lab(): no facts about a lab.
 */
#include "about.h"
#include "case.h"

const struct lab_about lab_about = {0};
