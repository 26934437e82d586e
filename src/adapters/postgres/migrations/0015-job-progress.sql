-- How far a job is, as whoever works on it says.
ALTER TABLE document_jobs
  ADD COLUMN phase text NOT NULL DEFAULT 'waiting' CHECK (phase IN ('waiting', 'reading', 'rewriting', 'checking')),
  ADD COLUMN pages_done integer NOT NULL DEFAULT 0;
