// PagerDuty, by its Events API v2. A fault is one incident: its key is the dedup_key, also when it is resolved.
import { type Channel, cut, type Message, SendFailed, type Transports } from '../channel.ts'
import type { Fault } from '../fault.ts'
import { post } from '../http.ts'
import { linksFor } from '../links.ts'

export interface PagerDutyOptions {
  /** Of the service's Events API v2 integration. Default: PAGERDUTY_INTEGRATION_KEY. */
  integrationKey?: string
  /** Default: PagerDuty's own, https://events.pagerduty.com/v2/enqueue. */
  url?: string
}

/** Published limits. */
const SUMMARY = 1_024
const BODY_BYTES = 512 * 1024
const SEVERITIES = { info: 'info', notice: 'info', warning: 'warning', error: 'error', critical: 'critical' } as const

export function pagerduty(options: PagerDutyOptions = {}): Channel {
  return {
    kind: 'pagerduty',
    spacingMs: 200,
    isPerFault: true,
    grows: true,
    tells: ['acknowledged', 'resolved'],
    async send(message, transports) {
      const target = targetOf(options)
      for (const fault of message.faults) await enqueue(transports, target, triggerOf(fault, message))
      for (const { becomes, fault } of message.news) {
        const event_action = becomes === 'resolved' ? 'resolve' : 'acknowledge'
        await enqueue(transports, target, { event_action, dedup_key: fault.key })
      }
    },
  }
}

interface Target {
  key: string
  url: string
}

function targetOf({ integrationKey, url = 'https://events.pagerduty.com/v2/enqueue' }: PagerDutyOptions): Target {
  const key = integrationKey ?? process.env.PAGERDUTY_INTEGRATION_KEY
  if (key) return { key, url }
  throw new SendFailed('refused', 'PagerDuty has no integration key: set PAGERDUTY_INTEGRATION_KEY.')
}

function triggerOf(fault: Fault, { links, at }: Message): object {
  const { count, tenants, jobIds, error, errorClass, owner, attributes, details, firstAt, respondBy } = fault
  const facts = { count, tenants: tenants.slice(0, 50), jobs: jobIds, error, errorClass, owner, firstAt, respondBy }
  return {
    event_action: 'trigger',
    dedup_key: fault.key,
    client: 'Millrace',
    client_url: links.home(),
    links: linksFor(fault, links),
    payload: {
      summary: cut(fault.title, SUMMARY),
      source: fault.queueTitle ?? fault.queue ?? 'millrace',
      severity: SEVERITIES[fault.severity],
      timestamp: at.toISOString(),
      component: fault.queue ?? undefined,
      group: fault.queueTitle ?? undefined,
      class: fault.type ?? fault.kind,
      custom_details: { ...facts, ...attributes, ...details },
    },
  }
}

async function enqueue(transports: Transports, { key, url }: Target, event: object): Promise<void> {
  const body = bodyOf({ routing_key: key, ...event })
  await post(transports, { to: 'PagerDuty', url, body })
}

/** Only the facts of an alert can be so large; people find them behind the links. */
function bodyOf(event: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify(event)
  if (Buffer.byteLength(body) <= BODY_BYTES || typeof event.payload !== 'object') return body
  return JSON.stringify({ ...event, payload: { ...event.payload, custom_details: { cut: 'too large for PagerDuty' } } })
}
