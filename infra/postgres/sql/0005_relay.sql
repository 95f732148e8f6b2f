-- How far the relay has published the record on the feed. It stands in schema views because, like
-- them, it can be had again: the relay compares it with the feed's own end whenever it starts.

CREATE TABLE views.relayed (
    position bigint NOT NULL DEFAULT 0,
    topic    text COLLATE "C" NOT NULL,
    CONSTRAINT relayed_pk PRIMARY KEY (topic)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.relayed IS
    'How far the record has been published on each topic. Moved only after every broker that must has the records, and only from the position its writer had seen.';
COMMENT ON COLUMN views.relayed.position IS
    'Of facts: position of the last one that is acknowledged. Of the quarantine: its last number.';
COMMENT ON COLUMN views.relayed.topic IS 'Name of the topic.';
