# SPDX-License-Identifier: MIT
"""Marks and feedback inside a learning platform, by LTI 1.3 (`./lab lti`, docs/lti.md).

The protocol is PyLTI1p3's, the web server waitress with Flask: none of it is here. What is here is
which course, which student and which marks a message is about, and the checks that the library
leaves to its user. Only service.py, launch.py, keys.py and push.py import these packages.
"""
