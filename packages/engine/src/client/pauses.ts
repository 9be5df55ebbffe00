// Pause and resume: of a queue, a job type, a tenant, or what belongs to several of them.
//
// Each actor has a pause of its own. A target is paused while any pause of it lasts, so nobody ends another's hold by accident.
//
// Every claim heeds the rules that were committed before it began, so after `pause` has waited for the claims that began
// before, nothing more is claimed. What was claimed runs on.
import { monotonicMs } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import type { Registry } from '../contract/registry.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition, UnknownJobType } from '../errors.ts'
import { advisoryLock, claimsUnderWay } from '../store/governed-claims.ts'
import { type Pause, type PauseTarget, pauseEnd, pauseList, pauseSet } from '../store/pauses.ts'
import { type KnownWork, workKnown } from '../store/workers.ts'
import { knownContracts } from './catalogue.ts'
import { author, label } from './enqueue-options.ts'
import { changeRules, type RuleServices } from './rule-change.ts'

export interface PauseOptions {
  /** Why: whoever asks why a job does not run is told. */
  reason: string
  /** Who. */
  by: string
  /** It ends by itself after this long. Default: when somebody ends it. */
  for?: Duration
}

export interface ResumeOptions {
  /** Who. Without `all`, only the pause of this actor ends. */
  by: string
  /** Ends the pauses of every actor. */
  all?: boolean
}

export interface Resumption {
  /** The pauses that ended. */
  ended: Pause[]
  /** Pauses of the same target by other actors. While they last, the target stays paused. */
  others: Pause[]
}

const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 5

export class Pauses {
  readonly #services: RuleServices & { registry: Registry }

  constructor(services: RuleServices & { registry: Registry }) {
    this.#services = services
  }

  /**
   * When this resolves, nothing that it names is claimed any more. Replaces an earlier pause of the target by the same actor;
   * pauses by other actors stay.
   */
  async pause(target: PauseTarget, options: PauseOptions): Promise<Pause> {
    const checked = await this.#checked(target)
    const { reason, by } = demandWords(options)
    const forMs = options.for === undefined ? null : toMs(options.for, 'pause({ for })')
    const entry = {
      by,
      action: 'pause.set',
      target: nameOf(checked),
      tenant: checked.tenant,
      details: { reason, forMs },
    }
    const pause = await changeRules(this.#services, entry, (tx) =>
      pauseSet(tx, this.#services.clock.databaseNow(), { ...checked, reason, by, forMs }),
    )
    await this.#waitForOlderClaims()
    return pause
  }

  /** Ends the caller's own pause of the target, or with `all` every pause of it. No contract has to name the target. */
  async resume(target: PauseTarget, options: ResumeOptions): Promise<Resumption> {
    const checked = demandTarget(target)
    const by = author(options.by)
    const all = options.all ?? false
    const entry = ({ ended }: Resumption) => ({
      by,
      action: 'pause.end',
      target: nameOf(checked),
      tenant: checked.tenant,
      details: { all, ended: ended.map((pause) => ({ by: pause.by, reason: pause.reason })) },
    })
    return changeRules(this.#services, entry, async (tx) => {
      const now = this.#services.clock.databaseNow()
      const ended = await pauseEnd(tx, now, { ...checked, by: all ? null : by })
      const others = (await pauseList(tx, now)).filter((pause) => isOf(pause, checked))
      return { ended, others }
    })
  }

  /** Those that hold now, oldest first. */
  list(): Promise<Pause[]> {
    return pauseList(this.#services.db, this.#services.clock.databaseNow())
  }

  async #waitForOlderClaims(): Promise<void> {
    const { db } = this.#services
    const untilMs = monotonicMs() + PATIENCE_MS
    // Also of queues that no contract here names: a pause of a tenant concerns them all.
    const { queues } = await this.#known()
    for (const queue of queues) {
      await db.transaction((tx) => advisoryLock(tx, db.schema, `queue:${queue}`))
    }
    const first = await claimsUnderWay(db, null)
    let { claims } = first
    while (claims > 0 && monotonicMs() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      claims = (await claimsUnderWay(db, first.since)).claims
    }
  }

  async #checked(target: PauseTarget): Promise<NamedTarget> {
    const checked = demandTarget(target)
    const { type, queue } = checked
    const { types, queues } = await this.#known()
    if (type !== null && !types.includes(type)) throw new UnknownJobType(type, types)
    if (queue === null || queues.includes(queue)) return checked
    throw new InvalidDefinition(
      `There is no queue "${queue}": nothing waits in it, and no worker declares it.${suggestion(queue, queues)} Start a worker that does, or list a contract of it in createMillrace({ jobs }).`,
    )
  }

  /** What contracts here name, what the catalogue has, and what the database knows of older workers. */
  async #known(): Promise<KnownWork> {
    const { db } = this.#services
    const { queues, types } = await workKnown(db)
    const registry = await knownContracts(this.#services)
    return {
      queues: [...new Set([...registry.queues, ...queues])],
      types: [...new Set([...registry.types, ...types])],
    }
  }
}

interface NamedTarget {
  queue: string | null
  type: string | null
  tenant: string | null
}

function demandTarget({ queue = null, type = null, tenant = null }: PauseTarget): NamedTarget {
  if (queue === null && type === null && tenant === null)
    throw new InvalidDefinition('A pause names nothing: give it a queue, a type, a tenant, or several of them.')
  return { queue, type, tenant: label(tenant, 'tenant') }
}

function demandWords({ reason, by }: PauseOptions): { reason: string; by: string } {
  if (!reason || !by) throw new InvalidDefinition('A pause needs a reason and `by`: others will ask why and who.')
  return { reason: label(reason, 'reason') as string, by: label(by, 'by') as string }
}

const isOf = (pause: Pause, { queue, type, tenant }: NamedTarget): boolean =>
  pause.queue === queue && pause.type === type && pause.tenant === tenant

const nameOf = (target: PauseTarget): string =>
  Object.entries(target)
    .flatMap(([kind, name]) => (name === null ? [] : `${kind} ${name}`))
    .join(', ')
