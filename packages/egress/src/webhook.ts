// Webhook signatures by the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`, in the headers
// `webhook-id`, `webhook-timestamp` and `webhook-signature`.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { WebhookRejected } from './errors.ts'

/** Seconds that the clocks of sender and receiver may differ, the way included. */
const TOLERANCE_S = 300
/** Fewer bytes can be guessed. */
const LEAST_SECRET_BYTES = 24

export interface WebhookHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

export interface SignOptions {
  /** The same in every attempt: receivers recognise a repetition by it. */
  id: string
  /** The bytes that are sent. JSON that is written twice may differ. */
  body: string | Uint8Array
  /** One secret, or the new and the old one during a rotation. */
  secrets: string | readonly string[]
  now?: Date
}

export interface VerifyOptions {
  headers: Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>
  /** The bytes as they came, before any parsing. */
  body: string | Uint8Array
  /** One secret, or the new and the old one during a rotation. */
  secrets: string | readonly string[]
  /** When it was received, if that is not now. */
  now?: Date
}

/** A new secret: `whsec_` and 32 random bytes. */
export function webhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The three headers for a body. Every secret adds a signature, so that receivers can rotate at their own time. */
export function signWebhook({ id, body, secrets, now = new Date() }: SignOptions): WebhookHeaders {
  const keys = keysOf(secrets)
  if (!isId(id)) {
    throw new WebhookRejected(
      'header_invalid',
      'The webhook id must be 1 to 255 printable characters without dot and space.',
    )
  }
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => `v1,${signature(key, id, timestamp, body).toString('base64')}`).join(' '),
  }
}

/** Answers id and time of a webhook whose signature is right, and throws `WebhookRejected` for every other. */
export function verifyWebhook({ headers, body, secrets, now = new Date() }: VerifyOptions): {
  id: string
  sentAt: Date
} {
  const keys = keysOf(secrets)
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const given = headerOf(headers, 'webhook-signature')
  if (!isId(id) || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookRejected('header_invalid', 'webhook-id or webhook-timestamp is not as the specification has it.')
  }
  const seconds = Number(timestamp)
  if (Math.abs(now.getTime() / 1000 - seconds) > TOLERANCE_S) {
    throw new WebhookRejected(
      'outside_tolerance',
      `The webhook's time differs by more than ${TOLERANCE_S} s. It is a replay, or a clock is wrong.`,
    )
  }
  const candidates = given.split(' ').filter((each) => each.startsWith('v1,'))
  const expected = keys.map((key) => signature(key, id, timestamp, body))
  const matches = candidates.filter((each) => {
    const bytes = Buffer.from(each.slice(3), 'base64')
    return expected.some((right) => right.length === bytes.length && timingSafeEqual(right, bytes))
  })
  if (matches.length === 0) {
    throw new WebhookRejected(
      'bad_signature',
      'No signature of the webhook fits. Verify the raw bytes, with the secret that the sender uses.',
    )
  }
  return { id, sentAt: new Date(seconds * 1000) }
}

function signature(key: Buffer, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}

/** A dot would let a forger shift the border between id and timestamp. */
function isId(id: string): boolean {
  return /^[!-~]{1,255}$/.test(id) && !id.includes('.')
}

function headerOf(headers: VerifyOptions['headers'], name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name]
  if (typeof value !== 'string' || value === '') {
    throw new WebhookRejected('header_missing', `The header ${name} is missing. Is it a Standard Webhook?`)
  }
  return value
}

/** Without a usable secret nothing is signed or accepted. */
function keysOf(secrets: string | readonly string[]): Buffer[] {
  const keys = [secrets].flat().map((secret) => {
    const encoded = String(secret).replace(/^whsec_/, '')
    const key = Buffer.from(encoded, 'base64')
    const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded)
    if (!isBase64 || key.length < LEAST_SECRET_BYTES) {
      throw new WebhookRejected(
        'secret_unusable',
        `A webhook secret is empty, too short or not base64. Use whsec_ and at least ${LEAST_SECRET_BYTES} random bytes in base64, as webhookSecret() makes them.`,
      )
    }
    return key
  })
  if (keys.length === 0) {
    throw new WebhookRejected(
      'secret_unusable',
      'No webhook secret is configured, so nothing can be signed or accepted.',
    )
  }
  return keys
}
