"""Google's `generateContent` and `streamGenerateContent`: documents of one kind, until the body ends."""
