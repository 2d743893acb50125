"""Questions to the users of clients: whether a call that changes data may be made."""
