"""The demonstration: compares planted mistakes with findings."""
