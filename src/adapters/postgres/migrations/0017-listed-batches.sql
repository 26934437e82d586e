-- Batches are listed too.
DROP INDEX kept_objects_listed;
CREATE INDEX kept_objects_listed ON kept_objects (provider, workload, organization, kind, made, id)
  WHERE kind IN ('file', 'video', 'batch');
