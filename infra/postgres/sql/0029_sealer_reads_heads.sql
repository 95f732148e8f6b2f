-- The sealer finds the tapes of offices, whose facts begin an epoch.

GRANT SELECT ON ledger.heads TO ledger_sealer;
