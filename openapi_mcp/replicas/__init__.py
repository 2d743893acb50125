"""State that replicas of a server share through Redis or Valkey: rate limits, sessions, cancellations, log levels."""
