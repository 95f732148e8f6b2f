"""The roster: signing keys of devices, what each role may report, and the check of a fact."""
