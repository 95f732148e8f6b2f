"""The alert process: evaluates conditions, raises each alert once, delivers it to channels."""
