// Entries become jobs: one transaction writes which entries were moved and the jobs themselves.
//
// Safe to run twice and in many processes: the key of buffer_entry lets an entry become a job once. If the process dies
// before the commit nothing has happened; after it, the next pass finds the entries moved and removes them from Redis.
import {
  type EnqueueAnswer,
  type EnqueueItem,
  type JobContract,
  type Millrace,
  MillraceError,
  type Queryable,
} from 'millrace'
import {
  type EntryRow,
  lockTenants,
  noteJobs,
  noteRejected,
  type RejectedRow,
  takeEntries,
  takeRejected,
} from '../store/buffer-store.ts'
import type { Postgres } from '../store/pool.ts'
import { type Entry, itemOf, parsedEntry } from './entry.ts'
import { acceptedAt, type StreamEntry } from './streams.ts'

/** An entry of a type or version that this program does not know yet is left to a newer program for so long. */
const LEFT_MS = 10 * 60_000

export interface TenantBatch {
  readonly tenant: string
  readonly entries: readonly StreamEntry[]
}

export interface MovedEntry {
  readonly entryId: string
  readonly type: string
  readonly tenant: string | null
  readonly jobId: string
}

export interface Rejection {
  readonly entryId: string
  readonly type: string
  readonly tenant: string | null
  readonly code: string
  readonly message: string
}

export interface Transferred {
  /** By tenant: the ids that may leave their stream. */
  readonly done: readonly { readonly tenant: string; readonly streamIds: readonly string[] }[]
  readonly moved: readonly MovedEntry[]
  readonly rejected: readonly Rejection[]
}

interface Read {
  readonly row: EntryRow
  readonly text: string
  readonly item?: EnqueueItem
  readonly refusal?: { code: string; message: string }
}

export class Transfer {
  readonly #db: Postgres
  readonly #millrace: Millrace
  readonly #buffer: string

  constructor({ db, millrace, buffer }: { db: Postgres; millrace: Millrace; buffer: string }) {
    this.#db = db
    this.#millrace = millrace
    this.#buffer = buffer
  }

