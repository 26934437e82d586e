-- Whether rows of before the sums are still to be counted.
SELECT EXISTS (SELECT FROM audit_usage_backfill WHERE done < upto) AS pending
