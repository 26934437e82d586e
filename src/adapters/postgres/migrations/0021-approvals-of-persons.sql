-- person: who asked, as audit rows name persons; null where the caller has a key alone.
ALTER TABLE tool_approvals ADD COLUMN person text;
