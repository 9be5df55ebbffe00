// Integrations and their sealed tokens, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'

export interface Integration {
  readonly id: string
  readonly issuer: string
  readonly clientId: string
  readonly sealedClientSecret: string
  readonly sealedRefreshToken: string
  readonly expiresAt: Date | null
  readonly state: 'active' | 'needs_reauthorization'
}

export async function integrationGet(tx: Queryable, ctx: JobContext, id: string): Promise<Integration> {
  const rows = await query(
    tx,
    `select id::text, issuer, client_id as "clientId", sealed_client_secret as "sealedClientSecret",
       sealed_refresh_token as "sealedRefreshToken", expires_at as "expiresAt", state
     from dartwing.integration
     where id = $1`,
    [id],
  )
  return ownRow(rows, ctx, `integration ${id}`)
}

export interface NewTokens {
  readonly sealedAccessToken: string
  /** Undefined: the old one stays good. */
  readonly sealedRefreshToken: string | undefined
  readonly expiresAt: Date
}

export async function tokensStore(
  tx: Queryable,
  id: string,
  { sealedAccessToken, sealedRefreshToken, expiresAt }: NewTokens,
): Promise<void> {
  await tx.query(
    `update dartwing.integration
     set sealed_access_token = $2, sealed_refresh_token = coalesce($3, sealed_refresh_token), expires_at = $4
     where id = $1`,
    [id, sealedAccessToken, sealedRefreshToken ?? null, expiresAt],
  )
}

export async function integrationLost(tx: Queryable, id: string, problem: string): Promise<void> {
  await tx.query(`update dartwing.integration set state = 'needs_reauthorization', problem = $2 where id = $1`, [
    id,
    problem,
  ])
}

type Column = 'client_secret' | 'refresh_token' | 'access_token'

/** What a sealed value is bound to: it opens for no other row or column. */
export const tokenFor = (organization: string, integration: string, column: Column): string =>
  `${organization}/integration/${integration}/${column}`
