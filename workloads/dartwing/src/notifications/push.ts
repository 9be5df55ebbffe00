// Web Push: messages are encrypted for one browser (RFC 8291), and say by whom they are sent (RFC 8292).
import type { EgressFetch } from '@millrace/egress'
import webPush from 'web-push'
import type { Addresses } from '../outside/addresses.ts'

export interface PushTarget {
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

const TTL_SECONDS = 24 * 3_600

export class Pusher {
  readonly #vapid: Addresses['push']
  readonly #fetch: EgressFetch

  constructor(vapid: Addresses['push'], fetch: EgressFetch) {
    this.#vapid = vapid
    this.#fetch = fetch
  }

  /** The answer of the push service, whatever it is. */
  async push({ endpoint, p256dh, auth }: PushTarget, message: string, signal: AbortSignal): Promise<Response> {
    const request = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, message, {
      vapidDetails: this.#vapid,
      TTL: TTL_SECONDS,
      contentEncoding: 'aes128gcm',
    })
    // How long the body is, the egress says itself.
    const { 'Content-Length': _, ...headers } = request.headers as Record<string, string>
    const response = await this.#fetch(endpoint, {
      ...{ method: 'POST', body: new Uint8Array(request.body), signal },
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    })
    await response.body?.cancel()
    return response
  }
}
