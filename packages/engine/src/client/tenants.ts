// Tenants: register, weigh, limit, suspend, resume, delete.
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import type { NewAuditEntry } from '../store/audit.ts'
import { tenantKey } from '../store/keyed-work.ts'
import type { Queryable } from '../store/statements.ts'
import {
  type OnExcess,
  type SlotsChange,
  type Tenant,
  type TenantChange,
  type TenantFilter,
  type TenantLimit,
  type TenantSlots,
  tenantJobs,
  tenantList,
  tenantQueueList,
  tenantQueueSet,
  tenantQueueUnset,
  tenantSet,
  tenantSlotsList,
  tenantSlotsSet,
  tenantSlotsUnset,
} from '../store/tenants.ts'
import { demandOwnTenant, type Transaction } from '../store/transaction.ts'
import { knownContracts } from './catalogue.ts'
import { author, label, wholeNumber } from './enqueue-options.ts'
import type { JobManager } from './manage.ts'
import { changeRules, type RuleServices } from './rule-change.ts'

export interface SlotsOptions {
  /** It gets so many slots of a queue before the others get more than theirs. Default 0. */
  minSlots?: number
  /** It holds at most so many slots of a queue at once. Null: as many as are free, which is the default. */
  maxSlots?: number | null
}

export interface TenantOptions extends SlotsOptions {
  /** Its share of the slots, against other tenants: an integer from 1 to 1000. Default 1. */
  weight?: number
}

interface Words {
  by: string
  reason?: string
  /** Your own transaction: the change holds exactly if it commits, and workers hear of it then. Other changes of rules wait for it: keep it short. */
  tx?: Queryable
}

type TenantServices = RuleServices & { registry: Registry; jobs: JobManager; admitter: Admitter }

export class Tenants {
  readonly #services: TenantServices

  constructor(services: TenantServices) {
    this.#services = services
  }

  /** Registers a tenant, or changes its share. Tenants that are not registered are when they first have a job. */
  async set(name: string, options: TenantOptions, { by, tx }: Omit<Words, 'reason'>): Promise<Tenant> {
    const change: TenantChange = slotsOf(options)
    if (options.weight !== undefined) change.weight = wholeNumber(options.weight, 'weight', 1)
    if ((change.weight ?? 1) > 1_000) throw new InvalidDefinition(`weight is ${change.weight}: 1000 is the most.`)
    return this.#change(name, change, { by, action: 'tenant.set', ...(tx !== undefined && { tx }) })
  }

  /** Its slots in one queue, which precede those of `set`. What is not given stays as it is: at first, the tenant's own. */
  async setSlots(name: string, queue: string, slots: SlotsOptions, { by, tx }: Omit<Words, 'reason'>): Promise<void> {
    const change = slotsOf(slots)
    if (Object.keys(change).length === 0) {
      throw new InvalidDefinition('Nothing to set: give minSlots or maxSlots. unsetSlots takes both back.')
    }
    const known = await knownContracts(this.#services)
    known.demandQueue(queue)
    await this.#changeSlots(
      name,
      { by, action: 'tenant.set_slots', target: queue, details: change },
      tx,
      async (own) => {
        await tenantSet(own, name, {}, by)
        await tenantSlotsSet(own, { tenant: name, queue, by }, change)
      },
    )
  }

