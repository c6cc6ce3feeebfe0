"""Readers of requests: a provider's body -> messages and options in the normalized form."""
