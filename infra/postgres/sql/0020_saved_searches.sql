-- Searches that users keep by name. They are no part of the record, and each is of its user alone.

CREATE TABLE access.saved_searches (
    saved_at_us bigint NOT NULL,
    name        text COLLATE "C" NOT NULL REFERENCES access.users,
    search      text COLLATE "C" NOT NULL,
    query       text COLLATE "C" NOT NULL,
    CONSTRAINT saved_searches_pk PRIMARY KEY (name, search)
);

COMMENT ON TABLE access.saved_searches IS 'Searches for rounds that users keep by name.';
COMMENT ON COLUMN access.saved_searches.saved_at_us IS 'When it was saved last, microseconds.';
COMMENT ON COLUMN access.saved_searches.name IS 'The user whose it is.';
COMMENT ON COLUMN access.saved_searches.search IS 'What the user calls it.';
COMMENT ON COLUMN access.saved_searches.query IS 'The query of its address.';

GRANT SELECT, INSERT, UPDATE, DELETE ON access.saved_searches TO ledger_doorkeeper;
