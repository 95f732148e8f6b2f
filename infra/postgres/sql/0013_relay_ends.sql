-- Where each partition ended when the relay last had an acknowledgement for it. At a start the relay
-- compares that one record with the topic, and searches nothing.

ALTER TABLE views.relayed ADD COLUMN marked bigint;

COMMENT ON COLUMN views.relayed.marked IS
    'The position up to which views.relayed_ends holds. If it is not views.relayed.position, those rows are out of date and the relay searches the ends of the topic once.';

CREATE TABLE views.relayed_ends (
    record_offset bigint NOT NULL,
    known_until   bigint NOT NULL,
    partition     integer NOT NULL,
    topic         text COLLATE "C" NOT NULL REFERENCES views.relayed ON DELETE CASCADE,
    digest        bytea NOT NULL,
    CONSTRAINT relayed_ends_pk PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.relayed_ends IS
    'The last record of each partition that brokers acknowledged to the relay. Written together with views.relayed.';
COMMENT ON COLUMN views.relayed_ends.record_offset IS 'Its offset; -1: the partition holds no record of the relay.';
COMMENT ON COLUMN views.relayed_ends.known_until IS
    'The first offset that neither the relay wrote nor anybody looked at.';
COMMENT ON COLUMN views.relayed_ends.partition IS 'The partition.';
COMMENT ON COLUMN views.relayed_ends.topic IS 'Name of the topic, without a prefix.';
COMMENT ON COLUMN views.relayed_ends.digest IS 'SHA-256 of its key, value and headers.';

CREATE TABLE views.feed_strays (
    count       bigint NOT NULL,
    last_offset bigint NOT NULL,
    last_at_us  bigint NOT NULL,
    partition   integer NOT NULL,
    topic       text COLLATE "C" NOT NULL,
    says        text COLLATE "C" NOT NULL,
    CONSTRAINT feed_strays_pk PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.feed_strays IS
    'Records that another program wrote to the end of a topic of the relay. Written by the relay; it publishes on.';
COMMENT ON COLUMN views.feed_strays.count IS 'How many, ever.';
COMMENT ON COLUMN views.feed_strays.last_offset IS 'The offset of the newest.';
COMMENT ON COLUMN views.feed_strays.last_at_us IS
    'When the relay saw it, by the database, microseconds.';
COMMENT ON COLUMN views.feed_strays.partition IS 'The partition.';
COMMENT ON COLUMN views.feed_strays.topic IS 'Name of the topic, without a prefix.';
COMMENT ON COLUMN views.feed_strays.says IS 'Why the newest is not of the relay.';
