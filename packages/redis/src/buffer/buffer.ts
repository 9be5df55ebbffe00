// Takes jobs into Redis during a spike, and lets a mover bring them to PostgreSQL.
//
// `enqueue` answers as `millrace.enqueue` does, or 'buffered'. Where Redis cannot say whether it took an entry, the job is
// written to PostgreSQL under the same id, so that it exists once in either case.
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import {
  checkPayload,
  type EnqueueOptions,
  type EnqueueResult,
  type EnqueueWarning,
  type JobContract,
  type Logger,
  type Millrace,
  type OptionsArgument,
  type PayloadInput,
  TenantMismatch,
  TenantRequired,
} from 'millrace'
import type { Redis } from '../connection/connect.ts'
import type { Durability } from '../connection/facts.ts'
import {
  BufferFull,
  BufferUnavailable,
  InvalidRedisOption,
  RedisError,
  RedisRefused,
  RedisUnavailable,
  RedisUnknown,
} from '../errors.ts'
import {
  fateOf,
  forgetRejected,
  type LostRow,
  pruneEntries,
  type RejectedEntry,
  rejectedOf,
  talliesOf,
} from '../store/buffer-store.ts'
import { type DatabaseOption, Postgres } from '../store/pool.ts'
import { type Entry, entryOptions } from './entry.ts'
import { Mover, type MoverOptions } from './mover.ts'
import { Promises } from './promises.ts'
import { acceptedAt, Streams } from './streams.ts'
import { type MovedEntry, type Rejection, Transfer, type Transferred } from './transfer.ts'

export interface BufferOptions {
  readonly redis: Redis
  /** Knows the contracts of the jobs, and writes them. */
  readonly millrace: Millrace
  /** The same database. The buffer opens three connections at most. */
  readonly database: DatabaseOption
  /** Programs that share a buffer give it the same name. Default 'default'. */
  readonly name?: string
  /** How many entries may wait in Redis. A tenant may have a quarter of them. Default 200,000. */
  readonly maxEntries?: number
  /**
   * When Redis is away or full: 'enqueue' writes the job to PostgreSQL, 'refuse' throws BufferUnavailable or BufferFull.
   * Default 'enqueue'.
   */
  readonly otherwise?: 'enqueue' | 'refuse'
  readonly logger?: Logger
}

export interface Buffered {
  readonly status: 'buffered'
  /** For `settled`. */
  readonly entryId: string
  /** What a crash of Redis may take: everything, about a second, nothing. */
  readonly durability: Durability
  readonly warnings: readonly EnqueueWarning[]
}

export type Settled =
  | { readonly status: 'waiting' }
  | { readonly status: 'moved'; readonly jobId: string }
  | { readonly status: 'rejected'; readonly code: string; readonly message: string }
  | { readonly status: 'lost' }
  /** By `forget`. */
  | { readonly status: 'forgotten' }

export interface BufferState {
  /** What Redis holds; null: it cannot be asked. */
  readonly entries: number | null
  /** How long the entry at the head of the longest waiting tenant has been there. */
  readonly oldestAgeMs: number | null
  readonly rejected: number
  readonly lost: number
  /** Promised to processes that have died: at most so many may be lost without a name. */
  readonly unwatched: number
  /** Why Redis takes no entries now; null: it does. */
  readonly closed: string | null
}

export interface BufferEvents {
  moved: [MovedEntry]
  rejected: [Rejection]
  lost: [LostRow]
}

const LOOK_MS = 1_000
const FORGET_BATCH = 500
const UUID_LENGTH = 36

export function createBuffer(options: BufferOptions): SpikeBuffer {
  return new SpikeBuffer(options)
}

export class SpikeBuffer extends EventEmitter<BufferEvents> implements AsyncDisposable {
  readonly name: string
  readonly #redis: Redis
  readonly #millrace: Millrace
  readonly #db: Postgres
  readonly #streams: Streams
  readonly #transfer: Transfer
  readonly #promises: Promises
  readonly #bounds: { entries: number; perTenant: number }
  readonly #otherwise: 'enqueue' | 'refuse'
  readonly #logger: Logger | undefined
  readonly #look: NodeJS.Timeout
  #looking: Promise<void> | undefined

