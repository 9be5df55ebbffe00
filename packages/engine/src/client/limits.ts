// Limits at run time: what is used, what is free, and settings above what the code declares.
import type { Limit, LimitOptions, Rate } from '../contract/limit.ts'
import { rateOf } from '../contract/limit.ts'
import type { Registry } from '../contract/registry.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import { RateWindow } from '../governance/rate-window.ts'
import { Rules } from '../governance/rules.ts'
import { type LimitSetting, limitList, limitSet, limitUnset, limitUsage } from '../store/limits.ts'
import { knownContracts } from './catalogue.ts'
import { wholeNumber } from './enqueue-options.ts'
import { changeRules, type RuleServices } from './rule-change.ts'

export interface LimitState {
  readonly name: string
  readonly isPerTenant: boolean
  /** How many may run at once; undefined: no such limit. */
  readonly running: number | undefined
  readonly rate: Rate | undefined
  /** Under a limit per tenant, of each tenant that uses it; otherwise one, whose tenant is null. */
  readonly uses: readonly LimitUse[]
  /** Set at run time, and by whom. */
  readonly setBy: string | null
}

export interface LimitUse {
  readonly tenant: string | null
  readonly running: number
  /** How many more could start now; undefined: unlimited. */
  readonly free: number | undefined
  /** Until then nothing starts, because the service asked for it. */
  readonly heldUntil: Date | null
}

const UNNAMED = /^(queue|type):(.+?)(\/tenant)?$/

export class Limits {
  readonly #services: RuleServices & { registry: Registry }

  constructor(services: RuleServices & { registry: Registry }) {
    this.#services = services
  }

  /** Every limit that this program or a worker declares, or somebody set, with what is used of it. */
  async list(): Promise<LimitState[]> {
    const { db, clock } = this.#services
    const rules = new Rules()
    await rules.load(db)
    const set = new Map((await limitList(db)).map((each) => [each.name, each]))
    const declared = declaredIn(await knownContracts(this.#services)).map((limit) => rules.adjusted(limit))
    const unnamed = [...set.keys()].flatMap((name) => (UNNAMED.test(name) ? (rules.unnamed(name) ?? []) : []))
    const limits = [...declared, ...unnamed]
    const usage = await limitUsage(
      db,
      clock.databaseNow(),
      limits.map(({ name }) => name),
    )
    return limits.map((limit) => stateOf(limit, usage, set.get(limit.name)))
  }

  async get(name: string): Promise<LimitState | undefined> {
    return (await this.list()).find((limit) => limit.name === name)
  }

  /** How many more could start now under a limit that all share: free permits of a resource. */
  async free(name: string): Promise<number> {
    const state = await this.get(name)
    if (state === undefined) throw unknownLimit(name, declaredIn(await knownContracts(this.#services)))
    return state.uses[0]?.free ?? state.running ?? Number.POSITIVE_INFINITY
  }

  /**
   * Sets a limit above what the code says, in all processes, within seconds. Besides declared names: 'queue:bulk' and
   * 'type:email', and with '/tenant' behind them, for each tenant.
   */
  async set(name: string, limit: Pick<LimitOptions, 'running' | 'rate'>, { by }: { by: string }): Promise<void> {
    await this.#demand(name)
    const running = limit.running === undefined ? undefined : wholeNumber(limit.running, 'running', 0)
    const rate = limit.rate === undefined ? undefined : rateOf(limit.rate, 'rate')
    if (running === undefined && rate === undefined)
      throw new InvalidDefinition('Nothing to set: give running or rate.')
    const entry = { by, action: 'limit.set', target: name, details: { running, rate } }
    await changeRules(this.#services, entry, (tx) => limitSet(tx, name, { running, rate }, by))
  }

  /** What the code says holds again. False: nothing was set. */
  async unset(name: string, { by }: { by: string }): Promise<boolean> {
    return changeRules(this.#services, { by, action: 'limit.unset', target: name }, (tx) => limitUnset(tx, name))
  }

  async #demand(name: string): Promise<void> {
    const known = await knownContracts(this.#services)
    const [, kind, of] = UNNAMED.exec(name) ?? []
    const declared = declaredIn(known)
    if (kind === 'queue') known.demandQueue(of as string)
    else if (kind === 'type') known.get(of as string)
    else if (!declared.some((limit) => limit.name === name)) throw unknownLimit(name, declared)
  }
}

function declaredIn(known: Registry): Limit[] {
  const all = known.contracts.flatMap(({ limits, queue }) => [...limits, ...queue.limits])
  return [...new Map(all.map((limit) => [limit.name, limit])).values()]
}

function unknownLimit(name: string, declared: readonly Limit[]): InvalidDefinition {
  const names = declared.map((limit) => limit.name)
  return new InvalidDefinition(
    `There is no limit "${name}".${suggestion(name, names)} Declare it with defineLimit, or name a queue or a type: 'queue:bulk', 'type:email'.`,
  )
}

function stateOf(
  limit: Limit,
  { held, rates, nowS }: Awaited<ReturnType<typeof limitUsage>>,
  setting: LimitSetting | undefined,
): LimitState {
  const running = new Map<string, number>()
  const scopeOf = (tenant: string | null) => (limit.isPerTenant ? (tenant ?? '') : '')
  if (!limit.isPerTenant) running.set('', 0)
  for (const [name, tenant, jobs] of held ?? [])
    if (name === limit.name) running.set(scopeOf(tenant), (running.get(scopeOf(tenant)) ?? 0) + jobs)
  const own = (rates ?? []).filter(([name]) => name === limit.name)
  for (const [, tenant] of own) if (!running.has(tenant)) running.set(tenant, 0)
  const uses = [...running].map(([tenant, jobs]): LimitUse => {
    const rate = own.find(([, each]) => each === tenant)
    const heldUntilS = rate?.[3] ?? null
    const isHeld = heldUntilS !== null && heldUntilS > nowS
    const room = limit.rate && new RateWindow(limit.rate, rate?.[2] ?? [], nowS * 1_000).room
    const places = limit.running === undefined ? undefined : Math.max(0, limit.running - jobs)
    const free = isHeld ? 0 : least(places, room)
    return {
      tenant: tenant === '' ? null : tenant,
      running: jobs,
      free,
      heldUntil: isHeld ? new Date(heldUntilS * 1_000) : null,
    }
  })
  const { name, isPerTenant, rate } = limit
  return { name, isPerTenant, running: limit.running, rate, uses, setBy: setting?.updatedBy ?? null }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
