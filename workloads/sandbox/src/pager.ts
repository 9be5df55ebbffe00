// PagerDuty's Events API v2 and Slack's incoming webhooks, with the limits that both publish.
import { type Answer, type Call, json, objectOf, type Service, text } from './exchange.ts'

export interface Incident {
  readonly dedupKey: string
  readonly routingKey: string
  readonly summary: string
  readonly severity: string
  readonly openedAt: string
  state: 'triggered' | 'acknowledged' | 'resolved'
  triggers: number
}

export interface SlackMessage {
  readonly channel: string
  readonly at: string
  readonly text: string
  /** The text of all its blocks. */
  readonly body: string
}

/** Lists that people look at keep their newest entries. */
const KEPT = 200
const SEVERITIES = ['critical', 'error', 'warning', 'info']

interface PagerDutyEvent {
  readonly routing_key?: unknown
  readonly event_action?: unknown
  readonly dedup_key?: unknown
  readonly payload?: { readonly summary?: unknown; readonly source?: unknown; readonly severity?: unknown }
}

export class PagerDuty implements Service {
  /** Newest first. */
  readonly incidents: Incident[] = []

  answer(call: Call): Answer {
    if (call.method !== 'POST' || call.path !== '/v2/enqueue') return text(404, 'not found')
    if (call.body.length > 512 * 1024) return invalid('the event is larger than 512 KB')
    const event = objectOf(call) as PagerDutyEvent | undefined
    const { routing_key: routingKey, event_action: action, dedup_key: key } = event ?? {}
    if (typeof routingKey !== 'string' || routingKey.length < 3) return invalid("'routing_key' is missing or blank")
    if (typeof key !== 'string' || key === '' || key.length > 255) return invalid("'dedup_key' has 1 to 255 characters")
    if (action === 'trigger') return this.#trigger(key, routingKey, event?.payload)
    if (action !== 'acknowledge' && action !== 'resolve') return invalid("'event_action' is not one of the known ones")
    for (const incident of this.incidents.filter(({ dedupKey, state }) => dedupKey === key && state !== 'resolved'))
      incident.state = action === 'resolve' ? 'resolved' : 'acknowledged'
    return accepted(key)
  }

  limited(): Answer {
    return json(429, { status: 'throttle exceeded', message: 'Requests for this service are limited.' }, RETRY)
  }

  /** An open incident of that key takes the event: there is one for a fault. */
  #trigger(dedupKey: string, routingKey: string, payload: PagerDutyEvent['payload'] = {}): Answer {
    const { summary, source, severity } = payload
    if (typeof summary !== 'string' || summary === '' || summary.length > 1_024) return invalid("'payload.summary'")
    if (typeof source !== 'string' || source === '') return invalid("'payload.source' is missing or blank")
    if (typeof severity !== 'string' || !SEVERITIES.includes(severity)) return invalid("'payload.severity'")
    const open = this.incidents.find((each) => each.dedupKey === dedupKey && each.state !== 'resolved')
    if (open !== undefined) open.triggers += 1
    else {
      const opened = { dedupKey, routingKey, summary, severity, openedAt: new Date().toISOString() }
      this.incidents.unshift({ ...opened, state: 'triggered', triggers: 1 })
      this.incidents.length = Math.min(this.incidents.length, KEPT)
    }
    return accepted(dedupKey)
  }
}

interface SlackBody {
  readonly text?: unknown
  readonly blocks?: readonly { readonly type?: string; readonly text?: { readonly text?: string } }[]
}

/** One message a second for each webhook; the path names the channel. */
export class Slack implements Service {
  /** Newest first. */
  readonly messages: SlackMessage[] = []
  readonly #lastMs = new Map<string, number>()

  answer(call: Call): Answer {
    const channel = `#${decodeURIComponent(call.path.slice(1))}`
    if (call.method !== 'POST' || channel === '#') return text(404, 'no_service')
    const nowMs = performance.now()
    if (nowMs - (this.#lastMs.get(channel) ?? Number.NEGATIVE_INFINITY) < 1_000) return this.limited()
    const { text: headline, blocks = [] } = (objectOf(call) ?? {}) as SlackBody
    const texts = blocks.map((block) => block.text?.text ?? '')
    const isTooLong = blocks.some(({ type }, i) => (texts[i]?.length ?? 0) > (type === 'header' ? 150 : 3_000))
    if (typeof headline !== 'string' || headline === '' || blocks.length > 50 || isTooLong)
      return text(400, 'invalid_blocks')
    this.#lastMs.set(channel, nowMs)
    const body = texts.filter((each) => each !== '').join('\n')
    this.messages.unshift({ channel, at: new Date().toISOString(), text: headline, body })
    this.messages.length = Math.min(this.messages.length, KEPT)
    return text(200, 'ok')
  }

  limited(): Answer {
    return text(429, 'rate_limited', RETRY)
  }
}

const RETRY = { 'retry-after': '1' }
const invalid = (why: string): Answer =>
  json(400, { status: 'invalid event', message: 'Event object is invalid', errors: [why] })
const accepted = (key: string): Answer => json(202, { status: 'success', message: 'Event processed', dedup_key: key })
