SELECT sealed FROM document_job_files WHERE job = $1 AND part = $2 AND number = $3
