// What people do with alerts: see what fires, and silence what they know of.
import { author, label } from '../client/enqueue-options.ts'
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import type { QueueOwner } from '../contract/queue-facts.ts'
import { InvalidDefinition } from '../errors.ts'
import {
  type AlertRow,
  type AlertSeverity,
  type AlertSilence,
  alertList,
  alertSilenceEnd,
  alertSilenceList,
  alertSilenceSet,
} from '../store/alerts.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { BUILT_IN } from './conditions.ts'
import { silenceOf } from './decide.ts'
import type { AlertRule } from './rule.ts'

export interface Alert {
  readonly name: string
  /** What it is about: a queue, a type, a service. */
  readonly subject: string
  readonly severity: AlertSeverity
  /** pending: the condition holds, and not for long enough yet. cleared: it was firing within the last day. */
  readonly state: 'pending' | 'firing' | 'cleared'
  /** What the rule means, in one sentence. */
  readonly summary: string
  /** Why it fires: what was measured, in one sentence. */
  readonly why: string
  /** What to do about it. */
  readonly action: string
  /** Where to read more. */
  readonly link: string | null
  readonly value: number
  readonly threshold: number
  /** Queues that it concerns. */
  readonly queues: readonly string[]
  /** Of the first of those queues, or as the rule says. */
  readonly owner: QueueOwner | null
  /** The condition has held since then. */
  readonly since: Date
  readonly firedAt: Date | null
  readonly clearedAt: Date | null
  /** While it lasts, nobody is told of the alert. */
  readonly silence: AlertSilence | null
}

export interface AlertFilter {
  /** Default: those that fire. */
  readonly states?: readonly Alert['state'][]
}

export interface SilenceOptions {
  /** Only this subject. Default: every subject of the rule. */
  readonly subject?: string
  /** Why: whoever sees the alert is told. */
  readonly reason: string
  /** Who. */
  readonly by: string
  /** It ends after this long; or give `until`. */
  readonly for?: Duration
  readonly until?: Date
}

const ORDER: readonly AlertSeverity[] = ['critical', 'warning', 'notice', 'info']

export class Alerts {
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** The gravest first. */
  async list({ states = ['firing'] }: AlertFilter = {}): Promise<Alert[]> {
    const silences = await this.silences()
    return (await alertList(this.#db))
      .map((row) => alertOf(row, silenceOf(silences, row)))
      .filter(({ state }) => states.includes(state))
      .sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
  }

  /** The rules that every Millrace has, as they are without settings. A worker may have other thresholds, and rules of its own. */
  rules(): readonly AlertRule[] {
    return BUILT_IN
  }

  /** Those that hold. */
  silences(): Promise<AlertSilence[]> {
    return alertSilenceList(this.#db, this.#clock.databaseNow())
  }

  /** Nobody is told of the alert until the silence ends. Replaces an earlier silence of the same rule and subject. */
  async silence(name: string, options: SilenceOptions): Promise<AlertSilence> {
    const by = author(options.by)
    const reason = author(options.reason, 'reason')
    const subject = label(options.subject ?? null, 'subject')
    const { until = null } = options
    if ((until === null) === (options.for === undefined))
      throw new InvalidDefinition('A silence has to end by itself: give either `for`, like "2h", or `until`.')
    const forMs = options.for === undefined ? null : toMs(options.for, 'silence({ for })')
    const target = label(name, 'name') as string
    return this.#db.transaction(async (tx) => {
      const now = this.#clock.databaseNow()
      const silence = await alertSilenceSet(tx, now, { name: target, subject, reason, by, until, forMs })
      const details = { subject, reason, until: silence.until }
      await auditWrite(tx, now, { by, action: 'alert.silence', target, details })
      return silence
    })
  }

  /** Ends a silence. An alert that still fires is told now. False: there was none. */
  async unsilence(name: string, options: { subject?: string; by: string }): Promise<boolean> {
    const by = author(options.by)
    const subject = options.subject ?? null
    return this.#db.transaction(async (tx) => {
      const now = this.#clock.databaseNow()
      const ended = await alertSilenceEnd(tx, now, { name, subject })
      if (ended === undefined) return false
      await auditWrite(tx, now, { by, action: 'alert.unsilence', target: name, details: { subject } })
      return true
    })
  }
}

function alertOf({ toldAt: _, seenAt: __, ...row }: AlertRow, silence: AlertSilence | undefined): Alert {
  const state = row.clearedAt !== null ? 'cleared' : row.firedAt === null ? 'pending' : 'firing'
  return { ...row, state, silence: silence ?? null }
}
