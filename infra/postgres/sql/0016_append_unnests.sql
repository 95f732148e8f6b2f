-- Facts of a large call are chained in linear time. A loop over a query reads a flat copy of each
-- array, in which a subscript walks from the first element: a call of 8,000 facts took 4 s. The queries
-- of these loops therefore unnest. Other statements keep subscripts: there plpgsql's arrays are expanded.

CREATE OR REPLACE FUNCTION ledger.append(
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
    aside bigint;
    n integer;
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
                sources[r.n], ids[r.n], attributes[r.n], datas[r.n], now_us, cardinality(r.ns));
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
            aside_octets[r.n], now_us, cardinality(r.ns));
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
