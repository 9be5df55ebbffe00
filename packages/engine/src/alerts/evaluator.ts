// Measures what the rules say, and writes down which alerts hold, fire and clear. What it read of the queues becomes their history.
//
// The state is in the database, and is changed under a lock together with the escalations that follow from it. So several processes
// and restarts neither forget an alert nor tell it twice.
import type { Clock } from '../clock.ts'
import { within } from '../clock.ts'
import type { Events } from '../events.ts'
import { readVitals, type Vitals, type VitalsServices } from '../health/vitals.ts'
import type { Logger } from '../logger.ts'
import { type AlertRow, alertForget, alertList, alertSilenceList, alertWrite } from '../store/alerts.ts'
import { advisoryLock } from '../store/governed-claims.ts'
import { queueSampleAdd } from '../store/queue-samples.ts'
import { type Decision, decide, type Evaluated } from './decide.ts'
import { escalateAlerts } from './escalation.ts'
import type { AlertRule } from './rule.ts'

/** A rule of a program may read other systems. */
const MEASURE_MS = 10_000
/** How long a cleared alert is listed. */
const KEEP_MS = 24 * 3_600_000

export interface EvaluatorServices extends VitalsServices {
  clock: Clock
  events: Events
  logger: Logger
  onError(during: string, error: unknown): void
}

export class AlertEvaluator {
  readonly #services: EvaluatorServices

  constructor(services: EvaluatorServices) {
    this.#services = services
  }

  /** Answers with what listeners were told. */
  async evaluate(rules: readonly AlertRule[]): Promise<Pick<Decision, 'fired' | 'cleared'>> {
    const vitals = await readVitals(this.#services)
    const evaluated: Evaluated[] = []
    for (const rule of rules) evaluated.push({ rule, measurements: await this.#measure(rule, vitals) })
    const decision = await this.#write(vitals, evaluated)
    for (const alert of decision.fired) this.#tell('alert_fired', alert)
    for (const alert of decision.cleared) this.#tell('alert_cleared', alert)
    await this.#sample(vitals)
    return decision
  }

  /** The reading counts all live jobs, so the history of the queues costs no second one. Alerts do not depend on it. */
  async #sample({ at, queues }: Vitals): Promise<void> {
    try {
      await queueSampleAdd(this.#services.db, at, queues)
    } catch (error) {
      this.#services.onError('note how the queues stand', error)
    }
  }

  async #measure(rule: AlertRule, vitals: Vitals): Promise<Evaluated['measurements']> {
    try {
      let isDone = false
      const measured = Promise.resolve(rule.measure(vitals)).finally(() => {
        isDone = true
      })
      measured.catch(() => {})
      await within(MEASURE_MS, measured)
      if (!isDone) throw new Error(`Alert "${rule.name}" took longer than ${MEASURE_MS / 1_000} s to measure.`)
      return await measured
    } catch (error) {
      this.#services.onError(`measure alert ${rule.name}`, error)
      return undefined
    }
  }

  #write(vitals: Vitals, evaluated: readonly Evaluated[]): Promise<Decision> {
    const { db, clock } = this.#services
    const owners = new Map(vitals.queues.map(({ queue, owner }) => [queue, owner]))
    const names = evaluated.map(({ rule }) => rule.name)
    return db.transaction(async (tx) => {
      await advisoryLock(tx, db.schema, 'alerts')
      const now = clock.databaseNow()
      const before = await alertList(tx, { names })
      const silences = await alertSilenceList(tx, now)
      const decision = decide(vitals.at, evaluated, { before, silences, ownerOf: (queue) => owners.get(queue) ?? null })
      await alertWrite(tx, decision.rows)
      await alertForget(tx, now, decision.gone, KEEP_MS)
      const rules = evaluated.map(({ rule }) => rule)
      await escalateAlerts(tx, now, decision, rules)
      return decision
    })
  }

  #tell(event: 'alert_fired' | 'alert_cleared', alert: AlertRow): void {
    const { events, logger } = this.#services
    const { name, subject, severity, why, value, threshold, action, queues, owner, since } = alert
    const facts = { name, subject, severity, why, value, threshold, queues, owner, since: since.toISOString() }
    events.emit(event, facts)
    if (name === 'dead_letters' && event === 'alert_fired') events.emit('dlq_alert', { count: value, threshold })
    // `name` in a log line is often that of the logger.
    const { name: _, ...logged } = { ...facts, alert: name }
    if (event === 'alert_cleared') logger.info(logged, 'an alert has cleared')
    else logger[LEVELS[severity]]({ ...logged, action }, 'an alert fires')
  }
}

const LEVELS = { info: 'info', notice: 'info', warning: 'warn', critical: 'error' } as const
