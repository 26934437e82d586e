INSERT INTO document_job_files (job, part, number, sealed) VALUES ($1, $2, $3, $4)
