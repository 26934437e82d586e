SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1
