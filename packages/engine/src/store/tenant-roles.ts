// Roles and policies, as the catalogues have them.
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { TENANT_SETTING } from './tenant-transaction.ts'

/** All but `login` and `exists` are null for a role that does not exist. */
export interface TenantRoleFacts {
  login: string
  exists: boolean
  isSuperuser: boolean | null
  bypassesRls: boolean | null
  isLogin: boolean | null
  /** A table that it owns, itself or through a role whose rights it has. */
  ownedTable: string | null
  /** A table of ours that it may touch. */
  engineTable: string | null
}

export async function tenantRoleFacts(session: Session, role: string): Promise<TenantRoleFacts> {
  const [facts] = await session.run<TenantRoleFacts>('tenantRoleFacts', [role])
  return facts as TenantRoleFacts
}

export interface TenantTableFacts {
  table: string
  isEnabled: boolean
  isForced: boolean
  /** A policy looks at the tenant's setting. */
  hasPolicy: boolean
  /** Policies that let rows through whatever that setting says. */
  loopholes: string[]
}

export interface TenantPlace {
  schema: string
  column: string
  /** That may see all. */
  systemRoles: readonly string[]
}

/** Every table of the schema that has this column. */
export function tenantTables(session: Session, place: TenantPlace): Promise<TenantTableFacts[]> {
  return session.run('tenantTables', [place.schema, place.column, TENANT_SETTING, textArray(place.systemRoles)])
}

export interface TenantViewFacts {
  name: string
  kind: 'view' | 'materialised view' | 'foreign table'
}

/** What shows rows of these tables, or of this column, without their policies. */
export function tenantViews(session: Session, place: TenantPlace): Promise<TenantViewFacts[]> {
  return session.run('tenantViews', [place.schema, place.column, textArray(place.systemRoles)])
}
