// What an alert rule says: what is measured, from which value on it fires, and what people are told.
import { type Duration, toMs } from '../contract/duration.ts'
import type { QueueOwner } from '../contract/queue-facts.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Vitals } from '../health/vitals.ts'
import type { AlertSeverity } from '../store/alerts.ts'

/** One thing that was measured: the depth of one queue, the memory of one worker. */
export interface Measurement {
  /** What it is about. Each subject of a rule fires and clears for itself. */
  readonly subject: string
  readonly value: number
  /** Why it fires, in one sentence: 'Queue "mail" holds 1200 jobs.' */
  readonly why: string
  /** Queues that it concerns. The first one's owner is the owner of the alert, unless the rule names one. */
  readonly queues?: readonly string[]
}

export interface AlertDefinition {
  readonly severity: AlertSeverity
  /** What it means, in one sentence. */
  readonly summary: string
  /** What to do about it, in one sentence. */
  readonly action: string
  /** Where to read more. */
  readonly link?: string
  readonly owner?: QueueOwner
  /** Everything that could fire, also below the threshold. A rule may read what it likes; it has ten seconds. */
  measure(vitals: Vitals): readonly Measurement[] | Promise<readonly Measurement[]>
  /** It fires at values beyond this. Default 0. */
  readonly threshold?: number
  /** '>=': also at the threshold itself. Default '>'. */
  readonly compare?: '>' | '>='
  /** It clears when the value is no longer beyond this. A lower number than the threshold keeps it from flapping. Default: the threshold. */
  readonly clearAt?: number
  /** It fires after the condition has held for so long. Default: at once. */
  readonly for?: Duration
  /** Only these subjects are measured. Default: all. */
  readonly only?: readonly string[]
  /**
   * Who is told beside listeners and the log: 'owner' of the queue, where the escalation policies of the 'queues' say, or the 'ops'
   * channel. Default: nobody.
   */
  readonly escalate?: 'owner' | 'queues' | 'ops'
  /** The same condition for Prometheus, of a given threshold. Without it, the rule is not exported. */
  readonly prometheus?: (threshold: string) => string
}

export interface AlertRule
  extends Pick<AlertDefinition, 'severity' | 'summary' | 'action' | 'measure' | 'escalate' | 'prometheus' | 'only'> {
  readonly name: string
  readonly link: string | null
  readonly owner: QueueOwner | null
  readonly threshold: number
  readonly compare: '>' | '>='
  readonly clearAt: number
  readonly forMs: number
}

const NAME = /^[a-z][a-z0-9_]{0,79}$/
const SEVERITIES: readonly AlertSeverity[] = ['info', 'notice', 'warning', 'critical']
const MAX_TEXT = 500

/** Declares an alert: list it in `alerts: { rules }` of a workload, or of `millrace.work`. */
export function defineAlert(name: string, definition: AlertDefinition): AlertRule {
  const refuse = (problem: string): never => {
    throw new InvalidDefinition(`Alert ${JSON.stringify(name)} ${problem}`)
  }
  if (typeof name !== 'string' || !NAME.test(name))
    refuse('has a name that is not usable: expected a small letter, then up to 79 small letters, digits or "_".')
  const { severity, summary, action, measure, threshold = 0, compare = '>', clearAt = threshold } = definition
  if (!SEVERITIES.includes(severity))
    refuse(`has severity ${JSON.stringify(severity)}: expected one of ${SEVERITIES.join(', ')}.`)
  for (const [option, text] of Object.entries({ summary, action })) {
    if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_TEXT)
      refuse(`has no usable ${option}: expected a sentence of at most ${MAX_TEXT} characters.`)
  }
  if (typeof measure !== 'function') refuse('has no function `measure`.')
  if (!Number.isFinite(threshold) || !Number.isFinite(clearAt) || clearAt > threshold)
    refuse(`has threshold ${threshold} and clearAt ${clearAt}: expected numbers, and clearAt not above the threshold.`)
  if (compare !== '>' && compare !== '>=') refuse(`compares by ${JSON.stringify(compare)}: expected '>' or '>='.`)
  return {
    ...definition,
    ...{ name, threshold, compare, clearAt },
    forMs: toMs(definition.for ?? 0, `Alert "${name}": for`),
    link: definition.link ?? null,
    owner: definition.owner ?? null,
  }
}

export const isBeyond = ({ compare }: AlertRule, value: number, bound: number): boolean =>
  compare === '>' ? value > bound : value >= bound
