// Stand in for the programs that organizations have registered for webhooks. They check signatures with a library of others.
import { type Answer, type Call, json, type Service, text } from '@millrace/sandbox'
import { Webhook } from 'standardwebhooks'

/** Of every receiver here. */
export const RECEIVER_SECRET = `whsec_${Buffer.from('what the receivers expect').toString('base64')}`
const OLD_SECRET = `whsec_${Buffer.from('what they expected before').toString('base64')}`

export interface ReceivedEvent {
  readonly at: string
  readonly receiver: string
  readonly id: string
  readonly type: string
}

const KEPT = 500

export class Receivers implements Service {
  /** Newest first. */
  readonly events: ReceivedEvent[] = []

  async answer({ method, path, headers, body }: Call): Promise<Answer> {
    const receiver = path.slice(1)
    if (method !== 'POST') return text(405, 'Only POST is known here.')
    if (receiver === 'gone') return text(410, 'Nobody listens here any more.')
    if (receiver === 'redirecting')
      return { status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } }
    if (receiver === 'broken') return text(500, 'The receiver is broken.')
    const event = verified(
      receiver === 'old-secret' ? OLD_SECRET : RECEIVER_SECRET,
      body.toString(),
      headers as Record<string, string>,
    )
    if (event === undefined) return text(401, 'The signature is wrong.')
    this.events.unshift({
      at: new Date().toISOString(),
      receiver,
      id: String(headers['webhook-id']),
      type: String(event.type),
    })
    this.events.length = Math.min(this.events.length, KEPT)
    return json(200, { ok: true })
  }

  limited(): Answer {
    return text(429, 'Less often, please.', { 'retry-after': '5' })
  }
}

function verified(secret: string, body: string, headers: Record<string, string>): { type?: unknown } | undefined {
  try {
    return new Webhook(secret).verify(body, headers) as { type?: unknown }
  } catch {
    return undefined
  }
}