  constructor({ name = 'default', maxEntries = 200_000, otherwise = 'enqueue', ...options }: BufferOptions) {
    super()
    if (!/^[\w.-]{1,50}$/.test(name))
      throw new InvalidRedisOption(
        `The buffer's name is ${JSON.stringify(name)}: expected 1–50 letters, digits or "_ . -".`,
      )
    if (!Number.isInteger(maxEntries) || maxEntries < 4)
      throw new InvalidRedisOption(`maxEntries is ${maxEntries}: expected an integer from 4.`)
    this.name = name
    this.#redis = options.redis
    this.#millrace = options.millrace
    this.#otherwise = otherwise
    this.#logger = options.logger
    this.#bounds = { entries: maxEntries, perTenant: Math.floor(maxEntries / 4) }
    this.#db = new Postgres(options.database, { max: 3 })
    this.#streams = new Streams(options.redis, name)
    const services = { db: this.#db, streams: this.#streams, millrace: options.millrace, buffer: name }
    this.#transfer = new Transfer(services)
    this.#promises = new Promises(services)
    this.#look = setInterval(() => {
      this.#looking ??= this.look()
        .catch(() => {})
        .finally(() => {
          this.#looking = undefined
        })
    }, LOOK_MS)
    this.#look.unref()
  }

  /** Takes a job into Redis. With `tx` it is written to PostgreSQL in that transaction, as ever. */
  async enqueue<C extends JobContract>(
    contract: C,
    payload: PayloadInput<C>,
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult | Buffered> {
    checkContract(contract)
    const given: EnqueueOptions = options ?? {}
    const write = () => this.#millrace.enqueue(contract, payload, ...([options] as OptionsArgument<C>))
    if (given.tx !== undefined || !this.#millrace.contracts().includes(contract)) return write()
    const { text, warnings } = await checkPayload(contract, payload)
    const tenant = tenantOf(contract, payload, given.tenant)
    const { type, version } = contract
    const entry: Entry = { id: randomUUID(), type, version, payload: text, tenant, options: entryOptions(given) }
    try {
      return { ...(await this.#add(entry)), warnings }
    } catch (error) {
      if (error instanceof RedisUnknown) return this.#afterUnknown(entry, contract, error)
      if (!(error instanceof RedisError)) throw error
      if (this.#otherwise === 'enqueue') return write()
      throw error instanceof BufferFull ? error : new BufferUnavailable(type, error)
    }
  }

  /** What became of a buffered job. Known for a week. */
  async settled(entryId: string): Promise<Settled> {
    const { id, streamId, tenant } = partsOf(entryId)
    const before = await this.#fate(id)
    if (before !== undefined) return before
    if (await this.#streams.has(tenant, streamId)) return { status: 'waiting' }
    // It may have been moved between the two questions.
    return (await this.#fate(id)) ?? { status: 'lost' }
  }

  /** Brings entries to PostgreSQL until it is stopped. One in each worker process does. */
  startMover(options: MoverOptions = {}): Mover {
    const services = {
      ...{ streams: this.#streams, transfer: this.#transfer },
      onPass: (pass: Transferred) => this.#tell(pass),
      onError: (error: unknown) => this.#logger?.warn({ err: error, buffer: this.name }, 'the mover tries again'),
      prune: () => pruneEntries(this.#db),
    }
    return new Mover(services, options)
  }

  /** Entries that no job could be made of, the newest first. */
  rejected({ limit = 100 } = {}): Promise<RejectedEntry[]> {
    return rejectedOf(this.#db, this.name, limit)
  }

  /** Tries rejected entries again. Those that are refused again stay rejected. */
  async redrive(entryIds: readonly string[], { by }: { by: string }) {
    if (!by) throw new InvalidRedisOption('`by` is missing: say who decides.')
    const result = await this.#transfer.redrive(entryIds.map((entryId) => partsOf(entryId).id))
    this.#logger?.info(
      { by, moved: result.moved.length, rejected: result.rejected.length },
      'rejected entries were tried again',
    )
    this.#tell(result)
    return result
  }

  /** Forgets all entries of a tenant, rejected ones too: for the erasure of a tenant. Answers how many there were. */
  async forget(tenant: string): Promise<number> {
    let forgotten = await forgetRejected(this.#db, this.name, tenant)
    for (;;) {
      const entries = await this.#streams.read(tenant, FORGET_BATCH)
      if (entries.length === 0) return forgotten
      forgotten += await this.#transfer.forget({ tenant, entries })
      const streamIds = entries.map(({ streamId }) => streamId)
      await this.#streams.done(tenant, streamIds, Date.now())
    }
  }

  async state(): Promise<BufferState> {
    const tallies = await talliesOf(this.#db, this.name)
    const closed = this.#closedBecause() ?? null
    try {
      const [entries, [longest]] = await Promise.all([this.#streams.count(), this.#streams.turns(1)])
      const [head] = longest === undefined ? [] : await this.#streams.read(longest, 1)
      const oldestAgeMs = head === undefined ? 0 : Math.max(0, Date.now() - acceptedAt(head.streamId).getTime())
      return { ...tallies, entries, oldestAgeMs, closed }
    } catch (error) {
      if (!(error instanceof RedisError)) throw error
      return { ...tallies, entries: null, oldestAgeMs: null, closed: closed ?? error.message }
    }
  }

  /** Compares what this process was promised with what is there. Runs by itself every second. */
  async look(): Promise<void> {
    for (const lost of await this.#promises.look()) {
      this.#logger?.error({ buffer: this.name, ...lost }, 'Redis has lost a buffered job')
      this.emit('lost', lost)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#look)
    await this.#looking
    await this.#promises.close().catch(() => {})
    await this.#db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #add(entry: Entry): Promise<Omit<Buffered, 'warnings'>> {
    const why = this.#closedBecause()
    if (why !== undefined) throw new RedisUnavailable(why)
    const tenant = entry.tenant ?? ''
    const answer = await this.#streams.add(tenant, JSON.stringify(entry), this.#bounds).catch((error: unknown) => {
      throw error instanceof RedisRefused && error.reply === 'OOM' ? this.#full(entry, 'is out of memory') : error
    })
    const { entries, perTenant } = this.#bounds
    if (answer === 'full') throw this.#full(entry, `holds ${entries} jobs, which is all it may`)
    if (answer === 'tenant full')
      throw this.#full(entry, `holds ${perTenant} jobs of this tenant, which is all that one may have`)
    this.#promises.remember(tenant, { entryId: entry.id, type: entry.type, streamId: answer })
    const durability = this.#redis.facts?.durability ?? 'memory'
    return { status: 'buffered', entryId: `${entry.id}.${answer}.${tenant}`, durability }
  }

  #full({ type, tenant }: Entry, bound: string): BufferFull {
    return new BufferFull(type, { tenant, bound })
  }

  /** Redis may have the entry or not: under its id it becomes one job, whoever writes it. */
  async #afterUnknown(entry: Entry, contract: JobContract, error: RedisUnknown): Promise<EnqueueResult> {
    if (this.#otherwise === 'refuse') throw error
    const answer = await this.#transfer.moveOne(entry, contract)
    if (answer !== undefined && 'id' in answer) return answer
    const fate = await fateOf(this.#db, entry.id)
    if (fate?.jobId) return { status: 'queued', id: fate.jobId, warnings: [] }
    throw new BufferUnavailable(entry.type, error)
  }

  #closedBecause(): string | undefined {
    const { state, facts } = this.#redis
    if (state.name !== 'ready') return state.why
    if (facts?.role === 'replica') return 'it is a replica, which takes no writes'
    if (facts !== undefined && facts.evictionPolicy !== 'noeviction')
      return `its maxmemory-policy is ${facts.evictionPolicy}, which may throw jobs away; expected noeviction`
    return undefined
  }

  async #fate(id: string): Promise<Settled | undefined> {
    const fate = await fateOf(this.#db, id)
    if (fate === undefined) return undefined
    const { jobId, code, message, isLost } = fate
    if (code !== null) return { status: 'rejected', code, message: message ?? '' }
    if (isLost) return { status: 'lost' }
    return jobId === null ? { status: 'forgotten' } : { status: 'moved', jobId }
  }

  #tell({ moved, rejected }: Pick<Transferred, 'moved' | 'rejected'>): void {
    for (const entry of moved) this.emit('moved', entry)
    for (const entry of rejected) {
      this.#logger?.warn({ buffer: this.name, ...entry }, 'a buffered job was rejected')
      this.emit('rejected', entry)
    }
  }
}

/** Redis keeps payloads in plain text and may lose them. */
function checkContract({ type, sensitive, queue }: JobContract): void {
  if (sensitive.length > 0)
    throw new InvalidRedisOption(
      `Jobs of type "${type}" cannot be buffered: the type has sensitive values, and Redis would hold them in plain text. Use millrace.enqueue.`,
    )
  if (queue.options.critical)
    throw new InvalidRedisOption(
      `Jobs of type "${type}" cannot be buffered: queue "${queue.name}" is critical, and Redis may lose what it holds. Use millrace.enqueue.`,
    )
}

function tenantOf(contract: JobContract, payload: unknown, given: string | undefined): string | null {
  const derived = contract.tenantOf?.(payload as never)
  if (derived !== undefined && given !== undefined && derived !== given)
    throw new TenantMismatch(contract.type, derived, given)
  const tenant = derived ?? given ?? null
  if (!tenant && contract.queue.options.tenant === 'required')
    throw new TenantRequired(contract.type, contract.queue.name)
  return tenant
}

/** An entry's id is '<uuid>.<place in the stream>.<tenant>'. */
function partsOf(entryId: string): { id: string; streamId: string; tenant: string } {
  const id = entryId.slice(0, UUID_LENGTH)
  const rest = entryId.slice(UUID_LENGTH + 1)
  const end = rest.indexOf('.')
  return { id, streamId: rest.slice(0, end), tenant: rest.slice(end + 1) }
}
