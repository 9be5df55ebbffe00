// The policies behind ctx.tenantDb: the SQL that writes them, and what is missing where they should be.
import pg from 'pg'
import { InvalidDefinition } from '../errors.ts'
import type { Session } from '../store/db.ts'
import {
  type TenantTableFacts,
  type TenantViewFacts,
  tenantRoleFacts,
  tenantTables,
  tenantViews,
} from '../store/tenant-roles.ts'
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
  /** Roles that may see the rows of all tenants: policies for them alone and rights of theirs are no problems. */
  systemRoles?: readonly string[]
}

export interface TenantTable {
  /** A table, or a view, materialised view or foreign table that shows tenants' rows. */
  readonly table: string
  /** What is missing, in words; empty: nothing. */
  readonly problems: readonly string[]
}

export interface TenantPolicyReport {
  readonly schema: string
  readonly column: string
  /**
   * All tables that have the column, and what shows rows past their policies. None at all is more likely a misspelt column
   * than good news.
   */
  readonly tables: readonly TenantTable[]
  /** There are such tables, and nothing is missing at any. */
  readonly isSound: boolean
}

export async function checkTenantPolicies(
  session: Session,
  { schema = 'public', column = 'organization_id', systemRoles = [] }: TenantPolicyOptions,
): Promise<TenantPolicyReport> {
  for (const role of systemRoles) {
    if ((await tenantRoleFacts(session, role)).exists) continue
    throw new InvalidDefinition(`systemRoles names the role "${role}", and there is none of that name.`)
  }
  const place = { schema, column, systemRoles }
  const tables = [
    ...(await tenantTables(session, place)).map((each) => ({ table: each.table, problems: problemsOf(each) })),
    ...(await tenantViews(session, place)).map(({ name, kind }) => ({ table: name, problems: [VIEW_PROBLEMS[kind]] })),
  ]
  const isSound = tables.length > 0 && tables.every(({ problems }) => problems.length === 0)
  return { schema, column, tables, isSound }
}

const VIEW_PROBLEMS: Readonly<Record<TenantViewFacts['kind'], string>> = {
  view: 'it is a view that reads with the rights of its owner: alter view … set (security_invoker = true)',
  'materialised view':
    'it is a materialised view, which no policy binds: revoke the rights of others, or let a function read it',
  'foreign table': 'it is a foreign table, which no policy binds: revoke the rights of others',
}

export function problemsOf({ isEnabled, isForced, hasPolicy, loopholes }: TenantTableFacts): string[] {
  return [
    ...(isEnabled ? [] : ['row security is not enabled']),
    ...(isForced ? [] : ['row security is not forced, so its owner is above it']),
    ...(hasPolicy ? [] : [`no policy looks at ${TENANT_SETTING}`]),
    ...loopholes.map((name) => `policy "${name}" lets rows through whatever ${TENANT_SETTING} says`),
  ]
}
