"""A device's side: following a file, storing and forwarding, the HTTP client."""
