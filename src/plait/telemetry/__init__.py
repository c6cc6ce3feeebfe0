"""What calls look like to an observability system. OpenTelemetry needs the `otel` extra; nothing else does.

`names.py` holds the conventions' names, `content.py` writes messages in their form, `spans.py` watches calls.
"""

from plait.telemetry.spans import OpenTelemetry

__all__ = ["OpenTelemetry"]
