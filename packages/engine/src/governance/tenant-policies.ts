// The policies behind ctx.tenantDb: the SQL that writes them, and what is missing where they should be.
import pg from 'pg'
import { InvalidDefinition } from '../errors.ts'
import type { Session } from '../store/db.ts'
import { type TenantTableFacts, tenantTables } from '../store/tenant-roles.ts'
import { TENANT_SETTING } from '../store/tenant-transaction.ts'

export interface TenantPolicy {
  table: string
  /** Which holds the tenant. */
  column: string
  /** Gets the rights to read and write the table's rows, as far as the policy lets it: the `tenantRole` of createMillrace. */
  role: string
  /** Of the table. Default 'public'. */
  schema?: string
  /** The column's type. Default 'text'. */
  type?: string
}

const POLICY = 'millrace_tenant'

/** Statements for a migration of yours. Safe to repeat. */
export function tenantPolicySql({ table, column, role, schema = 'public', type = 'text' }: TenantPolicy): string {
  if (!/^[a-z][a-z0-9_]*$/.test(type)) {
    throw new InvalidDefinition(
      `tenantPolicySql got the type ${JSON.stringify(type)}: expected a plain name such as 'text', 'uuid' or 'bigint'.`,
    )
  }
  const name = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`
  // In a sub-select it is read once per statement. After a transaction the setting is '' instead of missing.
  const own = `${pg.escapeIdentifier(column)} = (select nullif(current_setting('${TENANT_SETTING}', true), '')::${type})`
  return `alter table ${name} enable row level security;
alter table ${name} force row level security;
drop policy if exists ${POLICY} on ${name};
create policy ${POLICY} on ${name}
  using (${own})
  with check (${own});
grant select, insert, update, delete on ${name} to ${pg.escapeIdentifier(role)};
`
}

export interface TenantPolicyOptions {
  /** Where to look. Default 'public'. */
  schema?: string
  /** By which tables with tenants' rows are known. Default 'organization_id'. */
  column?: string
}

export interface TenantTable {
  readonly table: string
  /** What is missing, in words; empty: nothing. */
  readonly problems: readonly string[]
}

export interface TenantPolicyReport {
  readonly schema: string
  readonly column: string
  /** All tables that have the column. None at all is more likely a misspelt column than good news. */
  readonly tables: readonly TenantTable[]
  /** There are such tables, and nothing is missing at any. */
  readonly isSound: boolean
}

export async function checkTenantPolicies(
  session: Session,
  { schema = 'public', column = 'organization_id' }: TenantPolicyOptions,
): Promise<TenantPolicyReport> {
  const facts = await tenantTables(session, { schema, column })
  const tables = facts.map((each) => ({ table: each.table, problems: problemsOf(each) }))
  const isSound = tables.length > 0 && tables.every(({ problems }) => problems.length === 0)
  return { schema, column, tables, isSound }
}

export function problemsOf({ isEnabled, isForced, hasPolicy, loopholes }: TenantTableFacts): string[] {
  return [
    ...(isEnabled ? [] : ['row security is not enabled']),
    ...(isForced ? [] : ['row security is not forced, so its owner is above it']),
    ...(hasPolicy ? [] : [`no policy looks at ${TENANT_SETTING}`]),
    ...loopholes.map((name) => `policy "${name}" lets rows through whatever ${TENANT_SETTING} says`),
  ]
}
