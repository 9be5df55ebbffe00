// Puts alerts that fire into the outbox of escalations, and resolves those that have cleared, in the transaction that says so.
import type { Now } from '../clock.ts'
import type { AlertRow } from '../store/alerts.ts'
import type { Session } from '../store/db.ts'
import { ESCALATION_QUEUE, escalationResolve, escalationWrite } from '../store/escalations.ts'
import type { Decision } from './decide.ts'
import type { AlertRule } from './rule.ts'

const MAX_KEY = 255
const MAX_SUMMARY = 1_024

export async function escalateAlerts(
  session: Session,
  now: Now,
  { fired, cleared }: Decision,
  rules: readonly AlertRule[],
): Promise<void> {
  for (const alert of fired) {
    const to = rules.find(({ name }) => name === alert.name)?.escalate
    if (to !== undefined && !isAboutDelivery(alert)) await escalate(session, now, alert, to)
  }
  if (cleared.length > 0) await escalationResolve(session, now, cleared.map(keyOf))
}

async function escalate(
  session: Session,
  now: Now,
  alert: AlertRow,
  to: NonNullable<AlertRule['escalate']>,
): Promise<void> {
  const { name, subject, severity, why, action, link, value, threshold, owner } = alert
  await escalationWrite(session, now, {
    ...{ kind: 'alert', key: keyOf(alert), severity, summary: why.slice(0, MAX_SUMMARY) },
    queues: to === 'ops' ? [] : alert.queues,
    toOwner: to === 'owner',
    details: { alert: name, subject, action, link, value, threshold, owner: owner?.name ?? null },
  })
}

/** A message about undelivered messages would be one more of them. */
const isAboutDelivery = ({ queues }: AlertRow): boolean =>
  queues.length > 0 && queues.every((queue) => queue === ESCALATION_QUEUE)

const keyOf = ({ name, subject }: AlertRow): string => `alert/${name}/${subject}`.slice(0, MAX_KEY)
