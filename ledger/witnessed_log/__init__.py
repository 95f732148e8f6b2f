"""The witnessed log: one Merkle tree over the record, in formats that other programs read.

Its leaves are fed in order by a sealer. Its checkpoints are signed by the ledger and cosigned by
witnesses. Formats: RFC 6962 and C2SP's tlog-tiles, tlog-checkpoint, tlog-cosignature, tlog-proof.
"""
