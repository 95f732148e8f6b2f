-- Which feed the relay's progress is of: topics with another prefix are another feed.

CREATE TABLE views.feed (
    one    boolean NOT NULL DEFAULT true,
    prefix text COLLATE "C" NOT NULL,
    CONSTRAINT feed_pk PRIMARY KEY (one),
    CONSTRAINT feed_one CHECK (one)
);

COMMENT ON TABLE views.feed IS
    'Which feed views.relayed tells the progress of: no row is the feed without a prefix. Written by a relay as it takes the lead.';
COMMENT ON COLUMN views.feed.one IS 'There is one row at most.';
COMMENT ON COLUMN views.feed.prefix IS 'What stands before the names of its topics on Kafka.';
