"""Bedrock's Converse API: an AWS event stream typed by the `:event-type` header, ended by `messageStop`."""
