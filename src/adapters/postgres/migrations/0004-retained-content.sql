-- Requests and answers that an organization wants kept, sealed by the gateway: apart from the audit rows, so that they
-- can be erased without touching the chain. Not partitioned: what expires is deleted hour by hour.
CREATE TABLE retained_content (
  call_id uuid PRIMARY KEY,
  organization text NOT NULL,
  expires timestamptz NOT NULL,
  sealed bytea NOT NULL
);

CREATE INDEX retained_content_organization ON retained_content (organization);
CREATE INDEX retained_content_expires ON retained_content (expires);

-- Sealed bytes don't compress: trying costs time.
ALTER TABLE retained_content ALTER COLUMN sealed SET STORAGE EXTERNAL;
