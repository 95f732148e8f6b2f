-- Alerts that were raised, where each was delivered, and dead letters that were dealt with. They
-- speak of facts and views, hold nothing of their own, and no view reads them.

CREATE TABLE views.alerts (
    raised_at_us bigint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    alert_id     text COLLATE "C" NOT NULL,
    body         text COLLATE "C" NOT NULL,
    CONSTRAINT alerts_pk PRIMARY KEY (alert_id)
);
CREATE INDEX ON views.alerts (raised_at_us);

COMMENT ON TABLE views.alerts IS
    'Alerts, each once however often what it speaks of is read: its id is made of that.';
COMMENT ON COLUMN views.alerts.raised_at_us IS 'When it was raised, by the database, microseconds.';
COMMENT ON COLUMN views.alerts.kind IS 'What it is about: payout, finding, table_quiet, ...';
COMMENT ON COLUMN views.alerts.alert_id IS 'Kind and what it is about.';
COMMENT ON COLUMN views.alerts.body IS 'The alert as it is delivered, JSON.';

CREATE TABLE views.alert_receipts (
    delivered_at_us bigint,
    tried_at_us     bigint NOT NULL,
    tries           integer NOT NULL,
    alert_id        text COLLATE "C" NOT NULL REFERENCES views.alerts,
    channel         text COLLATE "C" NOT NULL,
    answer          text COLLATE "C" NOT NULL,
    CONSTRAINT alert_receipts_pk PRIMARY KEY (alert_id, channel)
) WITH (fillfactor = 80);
CREATE INDEX ON views.alert_receipts (tried_at_us) WHERE delivered_at_us IS NULL;

COMMENT ON TABLE views.alert_receipts IS 'What became of each alert on each channel.';
COMMENT ON COLUMN views.alert_receipts.delivered_at_us IS
    'When the channel took it, by the database, microseconds; NULL: it has not yet.';
COMMENT ON COLUMN views.alert_receipts.tried_at_us IS 'When it was last tried, microseconds.';
COMMENT ON COLUMN views.alert_receipts.tries IS 'How often it was tried.';
COMMENT ON COLUMN views.alert_receipts.alert_id IS 'The alert.';
COMMENT ON COLUMN views.alert_receipts.channel IS 'topic, log or webhook.';
COMMENT ON COLUMN views.alert_receipts.answer IS
    'What the channel said: partition and offset, status, or the error.';

CREATE TABLE views.dead_replayed (
    record_offset  bigint NOT NULL,
    replayed_at_us bigint NOT NULL,
    part           integer NOT NULL,
    topic          text COLLATE "C" NOT NULL,
    CONSTRAINT dead_replayed_pk PRIMARY KEY (topic, part, record_offset)
);

COMMENT ON TABLE views.dead_replayed IS
    'Dead letters that were handled after all, at a person''s command.';
COMMENT ON COLUMN views.dead_replayed.record_offset IS 'Offset on the dead-letter topic.';
COMMENT ON COLUMN views.dead_replayed.replayed_at_us IS 'When, by the database, microseconds.';
COMMENT ON COLUMN views.dead_replayed.part IS 'Partition.';
COMMENT ON COLUMN views.dead_replayed.topic IS 'The dead-letter topic.';
