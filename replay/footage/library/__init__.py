"""The footage index: files taken in, when they begin, where frames lie."""
