"""Mistral's chat API: like Chat Completions, but content is text or a list of parts, thinking among them."""
