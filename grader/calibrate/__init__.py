# SPDX-License-Identifier: MIT
"""`./lab calibrate`: the description of this machine for the virtual node, fitted to what its GPUs answer."""
