import type { Pool } from 'pg';
import { withSchemaLock } from './migrate.ts';

/** What a gateway does with each table, once the schema is there. What refuses changes of the ledger grants none either. */
const RIGHTS: Readonly<Record<string, string>> = {
  schema_migrations: 'SELECT',
  audit_rows: 'SELECT, INSERT',
  audit_superseded: 'SELECT, INSERT',
  // Locked by those who add rows that waited, against retention; that takes a right to write. No gateway does.
  audit_withheld: 'SELECT, INSERT',
  audit_spend: 'SELECT, INSERT, UPDATE, DELETE',
  audit_usage: 'SELECT, INSERT, UPDATE, DELETE',
  audit_usage_days: 'SELECT, INSERT, UPDATE',
  audit_usage_edges: 'SELECT, INSERT, UPDATE, DELETE',
  audit_usage_backfill: 'SELECT, UPDATE',
  checkpoints: 'SELECT, INSERT',
  checkpoint_heads: 'SELECT, INSERT',
  checkpoint_credit: 'SELECT, INSERT',
  checkpoint_keys: 'SELECT, INSERT',
  // Written by retention, which drops tables and is for their owner.
  checkpoint_cuts: 'SELECT',
  checkpoint_carried: 'SELECT',
  // Entered by people, with gwctl.
  credit_entries: 'SELECT',
  retained_content: 'SELECT, INSERT, DELETE',
  kept_objects: 'SELECT, INSERT, UPDATE, DELETE',
  tool_servers: 'SELECT, INSERT, UPDATE',
  tool_pins: 'SELECT, INSERT, UPDATE, DELETE',
  tool_approvals: 'SELECT, INSERT, UPDATE, DELETE',
  document_jobs: 'SELECT, INSERT, UPDATE, DELETE',
  document_job_files: 'SELECT, INSERT, DELETE',
};

interface Standing {
  readonly schema: string;
  readonly grantee: string;
  readonly owns: boolean;
  readonly creates: boolean;
}

/** Quoted where names need it. Empty when the role does not exist. */
const STANDING = `
  SELECT place.oid::regnamespace::text AS schema, quote_ident(rolname) AS grantee,
    pg_has_role(roles.oid, relowner, 'MEMBER') AS owns, has_schema_privilege(roles.oid, place.oid, 'CREATE') AS creates
  FROM pg_roles AS roles, pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
  WHERE rolname = $1 AND pg_class.oid = 'audit_rows'::regclass`;

/**
 * Lets a role that exists do what gateways do. Takes nothing from it. Rejects, with nothing granted, when it could change
 * the schema anyway: as its owner, or by creating objects in it.
 */
export async function grantTo(pool: Pool, role: string): Promise<void> {
  await withSchemaLock(pool, async (client) => {
    const [standing] = (await client.query<Standing>(STANDING, [role])).rows;
    if (!standing) throw new Error(`there is no database role ${role}`);
    const { schema, grantee, owns, creates } = standing;
    if (owns)
      throw new Error(
        `${role} owns the audit ledger, or is a member of the role that owns it: give the gateways a role of their own`,
      );
    if (creates)
      throw new Error(
        `${role} may create tables in the schema ${schema}: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`,
      );
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${grantee}`);
    for (const [table, rights] of Object.entries(RIGHTS))
      await client.query(`GRANT ${rights} ON ${table} TO ${grantee}`);
    await client.query(`GRANT EXECUTE ON FUNCTION make_audit_partition(timestamp) TO ${grantee}`);
  });
}
