"""Ollama's own chat API: one JSON document on each line, the last one with `done: true`."""
