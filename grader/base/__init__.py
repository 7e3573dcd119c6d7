# SPDX-License-Identifier: MIT
"""What all rooms of `./lab` use: exit statuses, messages, output styles; child processes and
locks."""
