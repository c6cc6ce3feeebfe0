"""OpenAI's Chat Completions, as all its servers speak it: chunks, ended by a finish reason or `[DONE]`."""
