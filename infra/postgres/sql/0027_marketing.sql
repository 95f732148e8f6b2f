-- The role of people who sign papers of coupons that finance enters. It opens no page of the record.

ALTER TABLE access.users DROP CONSTRAINT users_roles;
ALTER TABLE access.users ADD CONSTRAINT users_roles CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY[
        'surveillance', 'finance', 'ops', 'auditor', 'pit', 'cage', 'count', 'marketing']);
