// Rows of the outbox, grouped by fault: what a message says.
import type { EscalationFacts, EscalationNews, EscalationSeverity } from 'millrace'
import type { Attributes, AttributesOf } from './attributes.ts'

export interface Fault {
  readonly key: string
  readonly kind: EscalationFacts['kind']
  readonly severity: EscalationSeverity
  /** One line for people. */
  readonly title: string
  readonly queue: string | null
  readonly queueTitle: string | null
  readonly type: string | null
  readonly fingerprint: string | null
  /** The last error, of a dead job. */
  readonly error: string | null
  readonly errorClass: string | null
  /** How often it was seen in this message. */
  readonly count: number
  readonly tenants: readonly string[]
  readonly jobIds: readonly string[]
  readonly firstAt: Date
  readonly lastAt: Date
  readonly respondBy: Date | null
  /** Whom it is for, where the channel is not theirs. */
  readonly owner: string | null
  /** How many of the dead jobs wait for a decision. */
  readonly undecided: number
  readonly details: Readonly<Record<string, unknown>>
  /** What to do about it, of an alert. */
  readonly action: string | null
  /** What the contract of the job lets messages say about its payload. */
  readonly attributes: Attributes
}

export interface News {
  readonly becomes: 'acknowledged' | 'resolved'
  readonly by: string | null
  readonly count: number
  readonly fault: Fault
}

const WORST: readonly EscalationSeverity[] = ['info', 'notice', 'warning', 'error', 'critical']
const JOBS_NAMED = 5
const ERROR_LENGTH = 2_000

/** One fault for each key, the worst first, then the most frequent. */
export function faultsOf(rows: readonly EscalationFacts[], attributesOf: AttributesOf): Fault[] {
  const byKey = new Map<string, EscalationFacts[]>()
  for (const row of rows) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row])
  return [...byKey.values()].map((same) => faultOf(same, attributesOf)).sort(byWeight)
}

export function newsOf(rows: readonly EscalationNews[], attributesOf: AttributesOf): News[] {
  return rows.map((row) => ({
    becomes: row.becomes,
    by: row.becomes === 'acknowledged' ? row.acknowledgedBy : null,
    count: row.count,
    fault: faultOf([row], attributesOf),
  }))
}

function faultOf(rows: readonly EscalationFacts[], attributesOf: AttributesOf): Fault {
  const last = rows.at(-1) as EscalationFacts
  const times = rows.map(({ createdAt }) => createdAt.getTime())
  const deadlines = rows.flatMap(({ respondBy }) => respondBy?.getTime() ?? [])
  return {
    ...{ key: last.key, kind: last.kind, queue: last.queue, queueTitle: last.queueTitle, type: last.type },
    ...{ fingerprint: last.fingerprint, errorClass: last.errorClass, details: last.details },
    severity: WORST[Math.max(...rows.map(({ severity }) => WORST.indexOf(severity)))] ?? last.severity,
    title: titleOf(last, rows.length),
    error: last.errorMessage === null ? null : last.errorMessage.slice(0, ERROR_LENGTH).toWellFormed(),
    count: rows.length,
    tenants: [...new Set(rows.flatMap(({ tenant }) => tenant ?? []))],
    jobIds: rows.flatMap(({ jobId }) => jobId ?? []).slice(-JOBS_NAMED),
    firstAt: new Date(Math.min(...times)),
    lastAt: new Date(Math.max(...times)),
    respondBy: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)),
    owner: ownerOf(last),
    undecided: rows.filter(({ letterStatus }) => letterStatus === 'pending').length,
    action: typeof last.details.action === 'string' ? last.details.action : null,
    attributes: attributesOf(last),
  }
}

const REASONS: Readonly<Record<string, string>> = {
  exhausted: 'used up its attempts',
  discarded: 'was given up',
  unrecoverable: 'failed for good',
  gave_up: 'ran out of time',
  stuck: 'was stuck',
  crash_loop: 'crashed its worker again and again',
  invalid_payload: 'has a payload that cannot be read',
}

function titleOf({ kind, type, details, summary, errorMessage, key }: EscalationFacts, count: number): string {
  if (kind !== 'dead_job') return count > 1 ? `${summary ?? key} (${count} times)` : (summary ?? key)
  const how = REASONS[String(details.reason)] ?? 'died'
  const [firstLine = ''] = (errorMessage ?? '').split('\n')
  const subject = count > 1 ? `${count} jobs of type ${type}: the last ${how}` : `A job of type ${type} ${how}`
  return firstLine === '' ? subject : `${subject}: ${firstLine}`
}

/** Only named where the channel is not the owner's own. */
function ownerOf({ owner, channel }: EscalationFacts): string | null {
  if (owner === null || owner.address === channel) return null
  return owner.address === undefined ? owner.name : `${owner.name} (${owner.address})`
}

const byWeight = (a: Fault, b: Fault): number =>
  WORST.indexOf(b.severity) - WORST.indexOf(a.severity) || b.count - a.count || a.key.localeCompare(b.key)
