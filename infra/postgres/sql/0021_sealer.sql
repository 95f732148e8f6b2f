-- The sealer of the witnessed log reads what it seals, and nothing else.

GRANT USAGE ON SCHEMA ledger, access TO ledger_sealer;
GRANT SELECT ON ledger.tape, ledger.identity, ledger.quarantine, ledger.record TO ledger_sealer;
GRANT SELECT ON access.events TO ledger_sealer;

-- Numbers of events are given in the order in which their transactions end: a statement waits here
-- before its row takes a number. The sealer then reads above the last number and misses none.
CREATE FUNCTION access.in_turn() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$body$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('access.events'));
    RETURN NULL;
END
$body$;
COMMENT ON FUNCTION access.in_turn() IS
    'Makes events commit in the order of their numbers, so that no number appears late.';

CREATE TRIGGER in_turn BEFORE INSERT ON access.events
    FOR EACH STATEMENT EXECUTE FUNCTION access.in_turn();
