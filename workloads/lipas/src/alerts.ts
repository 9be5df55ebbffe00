// The six alerts that operators of LIPAS watch, and who is told of them besides the mails of `monitor-queue-health`.
//
// They are the platform's own, with its thresholds. A mail cannot report that mail is down: where Slack or another program is
// configured, it gets all six.
import type { EgressFetch } from '@millrace/egress'
import { defineEscalation, type Escalation, slack, webhook } from '@millrace/escalation'
import type { AlertOptions } from 'millrace'
import type { LipasSettings } from './settings.ts'

/** Pending jobs, error rate, fast lane, oldest job, breakers, memory. */
export const WATCHED = [
  'queue_pending',
  'error_rate',
  'lane_busy',
  'oldest_due',
  'breaker_open',
  'worker_memory',
] as const

/** Undefined: no channel is configured. `fetch` reaches it also in a private network, and nothing else there. */
export function lipasEscalation(
  { LIPAS_SLACK_WEBHOOK: hook, LIPAS_ALERT_WEBHOOK_URL: url, LIPAS_ALERT_WEBHOOK_SECRET: secrets }: LipasSettings,
  fetch: EgressFetch,
): Escalation | undefined {
  if (hook !== undefined) return defineEscalation({ channels: { slack: slack({ webhook: hook }) }, fetch })
  if (url === undefined || secrets === undefined) return undefined
  return defineEscalation({ channels: { webhook: webhook({ url, secrets }) }, fetch })
}

/** Without a channel nothing is put into an outbox that nobody empties. */
export const lipasAlerts = (escalation: Escalation | undefined): AlertOptions =>
  escalation === undefined
    ? {}
    : { settings: Object.fromEntries(WATCHED.map((name) => [name, { escalate: 'ops' as const }])) }
