-- What following the feed needs beside the views' own tracking: where to read on, what is withheld,
-- and what views say themselves, to be published by the relay. All of it is moved in the
-- transaction that moves a view.

CREATE TABLE views.offsets (
    next_offset bigint NOT NULL,
    part        integer NOT NULL,
    rebuilding  boolean NOT NULL,
    view        text COLLATE "C" NOT NULL,
    topic       text COLLATE "C" NOT NULL,
    CONSTRAINT offsets_pk PRIMARY KEY (view, rebuilding, topic, part)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.offsets IS
    'Where a view reads on in each partition. A hint: what is counted is decided by views.tracking, so an offset that is too low costs time and nothing else.';
COMMENT ON COLUMN views.offsets.next_offset IS
    'The first offset that may hold what the view lacks.';
COMMENT ON COLUMN views.offsets.part IS 'Partition.';
COMMENT ON COLUMN views.offsets.rebuilding IS 'As in views.tracking.';
COMMENT ON COLUMN views.offsets.view IS 'Name of the view.';
COMMENT ON COLUMN views.offsets.topic IS 'Topic read.';

CREATE TABLE views.parked (
    position     bigint NOT NULL,
    table_seq    bigint NOT NULL,
    parked_at_us bigint NOT NULL,
    rebuilding   boolean NOT NULL,
    view         text COLLATE "C" NOT NULL,
    tape         text COLLATE "C" NOT NULL,
    reason       text COLLATE "C" NOT NULL,
    says         text COLLATE "C" NOT NULL,
    place        text COLLATE "C" NOT NULL,
    CONSTRAINT parked_pk PRIMARY KEY (view, rebuilding, tape)
);

COMMENT ON TABLE views.parked IS
    'Tapes of which a view takes nothing any more from a position on, until a person lets it: the other tapes go on.';
COMMENT ON COLUMN views.parked.position IS 'The first position withheld.';
COMMENT ON COLUMN views.parked.table_seq IS 'Its number on its tape.';
COMMENT ON COLUMN views.parked.parked_at_us IS 'When it was parked, by the database, microseconds.';
COMMENT ON COLUMN views.parked.rebuilding IS 'As in views.tracking.';
COMMENT ON COLUMN views.parked.view IS 'Name of the view.';
COMMENT ON COLUMN views.parked.tape IS 'Tape withheld: <property>/<place>.';
COMMENT ON COLUMN views.parked.reason IS
    'unreadable, edited, stranger: what the feed held in its place. unappliable: the view''s program failed on it.';
COMMENT ON COLUMN views.parked.says IS 'What is wrong with it, for a person.';
COMMENT ON COLUMN views.parked.place IS
    'Topic, partition and offset of the record that is wrong; empty where the program failed.';

CREATE TABLE views.outbox (
    number     bigint GENERATED ALWAYS AS IDENTITY,
    position   bigint NOT NULL,
    made_at_us bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    topic      text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    body       text COLLATE "C",
    CONSTRAINT outbox_pk PRIMARY KEY (topic, number)
);

COMMENT ON TABLE views.outbox IS
    'What views say of themselves on topics of their own, written in the transaction of their rows and published by the relay. One view writes a topic, one writer at a time, so numbers ascend as they are committed.';
COMMENT ON COLUMN views.outbox.number IS 'Ascends within a topic; may leave holes.';
COMMENT ON COLUMN views.outbox.position IS
    'How far the view had read: of two records of a key the higher one is newer.';
COMMENT ON COLUMN views.outbox.made_at_us IS 'When it was written, by the database, microseconds.';
COMMENT ON COLUMN views.outbox.topic IS 'Topic it is for.';
COMMENT ON COLUMN views.outbox.key IS 'Key of its record.';
COMMENT ON COLUMN views.outbox.body IS 'The record''s value, JSON; NULL: the key is no more.';

-- A backup is taken by who may read: the number that comes next is part of it.
GRANT SELECT ON SEQUENCE views.outbox_number_seq TO ledger_reader;
