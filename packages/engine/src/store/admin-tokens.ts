// Tokens of the admin API, and the sessions that they open. Only hashes are stored.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

export type AdminRole = 'viewer' | 'operator' | 'admin'

export interface AdminToken {
  id: string
  name: string
  role: AdminRole
  /** The tenants it is for; null: all. */
  tenants: readonly string[] | null
  /** It is the session of a browser, and carries the name of the token that opened it. */
  isSession: boolean
  createdAt: Date
  createdBy: string
  /** Null: never. */
  expiresAt: Date | null
  /** At most a minute wrong. */
  lastUsedAt: Date | null
  revokedAt: Date | null
  revokedBy: string | null
}

export interface NewAdminToken {
  name: string
  hash: Buffer
  role: AdminRole
  tenants: readonly string[] | null
  sessionOf: string | null
  createdBy: string
  expiresInMs: number | null
}

/** Undefined: its name is taken. */
export async function adminTokenInsert(
  session: Session,
  now: Now,
  token: NewAdminToken,
): Promise<AdminToken | undefined> {
  const { name, hash, role, tenants, sessionOf, createdBy, expiresInMs } = token
  const values = [now, name, hash, role, tenants, sessionOf, createdBy, expiresInMs]
  const [row] = await session.run<AdminToken>('adminTokenInsert', values)
  return row
}

export function adminTokenList(session: Session): Promise<AdminToken[]> {
  return session.run('adminTokenList', [])
}

/** Undefined: no token or session that is in force has this hash. */
export async function adminTokenFind(session: Session, now: Now, hash: Buffer): Promise<AdminToken | undefined> {
  const [row] = await session.run<AdminToken & { isUseOld: boolean }>('adminTokenFind', [now, hash])
  if (row === undefined) return undefined
  const { isUseOld, ...token } = row
  if (isUseOld) await session.run('adminTokenUsed', [now, token.id])
  return token
}

export async function adminTokenRevoke(
  session: Session,
  now: Now,
  { name, by }: { name: string; by: string },
): Promise<AdminToken | undefined> {
  const [row] = await session.run<AdminToken>('adminTokenRevoke', [now, name, by])
  return row
}

export async function adminSessionEnd(session: Session, hash: Buffer): Promise<void> {
  await session.run('adminSessionEnd', [hash])
}

export async function adminTokenAny(session: Session, now: Now): Promise<boolean> {
  const [row] = await session.run<{ exists: boolean }>('adminTokenAny', [now])
  return row?.exists === true
}

export async function adminTokenPrune(session: Session, now: Now, limit: number): Promise<number> {
  return (await session.run('adminTokenPrune', [now, limit])).length
}
