"""What replicas of a server share through Redis or Valkey: rate limits, ended sessions, cancellations, log levels."""
