"""OpenAI's Responses API: server-sent events typed by their JSON `type`, ended by `response.completed`."""
