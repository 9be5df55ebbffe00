// Links to files of an organization, good for a quarter of an hour and for that file only.
import { createHmac, timingSafeEqual } from 'node:crypto'

const GOOD_FOR_MS = 15 * 60_000

interface Linked {
  readonly organization: string
  readonly file: string
}

const signatureOf = (secret: string, { organization, file }: Linked, until: number): string =>
  createHmac('sha256', secret).update(`${organization}/${file}/${until}`).digest('base64url')

/** Below the address of this server. */
export function signedLink(secret: string, linked: Linked, nowMs = Date.now()): { path: string; until: Date } {
  const until = nowMs + GOOD_FOR_MS
  const query = new URLSearchParams({ until: String(until), signature: signatureOf(secret, linked, until) })
  return { path: `/dartwing/files/${linked.organization}/${linked.file}?${query}`, until: new Date(until) }
}

export function isGood(secret: string, linked: Linked, query: URLSearchParams, nowMs = Date.now()): boolean {
  const until = Number(query.get('until'))
  const given = Buffer.from(query.get('signature') ?? '')
  const expected = Buffer.from(signatureOf(secret, linked, until))
  return until > nowMs && given.length === expected.length && timingSafeEqual(given, expected)
}