  async move(batches: readonly TenantBatch[]): Promise<Transferred> {
    const contracts = this.#contracts()
    return this.#db.transaction(async (tx) => {
      const ours = await lockTenants(
        tx,
        this.#buffer,
        batches.map(({ tenant }) => tenant),
      )
      const readable = batches
        .filter(({ tenant }) => ours.has(tenant))
        .map(({ tenant, entries }) => ({ tenant, entries: understood(entries, contracts) }))
      const reads = readable.flatMap(({ tenant, entries }) => entries.map((entry) => readOf(tenant, entry, contracts)))
      const { moved, rejected } = await this.#write(tx, reads)
      return {
        done: readable.map(({ tenant, entries }) => ({ tenant, streamIds: entries.map(({ streamId }) => streamId) })),
        moved,
        rejected,
      }
    })
  }

  /** Writes a single entry whose place in Redis is not known. Undefined: a mover was faster. */
  async moveOne(entry: Entry, contract: JobContract): Promise<EnqueueAnswer | undefined> {
    const row = { entryId: entry.id, tenant: entry.tenant, type: entry.type }
    return this.#db.transaction(async (tx) => {
      const taken = await takeEntries(tx, this.#buffer, [row])
      if (taken.size === 0) return undefined
      const [answer] = await this.#enqueue(tx, [itemOf(entry, contract, new Date())], false)
      if (answer !== undefined && 'id' in answer) await noteJobs(tx, [{ entryId: entry.id, jobId: answer.id }])
      return answer
    })
  }

  /** Marks entries as dealt with, so that no mover makes jobs of them and no process misses them. */
  async forget({ tenant, entries }: TenantBatch): Promise<number> {
    const rows = entries.map((entry) => readOf(tenant, entry, new Map()).row)
    const taken = await this.#db.transaction((tx) => takeEntries(tx, this.#buffer, rows))
    return taken.size
  }

  /** Tries rejected entries again. What is refused again stays rejected. */
  async redrive(entryIds: readonly string[]): Promise<{ moved: MovedEntry[]; rejected: Rejection[] }> {
    const contracts = this.#contracts()
    return this.#db.transaction(async (tx) => {
      const taken = await takeRejected(tx, this.#buffer, entryIds)
      const reads = taken.map(({ entryId, entry }) =>
        readOf(parsedEntry(entry)?.tenant ?? '', { streamId: '', text: entry }, contracts, entryId),
      )
      return this.#answered(tx, reads)
    })
  }

  async #write(tx: Queryable, reads: readonly Read[]) {
    const taken = await takeEntries(
      tx,
      this.#buffer,
      reads.map(({ row }) => row),
    )
    return this.#answered(
      tx,
      reads.filter(({ row }) => taken.delete(row.entryId)),
    )
  }

  async #answered(tx: Queryable, reads: readonly Read[]): Promise<{ moved: MovedEntry[]; rejected: Rejection[] }> {
    const able = reads.flatMap((read) => (read.item === undefined ? [] : [{ ...read, item: read.item }]))
    const answers =
      able.length === 0
        ? []
        : await this.#enqueue(
            tx,
            able.map(({ item }) => item),
            true,
          )
    const moved: MovedEntry[] = []
    const rejected: RejectedRow[] = reads.flatMap(({ row, text, refusal }) =>
      refusal === undefined ? [] : [{ ...row, entry: text, ...refusal }],
    )
    for (const [i, { row, text }] of able.entries()) {
      const answer = answers[i] as EnqueueAnswer
      if ('id' in answer) moved.push({ ...row, jobId: answer.id })
      else rejected.push({ ...row, entry: text, code: answer.error.code, message: answer.error.message })
    }
    if (moved.length > 0) await noteJobs(tx, moved)
    if (rejected.length > 0) await noteRejected(tx, this.#buffer, rejected)
    return { moved, rejected: rejected.map(({ entry: _, ...rejection }) => rejection) }
  }

  #enqueue(tx: Queryable, items: readonly EnqueueItem[], perItem: boolean): Promise<EnqueueAnswer[]> {
    // One entry of a list may be refused; a list that is refused whole is tried again.
    return perItem
      ? this.#millrace.enqueueMany(items, { tx, perItem: true })
      : this.#millrace.enqueueMany(items, { tx })
  }

  #contracts(): ReadonlyMap<string, JobContract> {
    return new Map(this.#millrace.contracts().map((contract) => [contract.type, contract]))
  }
}

/** A tenant's entries stay in order, so what comes behind one that is left to a newer program waits with it. */
function understood(
  entries: readonly StreamEntry[],
  contracts: ReadonlyMap<string, JobContract>,
): readonly StreamEntry[] {
  const first = entries.findIndex(({ streamId, text }) => {
    const entry = parsedEntry(text)
    const isTooNew = entry !== undefined && !((contracts.get(entry.type)?.version ?? 0) >= entry.version)
    return isTooNew && Date.now() - acceptedAt(streamId).getTime() < LEFT_MS
  })
  return first === -1 ? entries : entries.slice(0, first)
}

function readOf(
  tenant: string,
  { streamId, text }: StreamEntry,
  contracts: ReadonlyMap<string, JobContract>,
  knownId = `${tenant}/${streamId}`,
): Read {
  const entry = parsedEntry(text)
  const row = { entryId: entry?.id ?? knownId, tenant: tenant || null, type: entry?.type ?? 'unknown' }
  if (entry === undefined)
    return { row, text, refusal: { code: 'unreadable', message: 'It is no entry of this package.' } }
  const contract = contracts.get(entry.type)
  if (contract === undefined || contract.version < entry.version) {
    const known = contract === undefined ? 'no such type' : `version ${contract.version}`
    const message = `This program knows ${known}; the entry has type "${entry.type}" in version ${entry.version}.`
    return { row, text, refusal: { code: 'unknown_job_type', message } }
  }
  try {
    const accepted = streamId === '' ? new Date() : acceptedAt(streamId)
    return { row, text, item: itemOf(entry, contract, accepted) }
  } catch (error) {
    const code = error instanceof MillraceError ? error.code : 'payload_not_upgraded'
    return { row, text, refusal: { code, message: error instanceof Error ? error.message : String(error) } }
  }
}
