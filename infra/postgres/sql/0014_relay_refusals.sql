-- Why a relay publishes nothing on a topic. A relay ends as it refuses one, so that only its log and
-- its exit code would say so.

CREATE TABLE views.relay_refusals (
    count      bigint NOT NULL,
    since_us   bigint NOT NULL,
    last_at_us bigint NOT NULL,
    topic      text COLLATE "C" NOT NULL,
    says       text COLLATE "C" NOT NULL,
    CONSTRAINT relay_refusals_pk PRIMARY KEY (topic)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.relay_refusals IS
    'Topics that contradict the record. Written by the relay as it refuses one, and deleted by the relay that finds it in order.';
COMMENT ON COLUMN views.relay_refusals.count IS 'How many relays in a row refused it.';
COMMENT ON COLUMN views.relay_refusals.since_us IS
    'When the first of them did, by the database, microseconds.';
COMMENT ON COLUMN views.relay_refusals.last_at_us IS 'When the last of them did.';
COMMENT ON COLUMN views.relay_refusals.topic IS 'Name of the topic, without a prefix.';
COMMENT ON COLUMN views.relay_refusals.says IS 'What contradicts the record, and where.';
