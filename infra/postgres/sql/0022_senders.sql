-- Who brought an input stands beside it: the key that signed it, and the key or login it came in by.
-- It is beside the chain, so the hashes of earlier rows stay as they are. The old ledger.append stays
-- for programs of the version before, and calls the new function without a sender.

ALTER TABLE ledger.tape ADD COLUMN sender text COLLATE "C";
COMMENT ON COLUMN ledger.tape.sender IS
    'Who brought it: key:<id> of the key that signed it, then key:<id>, os:<login> or user:<name> that it came in by. Null: not known.';
ALTER TABLE ledger.quarantine ADD COLUMN senders text[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN ledger.quarantine.senders IS
    'Everyone who brought these octets, each as in ledger.tape.sender; named:<id> is a key whose signature it is not.';
CREATE INDEX quarantine_last ON ledger.quarantine (last_received_at_us);

CREATE FUNCTION ledger.unsigned(attributes bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$body$
DECLARE
    at integer := 1;
    size integer;
    name bytea;
    begun integer;
    kept bytea := '';
BEGIN
    WHILE at <= octet_length(attributes) LOOP
        begun := at;
        size := ('x' || encode(substr(attributes, at, 8), 'hex'))::bit(64)::bigint::integer;
        name := substr(attributes, at + 8, size);
        at := at + 8 + size;
        size := ('x' || encode(substr(attributes, at, 8), 'hex'))::bit(64)::bigint::integer;
        at := at + 8 + size;
        IF name NOT IN ('signature'::bytea, 'signkey'::bytea) THEN
            kept := kept || substr(attributes, begun, at - begun);
        END IF;
    END LOOP;
    RETURN kept;
END
$body$;
COMMENT ON FUNCTION ledger.unsigned IS
    'Framed attributes without signkey and signature: a fact sent again under another key is the same.';

DROP FUNCTION ledger.set_aside;
CREATE FUNCTION ledger.set_aside(
    verdict text, reason text, what text, at_path text, hint text,
    source text, fact_id text, attributes bytea, octets bytea, now_us bigint,
    times bigint, senders text[]
) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$body$
#variable_conflict use_variable
DECLARE
    seen bytea := sha256(int8send(coalesce(octet_length(attributes), -1)::bigint)
                         || coalesce(attributes, '') || octets);
    kept bigint;
BEGIN
    senders := coalesce(senders, '{}');
    UPDATE ledger.quarantine q
       SET times_received = q.times_received + times, last_received_at_us = now_us,
           senders = q.senders || ARRAY(SELECT s FROM unnest(senders) AS s WHERE s <> ALL (q.senders))
     WHERE q.digest = seen AND q.verdict = set_aside.verdict
    RETURNING q.quarantine_id INTO kept;
    IF kept IS NULL THEN
        -- Counted by hand under the record's lock: a sequence would leave holes after a rollback.
        INSERT INTO ledger.quarantine AS q (quarantine_id, received_at_us, last_received_at_us,
            times_received, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets,
            digest, senders)
        VALUES ((SELECT coalesce(max(m.quarantine_id), 0) + 1 FROM ledger.quarantine m), now_us,
            now_us, times, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets,
            seen, senders)
        RETURNING q.quarantine_id INTO kept;
    END IF;
    RETURN kept;
END
$body$;
COMMENT ON FUNCTION ledger.set_aside IS
    'Keeps octets in quarantine, or counts them where they are there already. Called under the lock of ledger.record.';

CREATE FUNCTION ledger.append_from(
    tapes text[], types text[], sources text[], ids text[], times_us bigint[], subjects text[],
    attributes bytea[], datas bytea[], senders text[],
    aside_octets bytea[], aside_reasons text[], aside_whats text[], aside_paths text[],
    aside_hints text[], aside_sources text[], aside_ids text[], aside_senders text[],
    OUT verdicts text[], OUT positions bigint[], OUT table_seqs bigint[], OUT hashes bytea[],
    OUT quarantine_ids bigint[]
)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET jit = off SET plan_cache_mode = force_generic_plan AS
$body$
#variable_conflict use_column
DECLARE
    facts CONSTANT integer := cardinality(ids);
    asides CONSTANT integer := cardinality(aside_octets);
    no_numbers CONSTANT bigint[] := array_fill(NULL::bigint, ARRAY[facts + asides]);
    now_us bigint;
    base bigint;
    originals bigint[];   -- by fact: position of the fact recorded before with its identity
    firsts bigint[];      -- by fact: the first in this call with its identity
    fresh integer := 0;
    same integer := 0;
    other integer := 0;
    tape text := '';      -- of the row being chained; no tape is named so
    seq bigint;
    chained bytea;
    tapes_seen integer := 0;
    lasts integer[] := '{}';  -- by tape: its last row in this call
    aside bigint;
    n integer;
    r record;
BEGIN
    IF NOT facts = ALL (ARRAY[cardinality(tapes), cardinality(types), cardinality(sources),
            cardinality(times_us), cardinality(subjects), cardinality(attributes), cardinality(datas),
            cardinality(senders)])
    THEN
        RAISE EXCEPTION 'the columns of % facts are not of one length', facts
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);  -- a receipt promises durability
    END IF;
    SELECT c.position INTO STRICT base FROM ledger.record c FOR UPDATE;
    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    verdicts := array_fill(NULL::text, ARRAY[facts + asides]);
    hashes := array_fill(NULL::bytea, ARRAY[facts + asides]);
    positions := no_numbers;
    table_seqs := no_numbers;
    quarantine_ids := no_numbers;

    SELECT array_agg(k.position ORDER BY k.n), array_agg(k.first ORDER BY k.n)
      INTO originals, firsts
      FROM (SELECT i.n, e.position, min(i.n) OVER (PARTITION BY sources[i.n], ids[i.n]) AS first
              FROM generate_series(1, facts) AS i (n)
              LEFT JOIN ledger.identity e ON e.source = sources[i.n] AND e.fact_id = ids[i.n]) k;
    FOR n IN 1 .. facts LOOP
        IF originals[n] IS NULL AND firsts[n] = n THEN
            fresh := fresh + 1;
            verdicts[n] := 'appended';
            positions[n] := base + fresh;
        END IF;
    END LOOP;

    -- Tape by tape, each row chained to the one before it. The octets are framed as
    -- ledger.tape.chain_hash frames them.
    FOR r IN
        SELECT i.n, i.tape,
               int8send(i.time_us) || int8send(now_us)
                   || int8send(octet_length(i.tape)) || convert_to(i.tape, 'UTF8')
                   || int8send(octet_length(i.type)) || convert_to(i.type, 'UTF8')
                   || sha256(int8send(octet_length(i.attributes)) || i.attributes
                             || int8send(octet_length(i.data)) || i.data) AS rest
          FROM unnest(positions, tapes, types, times_us, attributes, datas)
               WITH ORDINALITY AS i (position, tape, type, time_us, attributes, data, n)
         WHERE i.position IS NOT NULL
         ORDER BY i.tape, i.n
    LOOP
        IF r.tape <> tape THEN
            tape := r.tape;
            tapes_seen := tapes_seen + 1;
            SELECT h.table_seq, h.hash INTO seq, chained FROM ledger.heads h WHERE h.tape = r.tape;
            IF NOT FOUND THEN
                seq := 0;
                chained := decode(repeat('00', 32), 'hex');
            END IF;
        END IF;
        seq := seq + 1;
        chained := sha256('\x02'::bytea || chained || int8send(positions[r.n]) || int8send(seq) || r.rest);
        table_seqs[r.n] := seq;
        hashes[r.n] := chained;
        lasts[tapes_seen] := r.n;
    END LOOP;

    IF fresh > 0 THEN
        INSERT INTO ledger.tape (notification_id, originator_version, time_us, received_at_us,
               originator_id, topic, source, fact_id, subject, attributes, state, hash, sender)
        SELECT positions[i.n], table_seqs[i.n], times_us[i.n], now_us, tapes[i.n], types[i.n],
               sources[i.n], ids[i.n], subjects[i.n], attributes[i.n], datas[i.n], hashes[i.n],
               senders[i.n]
          FROM generate_series(1, facts) AS i (n)
         WHERE positions[i.n] IS NOT NULL;
        INSERT INTO ledger.identity (position, source, fact_id, data_digest)
        SELECT positions[i.n], sources[i.n], ids[i.n], substr(sha256(datas[i.n]), 1, 8)
          FROM generate_series(1, facts) AS i (n)
         WHERE positions[i.n] IS NOT NULL;
        INSERT INTO ledger.heads AS h (table_seq, position, tape, hash)
        SELECT table_seqs[i.n], positions[i.n], tapes[i.n], hashes[i.n]
          FROM unnest(lasts) AS i (n)
        ON CONFLICT (tape) DO UPDATE
           SET table_seq = excluded.table_seq, position = excluded.position, hash = excluded.hash;
        PERFORM pg_notify('ledger_tape', (base + fresh)::text);
    END IF;

    IF fresh < facts THEN
        FOR r IN
            SELECT i.n, i.source, i.id, i.attributes, i.data, t.notification_id AS position,
                   t.originator_version AS seq, t.hash,
                   t.state = i.data AND (t.attributes = i.attributes
                       OR ledger.unsigned(t.attributes) = ledger.unsigned(i.attributes)) AS equal
              FROM unnest(sources, ids, attributes, datas, originals, firsts)
                   WITH ORDINALITY AS i (source, id, attributes, data, original, first, n)
              JOIN ledger.tape t ON t.notification_id = coalesce(i.original, positions[i.first])
             WHERE verdicts[i.n] IS NULL
             ORDER BY i.n
        LOOP
            IF r.equal THEN
                same := same + 1;
                verdicts[r.n] := 'duplicate';
                positions[r.n] := r.position;
                table_seqs[r.n] := r.seq;
                hashes[r.n] := r.hash;
            ELSE
                other := other + 1;
                verdicts[r.n] := 'equivocation';
            END IF;
        END LOOP;
    END IF;

    -- The same octets many times in a call are set aside once and counted: an update each would
    -- read all the versions of the row that this transaction has left behind.
    IF other > 0 THEN
        FOR r IN
            SELECT array_agg(i.n ORDER BY i.n) AS ns, min(i.n) AS n,
                   (array_agg(t.notification_id))[1] AS position
              FROM (SELECT g.n, coalesce(g.original, positions[g.first]) AS original,
                           sha256(g.attributes) AS a, sha256(g.data) AS d
                      FROM unnest(originals, firsts, attributes, datas, verdicts[1:facts])
                           WITH ORDINALITY AS g (original, first, attributes, data, verdict, n)
                     WHERE g.verdict = 'equivocation') i
              JOIN ledger.tape t ON t.notification_id = i.original
             GROUP BY i.a, i.d
             ORDER BY min(i.n)
        LOOP
            aside := ledger.set_aside('equivocation', 'equivocation',
                format('Other octets are on record under this source and id, at position %s.', r.position),
                '$.id', 'Find out which of the two happened; record fact_corrected if it is this one.',
                sources[r.n], ids[r.n], attributes[r.n], datas[r.n], now_us, cardinality(r.ns),
                (SELECT array_agg(DISTINCT senders[u.n]) FILTER (WHERE senders[u.n] IS NOT NULL)
                   FROM unnest(r.ns) AS u (n)));
            FOREACH n IN ARRAY r.ns LOOP
                quarantine_ids[n] := aside;
            END LOOP;
        END LOOP;
    END IF;

    FOR r IN
        SELECT array_agg(i.n ORDER BY i.n) AS ns, min(i.n) AS n
          FROM (SELECT n, sha256(aside_octets[n]) AS d FROM generate_series(1, asides) AS g (n)) i
         GROUP BY i.d
         ORDER BY min(i.n)
    LOOP
        aside := ledger.set_aside('quarantined', aside_reasons[r.n], aside_whats[r.n],
            aside_paths[r.n], aside_hints[r.n], aside_sources[r.n], aside_ids[r.n], NULL,
            aside_octets[r.n], now_us, cardinality(r.ns),
            (SELECT array_agg(DISTINCT aside_senders[u.n]) FILTER (WHERE aside_senders[u.n] IS NOT NULL)
               FROM unnest(r.ns) AS u (n)));
        FOREACH n IN ARRAY r.ns LOOP
            verdicts[facts + n] := 'quarantined';
            quarantine_ids[facts + n] := aside;
        END LOOP;
    END LOOP;

    -- Every input has a verdict, or the constraint on ledger.record refuses the whole call.
    UPDATE ledger.record AS c
       SET position = c.position + fresh, received = c.received + facts + asides,
           duplicate = c.duplicate + same, equivocation = c.equivocation + other,
           quarantined = c.quarantined + asides;
END
$body$;
COMMENT ON FUNCTION ledger.append_from IS
    'Judges, chains and keeps facts, each with its sender, and sets malformed inputs aside; one call is one transaction.';

CREATE OR REPLACE FUNCTION ledger.append(
    tapes text[], types text[], sources text[], ids text[], times_us bigint[], subjects text[],
    attributes bytea[], datas bytea[],
    aside_octets bytea[], aside_reasons text[], aside_whats text[], aside_paths text[],
    aside_hints text[], aside_sources text[], aside_ids text[],
    OUT verdicts text[], OUT positions bigint[], OUT table_seqs bigint[], OUT hashes bytea[],
    OUT quarantine_ids bigint[]
)
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$body$
    SELECT * FROM ledger.append_from(tapes, types, sources, ids, times_us, subjects, attributes, datas,
        array_fill(NULL::text, ARRAY[cardinality(ids)]), aside_octets, aside_reasons, aside_whats,
        aside_paths, aside_hints, aside_sources, aside_ids,
        array_fill(NULL::text, ARRAY[cardinality(aside_octets)]))
$body$;
COMMENT ON FUNCTION ledger.append IS
    'ledger.append_from without senders: for programs of an earlier version.';

CREATE FUNCTION ledger.release_by(
    released bigint, tape text, type text, source text, id text, time_us bigint, subject text,
    attributes bytea, data bytea, sender text,
    OUT verdicts text[], OUT positions bigint[], OUT table_seqs bigint[], OUT hashes bytea[],
    OUT quarantine_ids bigint[]
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$body$
#variable_conflict use_variable
DECLARE
    at_us bigint;
BEGIN
    SELECT a.* INTO verdicts, positions, table_seqs, hashes, quarantine_ids
      FROM ledger.append_from(ARRAY[tape], ARRAY[type], ARRAY[source], ARRAY[id], ARRAY[time_us],
          ARRAY[subject], ARRAY[attributes], ARRAY[data], ARRAY[sender],
          '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') a;
    SELECT q.released_at_us INTO at_us FROM ledger.quarantine q WHERE q.quarantine_id = released;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'quarantine has no number %', released USING ERRCODE = 'no_data_found';
    ELSIF at_us IS NOT NULL THEN
        RAISE EXCEPTION 'number % was released before', released
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF verdicts[1] IN ('appended', 'duplicate') THEN
        UPDATE ledger.quarantine q
           SET released_at_us = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
               released_position = positions[1]
         WHERE q.quarantine_id = released;
    END IF;
END
$body$;
COMMENT ON FUNCTION ledger.release_by IS
    'Appends the fact that a quarantined input was judged to be, with who released it, and marks the input released as it, in one transaction.';

REVOKE ALL ON FUNCTION ledger.unsigned, ledger.set_aside, ledger.append_from, ledger.release_by FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.append_from, ledger.release_by TO ledger_writer;
