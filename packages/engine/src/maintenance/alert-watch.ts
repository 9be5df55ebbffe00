// Evaluates alerts, and with the same reading notes once a minute how the queues stand.
//
// Runs every 15 s in every worker process, for the first time a second after its start. A row in the database decides which of them evaluates: one process at a time, and another
// one if that dies. The rules of a program are claimed apart from the built-in ones, because only processes of that program have them.
// If it dies halfway, nothing is written and the next pass, anywhere, does the work.
import { createHash } from 'node:crypto'
import type { AlertEvaluator } from '../alerts/evaluator.ts'
import type { AlertRules } from '../alerts/options.ts'
import { monotonicMs } from '../clock.ts'
import type { Database } from '../store/db.ts'
import { upkeepClaim, upkeepRelease } from '../store/upkeep.ts'
import type { Ticker } from './loop.ts'

const TASK = 'alerts'
const INTERVAL_MS = 15_000
/** A reading that takes long, because very many jobs live, is made less often. */
const MOST_SHARE = 0.1

export interface AlertWatchServices {
  db: Database
  evaluator: AlertEvaluator
  rules: AlertRules
}

export class AlertWatch implements Ticker<number> {
  readonly name = 'alerts'
  /** A process that has just started has other things to do, and its first report is not written yet. */
  readonly firstAfterMs = 1_000
  readonly #services: AlertWatchServices
  readonly #ownTask: string
  /** Those that this process did last. */
  #claimed: string[] = []

  constructor(services: AlertWatchServices) {
    this.#services = services
    const names = services.rules.own.map(({ name }) => name).sort()
    this.#ownTask = `alerts ${createHash('sha256').update(names.join()).digest('hex').slice(0, 16)}`
  }

  /** Answers with how long it took. */
  async tick(): Promise<number> {
    const { db, evaluator, rules } = this.#services
    const startMs = monotonicMs()
    // A little early is no harm: otherwise jitter would make every second pass come in vain.
    const tasks = [
      [TASK, rules.builtIn],
      [this.#ownTask, rules.own],
    ] as const
    this.#claimed = []
    // The built-in task is taken even if all its rules are off: the history of the queues comes with it.
    for (const [task, { length }] of tasks)
      if ((length > 0 || task === TASK) && (await upkeepClaim(db, task, INTERVAL_MS * 0.8))) this.#claimed.push(task)
    const claimed = tasks.flatMap(([task, list]) => (this.#claimed.includes(task) ? list : []))
    if (this.#claimed.length > 0) await evaluator.evaluate(claimed)
    return monotonicMs() - startMs
  }

  /** This process stops, so another one need not wait for the interval to end. */
  async idle(): Promise<void> {
    const tasks = this.#claimed.splice(0)
    if (tasks.length > 0) await upkeepRelease(this.#services.db, tasks).catch(() => {})
  }

  delayAfter(tookMs: number): number {
    return Math.max(INTERVAL_MS, tookMs / MOST_SHARE)
  }
}
