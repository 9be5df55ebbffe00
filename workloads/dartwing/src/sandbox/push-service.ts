// Stands in for the push services of browsers (RFC 8030): checks who sends, and decrypts as the browser would.
import { createDecipheriv, createECDH, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { type Answer, type Call, json, type Service, text } from '@millrace/sandbox'
import { importJWK, jwtVerify } from 'jose'

export interface PushSubscription {
  readonly endpoint: string
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

export interface PushedMessage {
  readonly at: string
  readonly subscription: string
  readonly text: string
}

interface Browser {
  readonly ecdh: ReturnType<typeof createECDH>
  readonly auth: Buffer
  /** What it answers instead of taking the next messages. */
  refuses: 404 | 410 | 413 | 429 | 500 | undefined
}

const KEPT = 500
const MOST_BYTES = 4_096

export class PushService implements Service {
  readonly #browsers = new Map<string, Browser>()
  /** Newest first, decrypted. */
  readonly messages: PushedMessage[] = []
  /** Known once the sandbox listens. */
  url = ''

  subscribe(): PushSubscription {
    const ecdh = createECDH('prime256v1')
    const id = randomUUID()
    const [p256dh, auth] = [ecdh.generateKeys(), randomBytes(16)]
    this.#browsers.set(id, { ecdh, auth, refuses: undefined })
    return {
      endpoint: `${this.url}/messages/${id}`,
      keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
    }
  }

  /** From now on; undefined: it takes messages again. */
  refuse(endpoint: string, status: Browser['refuses']): void {
    const browser = this.#browsers.get(endpoint.slice(endpoint.lastIndexOf('/') + 1))
    if (browser !== undefined) browser.refuses = status
  }

  async answer({ method, path, headers, body }: Call): Promise<Answer> {
    if (method !== 'POST') return text(405, 'Only POST is known here.')
    if (path === '/subscriptions') return json(201, this.subscribe())
    const id = /^\/messages\/([\w-]+)$/.exec(path)?.[1] ?? ''
    const browser = this.#browsers.get(id)
    if (browser === undefined) return text(404, 'There is no such subscription.')
    const { refuses } = browser
    if (refuses !== undefined) return text(refuses, 'refused', refuses === 429 ? { 'retry-after': '7' } : {})
    if (!(await isSigned(headers.authorization, new URL(this.url).origin)))
      return text(403, 'The VAPID signature is wrong.')
    if (headers['content-encoding'] !== 'aes128gcm' || headers.ttl === undefined)
      return text(400, 'TTL or encoding is missing.')
    if (body.length > MOST_BYTES) return text(413, 'The message is too large.')
    const message = decrypted(body, browser)
    if (message === undefined) return text(400, 'The message cannot be decrypted.')
    this.messages.unshift({ at: new Date().toISOString(), subscription: id, text: message })
    this.messages.length = Math.min(this.messages.length, KEPT)
    return { status: 201, headers: { location: `${this.url}/sent/${randomUUID()}` } }
  }

  limited(): Answer {
    return text(429, 'Too many messages', { 'retry-after': '7' })
  }
}

/** `vapid t=<a token for this origin>, k=<the key it is signed with>`. */
async function isSigned(authorization = '', audience: string): Promise<boolean> {
  const [, token, key] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
  if (token === undefined || key === undefined) return false
  const point = Buffer.from(key, 'base64url')
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url')
  try {
    const verifier = await importJWK({ kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) }, 'ES256')
    const { payload } = await jwtVerify(token, verifier, { audience })
    return /^(mailto|https):/.test(payload.sub ?? '')
  } catch {
    return false
  }
}

/** RFC 8188 with the keys of RFC 8291. Undefined: it is not for this browser. */
function decrypted(body: Buffer, { ecdh, auth }: Browser): string | undefined {
  const [salt, keyBytes] = [body.subarray(0, 16), body.readUInt8(20)]
  const [sender, sealed] = [body.subarray(21, 21 + keyBytes), body.subarray(21 + keyBytes)]
  try {
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender])
    const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32))
    const derived = (what: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secret, salt, Buffer.from(`Content-Encoding: ${what}\0`), bytes))
    const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12))
    decipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
    // The last record ends with a 2 and zeros.
    return plain.subarray(0, plain.lastIndexOf(2)).toString('utf8')
  } catch {
    return undefined
  }
}
