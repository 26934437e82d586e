SELECT organization, extract(epoch FROM expires) * 1000 AS expires, sealed FROM retained_content WHERE call_id = $1::uuid
