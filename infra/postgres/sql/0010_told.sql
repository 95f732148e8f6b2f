-- Facts are looked for by when they happened, however much later they were received (a device that
-- was cut off sends days after). Blocks of rows follow one another in time but for such facts, so an
-- index of each block's earliest and latest is a thousandth of one of every row, and as exact.

CREATE INDEX tape_told ON ledger.tape USING brin (time_us)
    WITH (pages_per_range = 32, autosummarize = on);
