-- Following a view in parts: each part of a divided view has a checkpoint of its own.

CREATE TABLE views.parts (
    position   bigint NOT NULL,
    number     integer NOT NULL,
    generation integer NOT NULL,
    view       text COLLATE "C" NOT NULL,
    CONSTRAINT parts_pk PRIMARY KEY (view, number)
) WITH (fillfactor = 50);

COMMENT ON TABLE views.parts IS
    'How far each part of a divided live view has read. A view without rows here, or with those of another generation, is whole. The position in views.tracking is then that of the last part.';
COMMENT ON COLUMN views.parts.position IS 'Position of the last fact that is in this part.';
COMMENT ON COLUMN views.parts.number IS 'Number of the part, from 0.';
COMMENT ON COLUMN views.parts.generation IS
    'Generation of the view that it is a part of: a rebuild makes the view whole.';
COMMENT ON COLUMN views.parts.view IS 'Name of the view.';
