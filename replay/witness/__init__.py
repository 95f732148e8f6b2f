"""A witness of logs: a process for another administrator, with its own key and its own store."""
