-- Entries of one organization are numbered one after the other: whoever sees a number sees all before it.
SELECT pg_advisory_xact_lock(hashtextextended('credit of ' || $1::text, 0))
