-- The record: one tape per place, one gapless position over all of them, and what was set aside.
--
-- The columns named originator_id, originator_version, topic, state and notification_id carry the
-- names the eventsourcing library reads by; the others are ours. Nothing here is ever updated or
-- deleted but the two rows of figures (heads, record) and the release of a quarantined input.
-- Text is compared by its octets (COLLATE "C"), so that an index means the same on every machine.

CREATE TABLE ledger.tape (
    notification_id    bigint NOT NULL,
    originator_version bigint NOT NULL,
    time_us            bigint NOT NULL,
    received_at_us     bigint NOT NULL,
    originator_id      text COLLATE "C" NOT NULL,
    topic              text COLLATE "C" NOT NULL,
    source             text COLLATE "C" NOT NULL,
    fact_id            text COLLATE "C" NOT NULL,
    subject            text COLLATE "C",
    attributes         bytea NOT NULL,
    state              bytea NOT NULL,
    hash               bytea NOT NULL,
    CONSTRAINT tape_position PRIMARY KEY (notification_id),
    CONSTRAINT tape_sequence UNIQUE (originator_id, originator_version)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);

COMMENT ON TABLE ledger.tape IS
    'Every fact as it was received, in commit order. Rows are only ever added, by ledger.append.';
COMMENT ON COLUMN ledger.tape.notification_id IS
    'Position: gapless over all tapes from 1, given under the lock, so that a hole means tampering.';
COMMENT ON COLUMN ledger.tape.originator_version IS
    'table_seq: gapless on its tape from 1, so that a reader of one place can prove it is whole.';
COMMENT ON COLUMN ledger.tape.time_us IS
    'When it happened by the clock of the source, microseconds since 1970-01-01T00:00:00Z.';
COMMENT ON COLUMN ledger.tape.received_at_us IS
    'When it was kept, by the clock of the database server, microseconds since 1970-01-01T00:00:00Z.';
COMMENT ON COLUMN ledger.tape.originator_id IS
    'Tape: <property>/<place>, taken from the source. Also the key of the feed.';
COMMENT ON COLUMN ledger.tape.topic IS
    'Type and version in our own words (wager_placed.v1), never the path of a class.';
COMMENT ON COLUMN ledger.tape.source IS
    'Who says so: /<property>/<place>/<device>. With fact_id it names the fact for ever.';
COMMENT ON COLUMN ledger.tape.fact_id IS
    'The id its source gave the fact. Unique within the source (ledger.identity).';
COMMENT ON COLUMN ledger.tape.subject IS
    'The round it belongs to (<table>/<gaming day>/<number>), or null: a column because rounds are found by it.';
COMMENT ON COLUMN ledger.tape.attributes IS
    'All attributes as received strings: each name and value behind its length (8 octets, big-endian), sorted by name.';
COMMENT ON COLUMN ledger.tape.state IS
    'The octets of data exactly as they stood in the input; hashed so and sent on so.';
COMMENT ON COLUMN ledger.tape.hash IS
    'SHA-256 (32 octets) over the hash before it on this tape and the framed row, so that no row changes alone.';

CREATE TABLE ledger.identity (
    position    bigint NOT NULL,
    source      text COLLATE "C" NOT NULL,
    fact_id     text COLLATE "C" NOT NULL,
    data_digest bytea NOT NULL,
    CONSTRAINT identity_pk PRIMARY KEY (source, fact_id)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);

COMMENT ON TABLE ledger.identity IS
    'Which fact is where. Apart from the tape because (source, id) must stay unique over all time, also once the tape is cut into partitions by position.';
COMMENT ON COLUMN ledger.identity.position IS
    'Position of the fact on the record: the original that a duplicate is answered with.';
COMMENT ON COLUMN ledger.identity.data_digest IS
    'First 8 octets of SHA-256 of the octets of data: tells an edited payload from an edited header.';
COMMENT ON COLUMN ledger.identity.source IS 'As ledger.tape.source.';
COMMENT ON COLUMN ledger.identity.fact_id IS 'As ledger.tape.fact_id.';

CREATE TABLE ledger.heads (
    table_seq bigint NOT NULL,
    position  bigint NOT NULL,
    tape      text COLLATE "C" NOT NULL,
    hash      bytea NOT NULL,
    CONSTRAINT heads_pk PRIMARY KEY (tape)
) WITH (fillfactor = 40);

COMMENT ON TABLE ledger.heads IS
    'The newest row of every tape: what the next row is chained to. Half-empty pages keep its updates in place.';
COMMENT ON COLUMN ledger.heads.table_seq IS 'Sequence of the newest row of the tape, from 1.';
COMMENT ON COLUMN ledger.heads.position IS 'Position of the newest row of the tape.';
COMMENT ON COLUMN ledger.heads.tape IS 'Tape: <property>/<place>.';
COMMENT ON COLUMN ledger.heads.hash IS 'Hash of the newest row of the tape, 32 octets.';

CREATE TABLE ledger.record (
    position     bigint NOT NULL DEFAULT 0,
    received     bigint NOT NULL DEFAULT 0,
    duplicate    bigint NOT NULL DEFAULT 0,
    equivocation bigint NOT NULL DEFAULT 0,
    quarantined  bigint NOT NULL DEFAULT 0,
    one          boolean NOT NULL DEFAULT true CONSTRAINT record_pk PRIMARY KEY,
    CONSTRAINT record_one_row CHECK (one),
    CONSTRAINT record_nothing_lost
        CHECK (received = position + duplicate + equivocation + quarantined)
) WITH (fillfactor = 10);

