"""The footage index: added files, their start times, the times of their frames."""
