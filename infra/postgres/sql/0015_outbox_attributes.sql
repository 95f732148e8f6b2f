-- Attributes of a message of its own, beside those that every record of a view has.

ALTER TABLE views.outbox ADD COLUMN attributes json;

COMMENT ON COLUMN views.outbox.attributes IS
    'CloudEvents attributes of its own by name, such as roundstart; NULL: none.';
