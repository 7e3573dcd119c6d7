# SPDX-License-Identifier: MIT
"""`./lab calibrate`: this machine's description, fitted to its GPUs' answers."""
