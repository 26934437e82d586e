SELECT call_id FROM audit_rows LIMIT 1
