"""Anthropic's Messages API: server-sent events typed by their JSON `type`, ended by `message_stop`."""
