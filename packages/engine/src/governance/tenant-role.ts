// Start-up's look at the role of ctx.tenantDb: with rights that row security does not bind, it would protect nobody.
import { InvalidDefinition } from '../errors.ts'
import { isPermissionDenied } from '../sql-state.ts'
import type { Database } from '../store/db.ts'
import { type TenantRoleFacts, tenantRoleFacts } from '../store/tenant-roles.ts'
import { TenantTransaction } from '../store/tenant-transaction.ts'

export async function checkTenantRole(db: Database, role: string): Promise<void> {
  const facts = await tenantRoleFacts(db, role)
  const problem = problemOf(facts)
  if (problem !== undefined) throw unusable(role, problem)
  const refused = () => new Error('refused')
  try {
    await db.transaction(
      async (tx) => void (await TenantTransaction.enter(tx, { role, tenant: '', actingUser: null, refused })),
    )
  } catch (error) {
    if (!isPermissionDenied(error)) throw error
    throw unusable(role, `the login "${facts.login}" may not use it: grant "${role}" to "${facts.login}"`)
  }
}

/** Why row security would not bind this role, or undefined. */
export function problemOf(facts: TenantRoleFacts): string | undefined {
  if (!facts.exists) return 'there is no such role: create role … nologin'
  if (facts.isSuperuser) return 'it is a superuser, whom no policy binds: alter role … nosuperuser'
  if (facts.bypassesRls) return 'it bypasses row security: alter role … nobypassrls'
  if (facts.isLogin) return 'it is the login itself, so nothing would change: name a role of its own'
  if (facts.ownedTable !== null)
    return `it owns table ${facts.ownedTable}, or has the rights of the role that does, and owners are above policies: name a role that owns nothing`
  if (facts.engineTable !== null)
    return `it has rights on ${facts.engineTable}, where the jobs of all tenants are: revoke them`
  return undefined
}

const unusable = (role: string, problem: string): InvalidDefinition =>
  new InvalidDefinition(`tenantRole "${role}" cannot keep tenants apart: ${problem}.`)
