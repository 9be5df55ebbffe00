// `dartwing_core.integrations.refresh_token`: renews the tokens of an integration ahead of time, and asks for the next time.
import { cancel, discard, type Implementation, implement, type JobContext, type Queryable } from 'millrace'
import { ResponseBodyError, refreshTokenGrant } from 'openid-client'
import { discovered } from '../auth/keycloak.ts'
import { refreshToken, sendNotification } from '../contracts/critical.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { type Integration, integrationGet, integrationLost, tokenFor, tokensStore } from './integration-store.ts'

/** A token that is good for longer needs no call. */
const AHEAD_MS = 5 * 60_000
const DEFAULT_SECONDS = 300

export const refreshTokenHandler = (system: DartwingSystem): Implementation =>
  implement(refreshToken, async ({ organization, integration: id }, ctx) => {
    const found = await orgContext(ctx, (tx) => integrationGet(tx, ctx, id))
    if (found.state === 'needs_reauthorization') return cancel(`Integration ${id} has to be connected again.`)
    const { expiresAt } = found
    if (expiresAt !== null && expiresAt.getTime() - Date.now() > AHEAD_MS)
      return orgContext(ctx, (tx) => done(system, { tx, organization, id, expiresAt, rotated: false, ctx }), {
        complete: true,
      })
    const answer = await refreshed(system, organization, found)
    if (answer === 'invalid_grant') {
      const problem = 'Its provider no longer accepts the refresh token.'
      await orgContext(ctx, async (tx) => {
        await integrationLost(tx, id, problem)
        await system.millrace.enqueue(
          sendNotification,
          { organization, template: 'reauthorization', about: id, to: 'admins' },
          { tx },
        )
      })
      return discard(`Integration ${id}: ${problem} Connect it again.`)
    }
    const { accessToken, newRefreshToken, seconds } = answer
    const seal = (value: string, column: 'access_token' | 'refresh_token') =>
      system.millrace.seal(value, { for: tokenFor(organization, id, column) })
    const until = new Date(Date.now() + seconds * 1_000)
    const rotated = newRefreshToken !== undefined
    return orgContext(
      ctx,
      async (tx) => {
        const sealedRefreshToken = rotated ? seal(newRefreshToken, 'refresh_token') : undefined
        await tokensStore(tx, id, {
          sealedAccessToken: seal(accessToken, 'access_token'),
          sealedRefreshToken,
          expiresAt: until,
        })
        return done(system, { tx, organization, id, expiresAt: until, rotated, ctx })
      },
      { complete: true },
    )
  })

interface Done {
  readonly tx: Queryable
  readonly organization: string
  readonly id: string
  readonly expiresAt: Date
  readonly rotated: boolean
  readonly ctx: JobContext
}

/** The next refresh is asked for in the transaction that completes this one. */
async function done({ millrace }: DartwingSystem, { tx, organization, id, expiresAt, rotated }: Done) {
  const runAt = new Date(Math.max(Date.now(), expiresAt.getTime() - AHEAD_MS))
  await millrace.enqueue(refreshToken, { organization, integration: id }, { tx, runAt })
  return { expiresAt: expiresAt.toISOString(), rotated }
}

interface Refreshed {
  readonly accessToken: string
  readonly newRefreshToken: string | undefined
  readonly seconds: number
}

/** No token gets into an error: what the provider said stays here. */
async function refreshed(
  { millrace, egress }: DartwingSystem,
  organization: string,
  found: Integration,
): Promise<Refreshed | 'invalid_grant'> {
  const { id, issuer, clientId, sealedClientSecret, sealedRefreshToken } = found
  const open = (text: string, column: 'client_secret' | 'refresh_token') =>
    millrace.open(text, { for: tokenFor(organization, id, column) }) as string
  const clientSecret = open(sealedClientSecret, 'client_secret')
  const token = open(sealedRefreshToken, 'refresh_token')
  try {
    const configuration = await discovered({ issuer, clientId, clientSecret }, egress.fetch)
    const answer = await refreshTokenGrant(configuration, token)
    const rotated =
      answer.refresh_token !== undefined && answer.refresh_token !== token ? answer.refresh_token : undefined
    return { accessToken: answer.access_token, newRefreshToken: rotated, seconds: answer.expires_in ?? DEFAULT_SECONDS }
  } catch (error) {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return 'invalid_grant'
    throw new Error(
      `Integration ${id} could not be refreshed: ${error instanceof ResponseBodyError ? error.error : (error as Error).message}`,
    )
  }
}
