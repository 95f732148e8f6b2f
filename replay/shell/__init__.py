"""What every process stands on: settings, connections, output, logs."""
