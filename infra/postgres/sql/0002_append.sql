-- The one way onto the record. Its caller needs no right on any table, and can give neither a
-- position nor a hash.
--
-- The settings on the functions pin the plan: a plan cached while the tables are tiny would scan
-- them for ever after, and compiling one (jit) costs more than running it. Rows are taken from the
-- parallel arrays by subscript: plpgsql holds them expanded, and unnesting many at once is slower.

CREATE FUNCTION ledger.set_aside(
    verdict text, reason text, what text, at_path text, hint text,
    source text, fact_id text, attributes bytea, octets bytea, now_us bigint
) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$body$
#variable_conflict use_variable
DECLARE
    seen bytea := sha256(int8send(coalesce(octet_length(attributes), -1)::bigint)
                         || coalesce(attributes, '') || octets);
    kept bigint;
BEGIN
    UPDATE ledger.quarantine q
       SET times_received = q.times_received + 1, last_received_at_us = now_us
     WHERE q.digest = seen AND q.verdict = set_aside.verdict
    RETURNING q.quarantine_id INTO kept;
    IF kept IS NULL THEN
        -- Counted by hand under the record's lock: a sequence would leave holes after a rollback.
        INSERT INTO ledger.quarantine AS q (quarantine_id, received_at_us, last_received_at_us,
            verdict, reason, what, at_path, hint, source, fact_id, attributes, octets, digest)
        VALUES ((SELECT coalesce(max(m.quarantine_id), 0) + 1 FROM ledger.quarantine m), now_us,
            now_us, verdict, reason, what, at_path, hint, source, fact_id, attributes, octets, seen)
        RETURNING q.quarantine_id INTO kept;
    END IF;
    RETURN kept;
END
$body$;
COMMENT ON FUNCTION ledger.set_aside IS
    'Keeps octets in quarantine, or counts them where they are there already. Called under the lock of ledger.record.';

CREATE FUNCTION ledger.append(
    tapes text[], types text[], sources text[], ids text[], times_us bigint[], subjects text[],
    attributes bytea[], datas bytea[],
    aside_octets bytea[], aside_reasons text[], aside_whats text[], aside_paths text[],
    aside_hints text[], aside_sources text[], aside_ids text[],
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
    r record;
BEGIN
    IF NOT facts = ALL (ARRAY[cardinality(tapes), cardinality(types), cardinality(sources),
            cardinality(times_us), cardinality(subjects), cardinality(attributes), cardinality(datas)])
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
        SELECT i.n, tapes[i.n] AS tape,
               int8send(times_us[i.n]) || int8send(now_us)
                   || int8send(octet_length(tapes[i.n])) || convert_to(tapes[i.n], 'UTF8')
                   || int8send(octet_length(types[i.n])) || convert_to(types[i.n], 'UTF8')
                   || sha256(int8send(octet_length(attributes[i.n])) || attributes[i.n]
                             || int8send(octet_length(datas[i.n])) || datas[i.n]) AS rest
          FROM generate_series(1, facts) AS i (n)
         WHERE positions[i.n] IS NOT NULL
         ORDER BY tapes[i.n], i.n
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
               originator_id, topic, source, fact_id, subject, attributes, state, hash)
        SELECT positions[i.n], table_seqs[i.n], times_us[i.n], now_us, tapes[i.n], types[i.n],
               sources[i.n], ids[i.n], subjects[i.n], attributes[i.n], datas[i.n], hashes[i.n]
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
                   t.attributes = i.attributes AND t.state = i.data AS equal
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
                quarantine_ids[r.n] := ledger.set_aside('equivocation', 'equivocation',
                    format('Other octets are on record under this source and id, at position %s.', r.position),
                    '$.id', 'Find out which of the two happened; record fact_corrected if it is this one.',
                    r.source, r.id, r.attributes, r.data, now_us);
            END IF;
        END LOOP;
    END IF;

    FOR n IN 1 .. asides LOOP
        verdicts[facts + n] := 'quarantined';
        quarantine_ids[facts + n] := ledger.set_aside('quarantined', aside_reasons[n],
            aside_whats[n], aside_paths[n], aside_hints[n], aside_sources[n], aside_ids[n], NULL,
            aside_octets[n], now_us);
    END LOOP;

    -- Every input has a verdict, or the constraint on ledger.record refuses the whole call.
    UPDATE ledger.record AS c
       SET position = c.position + fresh, received = c.received + facts + asides,
           duplicate = c.duplicate + same, equivocation = c.equivocation + other,
           quarantined = c.quarantined + asides;
END
$body$;
COMMENT ON FUNCTION ledger.append IS
    'Keeps facts and quarantined inputs in one transaction and gives a verdict each, facts first. '
    'appended: a new position; duplicate: the original receipt; equivocation and quarantined: the number in quarantine.';

CREATE FUNCTION ledger.release(
    released bigint, tape text, type text, source text, id text, time_us bigint, subject text,
    attributes bytea, data bytea,
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
      FROM ledger.append(ARRAY[tape], ARRAY[type], ARRAY[source], ARRAY[id], ARRAY[time_us],
          ARRAY[subject], ARRAY[attributes], ARRAY[data], '{}', '{}', '{}', '{}', '{}', '{}', '{}') a;
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
COMMENT ON FUNCTION ledger.release IS
    'Appends the fact that a quarantined input was judged to be, and marks the input released as it, in one transaction.';

REVOKE ALL ON FUNCTION ledger.refuse(), ledger.set_aside, ledger.append, ledger.release FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.append, ledger.release TO ledger_writer;
