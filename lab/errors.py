# SPDX-License-Identifier: BSD-3-Clause
"""What a person has to be told, without a traceback."""


class LabError(Exception):
    """Its text names the value, the place and, where there is one, the remedy."""
