// What this process was promised by Redis, until it has seen it in PostgreSQL. An entry that is neither here nor there is lost.
//
// A pass looks at the head of each stream: entries before it have left Redis, and a mover removes only what it has committed.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { endAccount, type LostRow, movedOf, noteAccount, noteLost } from '../store/buffer-store.ts'
import type { Postgres } from '../store/pool.ts'
import { acceptedAt, isBefore, type Streams } from './streams.ts'

interface Promised {
  readonly entryId: string
  readonly type: string
  readonly streamId: string
}

/** Tenants in one pass: each costs a command. */
const TENANTS = 200

export class Promises {
  readonly #db: Postgres
  readonly #streams: Streams
  readonly #buffer: string
  readonly #process = randomUUID()
  /** By tenant, in the order of the stream. */
  readonly #open = new Map<string, Promised[]>()
  #hasAccount = false

  constructor({ db, streams, buffer }: { db: Postgres; streams: Streams; buffer: string }) {
    this.#db = db
    this.#streams = streams
    this.#buffer = buffer
  }

  remember(tenant: string, promised: Promised): void {
    const list = this.#open.get(tenant)
    if (list === undefined) this.#open.set(tenant, [promised])
    else list.push(promised)
  }

  get size(): number {
    let size = 0
    for (const list of this.#open.values()) size += list.length
    return size
  }

  /** Answers what is lost, once for each entry, after it was written down. Throws while Redis or PostgreSQL cannot be asked. */
  async look(): Promise<LostRow[]> {
    await this.#account()
    const lost: LostRow[] = []
    for (const tenant of [...this.#open.keys()].slice(0, TENANTS)) lost.push(...(await this.#lookAt(tenant)))
    return lost
  }

  async close(): Promise<void> {
    if (this.#hasAccount && this.size === 0) await endAccount(this.#db, this.#buffer, this.#process)
  }

  async #lookAt(tenant: string): Promise<LostRow[]> {
    // What is remembered after the question was sent is not judged by its answer.
    const list = [...(this.#open.get(tenant) ?? [])]
    const [head] = await this.#streams.read(tenant, 1)
    const gone = list.filter(({ streamId }) => head === undefined || isBefore(streamId, head.streamId))
    const moved = await movedOf(
      this.#db,
      gone.map(({ entryId }) => entryId),
    )
    const lost = gone
      .filter(({ entryId }) => !moved.has(entryId))
      .map(({ entryId, type, streamId }) => ({
        ...{ entryId, type, tenant: tenant || null },
        acceptedAt: acceptedAt(streamId),
      }))
    if (lost.length > 0) await noteLost(this.#db, this.#buffer, lost)
    this.#settle(tenant, new Set(gone))
    return lost
  }

  #settle(tenant: string, gone: ReadonlySet<Promised>): void {
    const left = (this.#open.get(tenant) ?? []).filter((promised) => !gone.has(promised))
    // To the end of the row, so that each tenant has its turn.
    this.#open.delete(tenant)
    if (left.length > 0) this.#open.set(tenant, left)
  }

  async #account(): Promise<void> {
    const open = this.size
    if (open === 0 && !this.#hasAccount) return
    const { pid } = process
    await noteAccount(this.#db, { buffer: this.#buffer, process: this.#process, host: hostname(), pid, open })
    this.#hasAccount = true
  }
}
