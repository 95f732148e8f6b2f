-- How far each view has read. The tables of the views themselves are made by the step that installs
-- or rebuilds a view, from the columns its program names, so that a table and the program that
-- writes it cannot differ; a rebuild stands in schema rebuilding until it takes the live one's place.

CREATE TABLE views.tracking (
    position   bigint NOT NULL DEFAULT 0,
    version    integer NOT NULL,
    generation integer NOT NULL,
    rebuilding boolean NOT NULL,
    view       text COLLATE "C" NOT NULL,
    CONSTRAINT tracking_pk PRIMARY KEY (view, rebuilding)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.tracking IS
    'How far each view has read. Moved in the transaction that writes the rows, and only from the position its writer had seen, so that of two writers one is refused.';
COMMENT ON COLUMN views.tracking.position IS
    'Position of the last fact that is in the view.';
COMMENT ON COLUMN views.tracking.version IS
    'Version of the program that wrote the rows: another version must rebuild first.';
COMMENT ON COLUMN views.tracking.generation IS
    'Counts rebuilds, from 1: a writer of an earlier generation is refused.';
COMMENT ON COLUMN views.tracking.rebuilding IS
    'False: the live view in schema views. True: the one being rebuilt in schema rebuilding.';
COMMENT ON COLUMN views.tracking.view IS 'Name of the view.';

ALTER DEFAULT PRIVILEGES IN SCHEMA rebuilding GRANT SELECT ON TABLES TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA rebuilding
    GRANT INSERT, UPDATE, DELETE ON TABLES TO ledger_projector;
GRANT USAGE ON SCHEMA rebuilding TO ledger_reader;
