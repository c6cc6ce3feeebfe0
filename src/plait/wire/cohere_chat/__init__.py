"""Cohere's chat API, version 2: server-sent events typed by their JSON `type`, ended by `message-end`."""