COMMENT ON TABLE ledger.record IS
    'One row of figures. Its lock is the lock of the record: whoever holds it gives the next positions.';
COMMENT ON COLUMN ledger.record.position IS
    'Newest position = facts appended, ever.';
COMMENT ON COLUMN ledger.record.received IS
    'Inputs judged, ever: appended + duplicate + equivocation + quarantined, by constraint.';
COMMENT ON COLUMN ledger.record.duplicate IS
    'Inputs answered with the receipt of the same fact kept before.';
COMMENT ON COLUMN ledger.record.equivocation IS
    'Inputs with the source and id of a recorded fact but other octets: two stories, an alarm.';
COMMENT ON COLUMN ledger.record.quarantined IS
    'Inputs that are no well-formed fact, kept in ledger.quarantine.';
COMMENT ON COLUMN ledger.record.one IS 'Always true: there is one such row.';

INSERT INTO ledger.record DEFAULT VALUES;

CREATE TABLE ledger.quarantine (
    quarantine_id       bigint NOT NULL,
    received_at_us      bigint NOT NULL,
    last_received_at_us bigint NOT NULL,
    times_received      bigint NOT NULL DEFAULT 1,
    released_at_us      bigint,
    released_position   bigint,
    verdict             text COLLATE "C" NOT NULL,
    reason              text COLLATE "C" NOT NULL,
    what                text COLLATE "C" NOT NULL,
    at_path             text COLLATE "C" NOT NULL,
    hint                text COLLATE "C" NOT NULL,
    source              text COLLATE "C",
    fact_id             text COLLATE "C",
    attributes          bytea,
    octets              bytea NOT NULL,
    digest              bytea NOT NULL,
    CONSTRAINT quarantine_pk PRIMARY KEY (quarantine_id),
    CONSTRAINT quarantine_same_octets UNIQUE (digest, verdict),
    CONSTRAINT quarantine_verdict CHECK (verdict IN ('quarantined', 'equivocation')),
    CONSTRAINT quarantine_released CHECK ((released_at_us IS NULL) = (released_position IS NULL))
);

COMMENT ON TABLE ledger.quarantine IS
    'What was received and is not on a tape, with its octets and why. Only the release and the count of a row ever change.';
COMMENT ON COLUMN ledger.quarantine.quarantine_id IS 'Number of the row, gapless from 1.';
COMMENT ON COLUMN ledger.quarantine.received_at_us IS
    'First time received, by the clock of the database server, microseconds since 1970-01-01T00:00:00Z.';
COMMENT ON COLUMN ledger.quarantine.last_received_at_us IS
    'Last time received, same clock and unit.';
COMMENT ON COLUMN ledger.quarantine.times_received IS
    'How often these very octets came: a device that repeats itself does not fill the disk.';
COMMENT ON COLUMN ledger.quarantine.released_at_us IS
    'When it was judged again and found on a tape, same clock and unit; null while it waits.';
COMMENT ON COLUMN ledger.quarantine.released_position IS
    'Position of the fact it was released as; null while it waits.';
COMMENT ON COLUMN ledger.quarantine.verdict IS
    'quarantined: not a well-formed fact; equivocation: well-formed, but its source and id are taken by other octets.';
COMMENT ON COLUMN ledger.quarantine.reason IS 'A code (not_json, duplicate_key, equivocation, ...).';
COMMENT ON COLUMN ledger.quarantine.what IS 'What is wrong, as a sentence.';
COMMENT ON COLUMN ledger.quarantine.at_path IS 'Where in the octets it is wrong ($.data.amount).';
COMMENT ON COLUMN ledger.quarantine.hint IS 'What to do now.';
COMMENT ON COLUMN ledger.quarantine.source IS 'Source, where it could be read.';
COMMENT ON COLUMN ledger.quarantine.fact_id IS 'Id, where it could be read.';
COMMENT ON COLUMN ledger.quarantine.attributes IS
    'Of an equivocation: its framed attributes, and octets is its data. Null otherwise.';
COMMENT ON COLUMN ledger.quarantine.octets IS 'What was received, unchanged.';
COMMENT ON COLUMN ledger.quarantine.digest IS
    'SHA-256 of what was received, by which the same octets are known again.';

-- No role but the owner may write to these tables, and the owner may only add. A superuser who
-- disables these triggers is found by `verify`, not stopped.
CREATE FUNCTION ledger.refuse() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$body$
BEGIN
    RAISE EXCEPTION '% on %.% is refused: the record is only added to',
        TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Correct a fact by recording fact_corrected.';
END
$body$;
COMMENT ON FUNCTION ledger.refuse() IS
    'Refuses whatever it is attached to, for the owner of the tables too.';

CREATE TRIGGER only_added_to BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.tape
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER only_added_to BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.identity
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON ledger.heads
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON ledger.record
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON ledger.quarantine
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse();

GRANT SELECT ON ledger.tape, ledger.identity, ledger.heads, ledger.record, ledger.quarantine
    TO ledger_reader;
