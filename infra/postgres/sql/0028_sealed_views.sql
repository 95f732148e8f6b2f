-- The sealer reads views, too: their digests go into the witnessed log.

GRANT USAGE ON SCHEMA views TO ledger_sealer;
GRANT SELECT ON ALL TABLES IN SCHEMA views TO ledger_sealer;
ALTER DEFAULT PRIVILEGES IN SCHEMA views GRANT SELECT ON TABLES TO ledger_sealer;
ALTER DEFAULT PRIVILEGES IN SCHEMA rebuilding GRANT SELECT ON TABLES TO ledger_sealer;
