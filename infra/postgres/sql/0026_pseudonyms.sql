-- Tokens of patrons, apart from the record: facts have pseudonyms in their place (ADR 0244). Erasing
-- is a fact of its own: as it is appended, by whichever way, token and salt are gone.

CREATE TABLE ledger.pseudonyms (
    number          bigint NOT NULL,
    kept_at_us      bigint NOT NULL,
    erased_position bigint,
    pseudonym       text COLLATE "C" NOT NULL,
    property        text COLLATE "C" NOT NULL,
    token           text COLLATE "C",
    salt            bytea,
    CONSTRAINT pseudonyms_pk PRIMARY KEY (number),
    CONSTRAINT pseudonyms_once UNIQUE (pseudonym),
    CONSTRAINT pseudonyms_erased CHECK (
        (token IS NULL) = (salt IS NULL) AND (token IS NULL) = (erased_position IS NOT NULL))
);
CREATE INDEX pseudonyms_token ON ledger.pseudonyms (token, property) WHERE token IS NOT NULL;

COMMENT ON TABLE ledger.pseudonyms IS
    'The token behind each pseudonym of a patron. Rows are only ever added, and erased once.';
COMMENT ON COLUMN ledger.pseudonyms.number IS 'Number of the row, gapless from 1.';
COMMENT ON COLUMN ledger.pseudonyms.kept_at_us IS
    'When it was kept, by the clock of the database server, microseconds since 1970-01-01T00:00:00Z.';
COMMENT ON COLUMN ledger.pseudonyms.erased_position IS
    'Position of the fact that erased it; null while the token is known.';
COMMENT ON COLUMN ledger.pseudonyms.pseudonym IS
    'What facts have in place of the token: pseudonym:<SHA-256 over casino, salt and token>.';
COMMENT ON COLUMN ledger.pseudonyms.property IS
    'Property that knows the patron; empty for an input that names none.';
COMMENT ON COLUMN ledger.pseudonyms.token IS 'The token as it was received; null once erased.';
COMMENT ON COLUMN ledger.pseudonyms.salt IS
    '32 octets of chance, without which nobody can try tokens; null once erased.';

CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON ledger.pseudonyms
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();

ALTER TABLE ledger.record ADD COLUMN pseudonyms bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN ledger.record.pseudonyms IS 'Pseudonyms kept, ever: the highest number of one.';

CREATE FUNCTION ledger.known_pseudonyms(properties text[], tokens text[])
    RETURNS TABLE (property text, token text, pseudonym text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off SET plan_cache_mode = force_generic_plan AS
$body$
#variable_conflict use_column
BEGIN
    PERFORM FROM ledger.record FOR UPDATE;  -- nobody erases one between this and the append
    RETURN QUERY
        SELECT p.property, p.token, min(p.pseudonym)
          FROM unnest(properties, tokens) AS w (property, token)
          JOIN ledger.pseudonyms p ON p.token = w.token AND p.property = w.property
         GROUP BY p.property, p.token;
END
$body$;
COMMENT ON FUNCTION ledger.known_pseudonyms IS
    'The pseudonyms of tokens that have one. Takes the lock of the record, for the append that follows.';

CREATE FUNCTION ledger.keep_pseudonyms(
    pseudonyms text[], properties text[], tokens text[], salts bytea[]
) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS
$body$
#variable_conflict use_column
DECLARE
    base bigint;
    now_us CONSTANT bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
    SELECT c.pseudonyms INTO STRICT base FROM ledger.record c FOR UPDATE;
    INSERT INTO ledger.pseudonyms (number, kept_at_us, pseudonym, property, token, salt)
    SELECT base + w.n, now_us, w.pseudonym, w.property, w.token, w.salt
      FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS w (pseudonym, property, token, salt, n);
    UPDATE ledger.record c SET pseudonyms = base + cardinality($1);
END
$body$;
COMMENT ON FUNCTION ledger.keep_pseudonyms IS
    'Keeps new pseudonyms with their tokens and salts, in the transaction that appends their facts.';

CREATE FUNCTION ledger.erase_pseudonyms() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$body$
BEGIN
    UPDATE ledger.pseudonyms p SET token = NULL, salt = NULL, erased_position = NEW.notification_id
     WHERE p.token IS NOT NULL
       AND p.property IN ('', split_part(NEW.originator_id, '/', 1))
       AND p.pseudonym IN (
           SELECT jsonb_array_elements_text(convert_from(NEW.state, 'UTF8')::jsonb -> 'pseudonyms'));
    RETURN NULL;
END
$body$;
COMMENT ON FUNCTION ledger.erase_pseudonyms() IS
    'Erases the tokens whose pseudonyms an appended fact names. A record that is filled again from the feed erases them again.';
CREATE TRIGGER erases AFTER INSERT ON ledger.tape
    FOR EACH ROW WHEN (NEW.topic = 'patron_erased.v1') EXECUTE FUNCTION ledger.erase_pseudonyms();

CREATE FUNCTION ledger.facts_of_patrons(sources text[], ids text[])
    RETURNS TABLE (source text, fact_id text, state bytea, known text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off SET plan_cache_mode = force_generic_plan AS
$body$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT e.source, e.fact_id, t.state,
               ARRAY(SELECT p.pseudonym
                       FROM regexp_matches(encode(t.state, 'escape'), 'pseudonym:[0-9a-f]{64}', 'g')
                            AS f
                       JOIN ledger.pseudonyms p ON p.pseudonym = f[1] AND p.token IS NOT NULL)
          FROM unnest(sources, ids) AS w (source, fact_id)
          JOIN ledger.identity e ON e.source = w.source AND e.fact_id = w.fact_id
          JOIN ledger.tape t ON t.notification_id = e.position
         WHERE position('patron'::bytea IN t.state) > 0
            OR position('\\u00'::bytea IN t.state) > 0;  -- a name written with escapes
END
$body$;
COMMENT ON FUNCTION ledger.facts_of_patrons IS
    'The facts on record that name a patron under these identities, and those of their pseudonyms whose token is known: a fact sent again is compared with them.';

REVOKE ALL ON FUNCTION ledger.known_pseudonyms, ledger.keep_pseudonyms, ledger.erase_pseudonyms,
    ledger.facts_of_patrons FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.known_pseudonyms, ledger.keep_pseudonyms, ledger.facts_of_patrons
    TO ledger_writer;
GRANT SELECT ON ledger.pseudonyms TO ledger_reader;
