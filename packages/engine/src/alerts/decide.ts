// What follows from measurements: which alerts hold, fire, go on and clear. Pure.
import type { QueueOwner } from '../contract/queue-facts.ts'
import type { AlertRow, AlertSilence } from '../store/alerts.ts'
import { type AlertRule, isBeyond, type Measurement } from './rule.ts'

export interface Decision {
  /** How the alerts stand now. */
  readonly rows: AlertRow[]
  /** Conditions that no longer hold and never fired. */
  readonly gone: AlertRow[]
  /** Alerts that listeners have to hear of now. */
  readonly fired: AlertRow[]
  readonly cleared: AlertRow[]
}

export interface Evaluated {
  readonly rule: AlertRule
  /** Undefined: it could not be measured, and everything stays as it is. */
  readonly measurements: readonly Measurement[] | undefined
}

/** Without a look for longer than `for` and this, nobody knows whether a condition held all the time. */
const GAP_MS = 5 * 60_000
/** Of one rule: beyond these no further subject begins, because more of the same is no news. */
const MAX_SUBJECTS = 200

export interface Known {
  /** The alerts of these rules as they stood. */
  readonly before: readonly AlertRow[]
  readonly silences: readonly AlertSilence[]
  ownerOf(queue: string): QueueOwner | null
}

export function decide(now: Date, evaluated: readonly Evaluated[], { before, silences, ownerOf }: Known): Decision {
  const decision: Decision = { rows: [], gone: [], fired: [], cleared: [] }
  for (const { rule, measurements } of evaluated) {
    if (measurements === undefined) continue
    const rows = new Map(before.filter(({ name }) => name === rule.name).map((row) => [row.subject, row]))
    let held = 0
    for (const measurement of worstFirst(rule, measurements)) {
      const row = rows.get(measurement.subject)
      if (!isHeld(rule, measurement, row) || (row === undefined && held >= MAX_SUBJECTS)) continue
      held++
      rows.delete(measurement.subject)
      const { queues = [] } = measurement
      const owner = rule.owner ?? (queues[0] === undefined ? null : ownerOf(queues[0]))
      const fresh = { ...rowOf(rule, measurement, now), owner }
      hold(decision, fresh, { rule, row, isSilenced: silenceOf(silences, fresh) !== undefined })
    }
    for (const row of rows.values()) end(decision, now, row)
  }
  return decision
}

/** One measurement of each subject: the worst. A type may fail in two queues, and is one subject. */
function worstFirst({ only }: AlertRule, measurements: readonly Measurement[]): Measurement[] {
  const worst = new Map<string, Measurement>()
  for (const measurement of measurements) {
    const { subject } = measurement
    // Infinity is no number of JSON.
    const value = Math.min(measurement.value, Number.MAX_VALUE)
    if (Number.isNaN(value) || (only !== undefined && !only.includes(subject))) continue
    if (value > (worst.get(subject)?.value ?? Number.NEGATIVE_INFINITY)) worst.set(subject, { ...measurement, value })
  }
  return [...worst.values()].sort((a, b) => b.value - a.value)
}

/** The silence of a subject goes before one of the whole rule. */
export function silenceOf(
  silences: readonly AlertSilence[],
  { name, subject }: Pick<AlertRow, 'name' | 'subject'>,
): AlertSilence | undefined {
  const ofRule = silences.filter((silence) => silence.name === name)
  return ofRule.find((silence) => silence.subject === subject) ?? ofRule.find((silence) => silence.subject === null)
}

const isFiring = (row: AlertRow | undefined): boolean => row?.firedAt != null && row.clearedAt === null

function isHeld(rule: AlertRule, { value }: Measurement, row: AlertRow | undefined): boolean {
  return isBeyond(rule, value, isFiring(row) ? rule.clearAt : rule.threshold)
}

interface Past {
  readonly rule: AlertRule
  readonly row: AlertRow | undefined
  readonly isSilenced: boolean
}

function hold(decision: Decision, fresh: AlertRow, { rule, row, isSilenced }: Past): void {
  const now = fresh.seenAt
  const isKnown = row !== undefined && row.clearedAt === null && isRecent(rule, row, now)
  const since = isKnown ? row.since : now
  const isDue = now.getTime() - since.getTime() >= rule.forMs
  const firedAt = isKnown && row.firedAt !== null ? row.firedAt : isDue ? now : null
  const told = isKnown ? row.toldAt : null
  const isNews = firedAt !== null && told === null && !isSilenced
  const next = { ...fresh, since, firedAt, toldAt: isNews ? now : told }
  decision.rows.push(next)
  if (isNews) decision.fired.push(next)
}

/** A firing alert goes on over a gap; one that has not fired begins anew. */
function isRecent(rule: AlertRule, row: AlertRow, now: Date): boolean {
  return row.firedAt !== null || now.getTime() - row.seenAt.getTime() <= rule.forMs + GAP_MS
}

function end(decision: Decision, now: Date, row: AlertRow): void {
  if (row.clearedAt !== null) return
  if (row.firedAt === null) {
    decision.gone.push(row)
    return
  }
  const cleared = { ...row, clearedAt: now, seenAt: now }
  decision.rows.push(cleared)
  if (row.toldAt !== null) decision.cleared.push(cleared)
}

function rowOf(rule: AlertRule, { subject, value, why, queues = [] }: Measurement, now: Date): AlertRow {
  const { name, severity, summary, action, link, threshold } = rule
  return {
    ...{ name, severity, summary, action, link, threshold, subject, value, why, queues },
    ...{ owner: null, since: now, firedAt: null, toldAt: null, clearedAt: null, seenAt: now },
  }
}
