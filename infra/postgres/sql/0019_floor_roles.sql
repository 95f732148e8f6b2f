-- Roles of people who enter papers of the floor: the pit, the cage and the count room. Each sees
-- what its paper needs, so that a second counter never sees a first count.

ALTER TABLE access.users DROP CONSTRAINT users_roles;
ALTER TABLE access.users ADD CONSTRAINT users_roles CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['surveillance', 'finance', 'ops', 'auditor', 'pit', 'cage', 'count']);