  /** The tenant's own slots hold in this queue again. False: none were set for it. */
  async unsetSlots(name: string, queue: string, { by, tx }: Omit<Words, 'reason'>): Promise<boolean> {
    return this.#changeSlots(name, { by, action: 'tenant.unset_slots', target: queue }, tx, (own) =>
      tenantSlotsUnset(own, name, queue),
    )
  }

  /** How many jobs it may have waiting and running in a queue, and what happens to more. Deferred jobs that have room now are let through. */
  async limit(
    name: string,
    queue: string,
    limit: { jobs: number; over: OnExcess },
    { by, tx: own }: Words,
  ): Promise<void> {
    const known = await knownContracts(this.#services)
    known.demandQueue(queue)
    const jobs = wholeNumber(limit.jobs, 'jobs', 0)
    const entry = { by, action: 'tenant.limit', target: queue, tenant: name, details: limit }
    await this.#changeLimit(entry, { name, queue, own }, async (tx) => {
      await tenantSet(tx, name, {}, by)
      await tenantQueueSet(tx, { tenant: name, queue, maxJobs: jobs, onExcess: limit.over, by })
    })
  }

  /** What the queue says holds again, for deferred jobs too. False: nothing was set. */
  async unlimit(name: string, queue: string, { by, tx: own }: Words): Promise<boolean> {
    const entry = { by, action: 'tenant.unlimit', target: queue, tenant: name }
    return this.#changeLimit(entry, { name, queue, own }, (tx) => tenantQueueUnset(tx, name, queue))
  }

  /** Holds its waiting jobs and aborts the running ones, which go back to wait. Nothing more is enqueued for it. */
  async suspend(name: string, words: Words): Promise<Tenant> {
    return this.#change(
      name,
      { status: 'suspended', reason: words.reason ?? null },
      { ...words, action: 'tenant.suspend' },
    )
  }

  /** Its jobs run again. */
  async resume(name: string, words: Words): Promise<Tenant> {
    return this.#change(name, { status: 'active', reason: words.reason ?? null }, { ...words, action: 'tenant.resume' })
  }

  /**
   * As suspend, but its waiting jobs are cancelled, and so are the running ones that heed their signal. Inside `{ tx }` workers do that
   * after the commit: with their next housekeeping, and the counts are 0.
   */
  async delete(name: string, words: Words): Promise<Tenant & { cancelled: number; requested: number }> {
    const reason = words.reason ?? null
    const tenant = await this.#change(name, { status: 'deleted', reason }, { ...words, action: 'tenant.delete' })
    if (words.tx !== undefined) return { ...tenant, cancelled: 0, requested: 0 }
    const jobs = await tenantJobs(this.#services.db, name)
    const why = `tenant "${name}" was deleted${reason === null ? '' : `: ${reason}`}`
    const { cancelled, requested } = await this.#services.jobs.cancelMany(jobs, { reason: why, by: words.by })
    return { ...tenant, cancelled: cancelled.length, requested: requested.length }
  }

  async get(name: string): Promise<Tenant | undefined> {
    const [tenant] = await tenantList(this.#services.db, { names: [name] })
    return tenant
  }

  /** How many jobs it may have in queues, as far as that was set for it, by queue. */
  limits(name: string): Promise<TenantLimit[]> {
    return tenantQueueList(this.#services.db, name)
  }

  /** Its slots in the queues for which some were set, as they hold there, by queue. */
  slots(name: string): Promise<TenantSlots[]> {
    return tenantSlotsList(this.#services.db, name)
  }

  /** By name. */
  list(filter: TenantFilter = {}): Promise<Tenant[]> {
    return tenantList(this.#services.db, filter)
  }

  /** Deferred jobs that have room afterwards are let through: by this process, or by workers after the caller's commit. */
  async #changeLimit<Result>(
    entry: NewAuditEntry,
    { name, queue, own }: { name: string; queue: string; own: Queryable | undefined },
    change: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const key = tenantKey(queue, name)
    const changed = async (tx: Transaction) => {
      demandOwnTenant(tx, [name])
      return change(tx)
    }
    const result = await changeRules(this.#services, entry, changed, own && { tx: own, keys: [key] })
    if (own === undefined) await this.#services.admitter.admit([key])
    return result
  }

  #changeSlots<Result>(
    name: string,
    entry: Omit<NewAuditEntry, 'tenant'>,
    tx: Queryable | undefined,
    change: (own: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const tenant = tenantName(name)
    const changed = async (own: Transaction) => {
      demandOwnTenant(own, [tenant])
      return change(own)
    }
    return changeRules(this.#services, { ...entry, by: author(entry.by), tenant }, changed, tx && { tx })
  }

  #change(
    name: string,
    change: TenantChange,
    { by, action, reason, tx: own }: Words & { action: string },
  ): Promise<Tenant> {
    const tenant = tenantName(name)
    const entry = { by: author(by), action, target: tenant, tenant, details: { ...change, reason } }
    const set = async (tx: Transaction) => {
      demandOwnTenant(tx, [tenant])
      return tenantSet(tx, tenant, change, by)
    }
    return changeRules(this.#services, entry, set, own && { tx: own })
  }
}

function tenantName(name: string): string {
  const tenant = label(name, 'tenant')
  if (!tenant) throw new InvalidDefinition('A tenant needs a name.')
  return tenant
}

function slotsOf({ minSlots, maxSlots }: SlotsOptions): SlotsChange {
  return {
    ...(minSlots !== undefined && { minSlots: wholeNumber(minSlots, 'minSlots', 0) }),
    ...(maxSlots !== undefined && { maxSlots: maxSlots === null ? null : wholeNumber(maxSlots, 'maxSlots', 0) }),
  }
}
