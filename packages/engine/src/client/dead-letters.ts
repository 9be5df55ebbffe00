// What people do with dead letters: look, acknowledge, redrive, resolve, ignore, note.
//
// Everything but looking takes one id or many and answers for each, by position. A call that failed can be repeated:
// what it had done by then is answered as done already.
import type { Clock, Now } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import { auditWrite, type NewAuditEntry } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import {
  type DeadLetterGroupFacts,
  type DeadLetterVersion,
  deadLetterGroupFacts,
  deadLetterVersions,
} from '../store/dead-letter-groups.ts'
import {
  type Closing,
  type DeadLetter,
  type DeadLetterCounts,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterGroupFilter,
  type Decided,
  deadLetterAcknowledge,
  deadLetterClose,
  deadLetterCounts,
  deadLetterGet,
  deadLetterGroups,
  deadLetterList,
  deadLetterNote,
  deadLetterOfJob,
  deadLetterPrune,
  type LetterAge,
  type WholeDeadLetter,
} from '../store/dead-letters.ts'
import { isJobId } from '../store/job-id.ts'
import { type JobAttempt, jobAttempts } from '../store/jobs.ts'
import type { Transaction } from '../store/transaction.ts'
import { author, wholeNumber } from './enqueue-options.ts'
import { shown } from './protect.ts'
import { ageOf, inBatches, type PruneOptions, type PruneResult } from './prune.ts'
import { type RedriveResult, redrive } from './redrive.ts'
import type { Waker } from './waker.ts'

/** `by` and `at`: who had done it before, and when. */
export type AcknowledgeResult =
  | { status: 'acknowledged'; id: string }
  | { status: 'already_acknowledged'; id: string; by: string | null; at: Date | null }
  | { status: 'not_found'; id: string }

export type ResolveResult =
  | { status: 'resolved'; id: string }
  | { status: 'already_resolved'; id: string; by: string | null; at: Date | null }
  | { status: 'not_found'; id: string }

export type IgnoreResult =
  | { status: 'ignored'; id: string }
  | { status: 'already_ignored'; id: string; by: string | null; at: Date | null }
  | { status: 'not_found'; id: string }

export type NoteResult = { status: 'noted'; id: string } | { status: 'not_found'; id: string }

export interface DeadLetterDetails extends WholeDeadLetter {
  /** The job's failed attempts, oldest first; they are kept for 30 days. */
  failedAttempts: JobAttempt[]
}

/** One id or many. */
export type LetterIds = string | readonly string[]

export interface RedriveOptions {
  /** Who asks: the new job's `createdBy`. */
  by: string
  /** An edited payload, for a single letter. Default: the original one. */
  payload?: unknown
  /** Default: as many as the job had. */
  maxAttempts?: number
}

export interface LetterPruneOptions extends Pick<PruneOptions, 'olderThan' | 'by' | 'signal'> {
  /** What the age counts from: when it was decided about the letter, or when its job died. Default 'decision'. */
  since?: LetterAge
}

type Decide = (tx: Transaction, now: Now, batch: readonly string[]) => Promise<Decided[]>

const BATCH = 1_000
const MAX_NOTE = 4_000
const MAX_HOURS = 168
const MAX_FINGERPRINTS = 200

export class DeadLetters {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #waker: Waker
  readonly #admitter: Admitter

  constructor(services: { db: Database; clock: Clock; registry: Registry; waker: Waker; admitter: Admitter }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#waker = services.waker
    this.#admitter = services.admitter
  }

  /** A page, newest first. For the next one pass the id of its last letter as `before`. Default 50 letters, at most 1000. */
  async list({ limit = 50, ...filter }: DeadLetterFilter & { limit?: number } = {}): Promise<DeadLetter[]> {
    if (filter.before !== undefined && !isJobId(filter.before)) {
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of a dead letter.`)
    }
    return deadLetterList(this.#db, filter, pageSize(limit))
  }

  /** One letter with the original job, stack, log lines and every failed attempt. */
  async get(id: string): Promise<DeadLetterDetails | undefined> {
    if (!isJobId(id)) return undefined
    const letter = (await deadLetterGet(this.#db, [id])).get(id)
    if (letter === undefined) return undefined
    const { type, originalJob, jobId } = letter
    const payload = shown(this.#registry, type, originalJob.payload)
    const failedAttempts = await jobAttempts(this.#db, jobId)
    return { ...letter, originalJob: { ...originalJob, payload }, failedAttempts }
  }

  /** The letter of a job that died, if it left one. */
  async ofJob(jobId: string): Promise<DeadLetterDetails | undefined> {
    const id = isJobId(jobId) ? await deadLetterOfJob(this.#db, jobId) : undefined
    return id === undefined ? undefined : this.get(id)
  }

  /** The pending letters by fingerprint and type, the largest groups first; of a queue, a type or a tenant, or of all. */
  async groups({
    limit = 100,
    ...filter
  }: DeadLetterGroupFilter & { limit?: number } = {}): Promise<DeadLetterGroup[]> {
    return deadLetterGroups(this.#db, filter, pageSize(limit))
  }

  /** Who is hit by kinds of failure, what was decided, and how many died when. `hours`: at most 168, default 24. */
  async groupFacts(
    fingerprints: readonly string[],
    { hours = 24, tenants = null }: { hours?: number; tenants?: readonly string[] | null } = {},
  ): Promise<DeadLetterGroupFacts[]> {
    if (wholeNumber(hours, 'hours', 1) > MAX_HOURS)
      throw new InvalidDefinition(`hours is ${hours}: expected at most ${MAX_HOURS}.`)
    if (fingerprints.length > MAX_FINGERPRINTS)
      throw new InvalidDefinition(`${fingerprints.length} fingerprints: expected at most ${MAX_FINGERPRINTS} at once.`)
    return deadLetterGroupFacts(this.#db, this.#clock.databaseNow(), { fingerprints, tenants, hours })
  }

  /** In which versions of the program the newest letters of a kind failed. */
  async groupVersions(
    group: { fingerprint: string; type: string },
    { tenants = null }: { tenants?: readonly string[] | null } = {},
  ): Promise<DeadLetterVersion[]> {
    return deadLetterVersions(this.#db, group, tenants)
  }

  /** How many letters each tenant has in each queue, the most pending first. */
  async counts({ limit = 1_000 }: { limit?: number } = {}): Promise<DeadLetterCounts[]> {
    return deadLetterCounts(this.#db, pageSize(limit))
  }

  /** Forgets letters that were resolved or ignored. Pending and retried ones stay: decide about them first. */
  async prune({ since = 'decision', ...options }: LetterPruneOptions): Promise<PruneResult> {
    if (since !== 'decision' && since !== 'death')
      throw new InvalidDefinition(`since is ${JSON.stringify(since)}: expected 'decision' or 'death'.`)
    const age = { ageMs: ageOf(options.olderThan), since }
    return inBatches({ db: this.#db, clock: this.#clock }, options, {
      action: 'dead_letter.prune',
      details: { olderThan: options.olderThan, since },
      prune: (tx, now) => deadLetterPrune(tx, now, age, BATCH),
    })
  }

  /** "Seen": they stay pending, but are not redriven by themselves any more. */
  async acknowledge(ids: LetterIds, options: { by: string }): Promise<AcknowledgeResult[]> {
    const by = author(options.by)
    const acknowledge: Decide = (tx, now, batch) => deadLetterAcknowledge(tx, now, batch, by)
    const entry = { by, action: 'dead_letter.acknowledge' }
    return this.#decide(ids, acknowledge, entry, ['acknowledged', 'already_acknowledged'])
  }

  /** The matter is settled in another way. They are deleted after seven days. */
  async resolve(ids: LetterIds, options: { by: string; note?: string }): Promise<ResolveResult[]> {
    const closing = closingAs('resolved', options)
    return this.#decide(ids, this.#close(closing), closedBy(closing), ['resolved', 'already_resolved'])
  }

  /** Not worth anybody's time. They are deleted after seven days. */
  async ignore(ids: LetterIds, options: { by: string; note?: string }): Promise<IgnoreResult[]> {
    const closing = closingAs('ignored', options)
    return this.#decide(ids, this.#close(closing), closedBy(closing), ['ignored', 'already_ignored'])
  }

  /** Appends a line with time and author. */
  async note(ids: LetterIds, text: string, options: { by: string }): Promise<NoteResult[]> {
    const note = { by: author(options.by), text: noteText(text) }
    return answerAll(ids, async (batch) => {
      const noted = await this.#db.transaction(async (tx) => {
        const now = this.#clock.databaseNow()
        const rows = await deadLetterNote(tx, now, batch, note)
        await auditWrite(tx, now, ...entriesOf(rows, { by: note.by, action: 'dead_letter.note' }))
        return rows
      })
      return new Map(noted.map(({ id }) => [id, { status: 'noted', id } as const]))
    })
  }

  /** Gives each a new job of the same work, linked with the one that died, and marks it as retried. */
  async redrive(ids: LetterIds, options: RedriveOptions): Promise<RedriveResult[]> {
    const by = author(options.by)
    if (options.maxAttempts !== undefined) wholeNumber(options.maxAttempts, 'maxAttempts', 1)
    if (options.payload !== undefined && new Set(listOf(ids)).size > 1) {
      throw new InvalidDefinition(
        'redrive got one payload for several letters: redrive those with an edited payload one by one.',
      )
    }
    const services = {
      db: this.#db,
      clock: this.#clock,
      registry: this.#registry,
      admitter: this.#admitter,
      wake: (queues: Iterable<string>) => this.#waker.wake(queues),
    }
    const again = (result: RedriveResult): RedriveResult =>
      result.status === 'redriven' ? { ...result, status: 'already_redriven' } : result
    return answerAll(ids, (batch) => redrive(services, batch, { ...options, by }), again)
  }

  /** A key that one of these deaths has stopped goes on with the next sweep. */
  #close(closing: Closing): Decide {
    return (tx, now, batch) => {
      this.#admitter.expectBlocked()
      return deadLetterClose(tx, now, batch, closing)
    }
  }

  async #decide<Done extends string, Already extends string>(
    ids: LetterIds,
    decide: Decide,
    entry: NewAuditEntry,
    [done, already]: readonly [Done, Already],
  ) {
    type Result = { status: Done; id: string } | { status: Already; id: string; by: string | null; at: Date | null }
    const seen = new Map<string, Decided>()
    const alreadyOf = ({ id, acknowledgedBy, acknowledgedAt }: Decided): Result => ({
      status: already,
      id,
      by: acknowledgedBy,
      at: acknowledgedAt,
    })
    return answerAll<Result>(
      ids,
      async (batch) => {
        const rows = await this.#db.transaction(async (tx) => {
          const now = this.#clock.databaseNow()
          const decided = await decide(tx, now, batch)
          const changed = decided.filter(({ isChanged }) => isChanged)
          await auditWrite(tx, now, ...entriesOf(changed, entry))
          return decided
        })
        for (const row of rows) seen.set(row.id, row)
        return new Map(rows.map((row) => [row.id, row.isChanged ? { status: done, id: row.id } : alreadyOf(row)]))
      },
      ({ id }) => alreadyOf(seen.get(id) as Decided),
    )
  }
}

type NotFound = { status: 'not_found'; id: string }

/**
 * Runs `answer` for the different ids in bounded batches and gives the results by position. An id that is named twice
 * gets at its second place what a second call would have said: `again`.
 */
async function answerAll<Result extends { id: string }>(
  ids: LetterIds,
  answer: (batch: readonly string[]) => Promise<Map<string, Result>>,
  again: (result: Result) => Result = (result) => result,
): Promise<(Result | NotFound)[]> {
  const wanted = listOf(ids)
  const different = [...new Set(wanted.filter(isJobId))]
  const answers = new Map<string, Result>()
  for (let from = 0; from < different.length; from += BATCH) {
    for (const [id, result] of await answer(different.slice(from, from + BATCH))) answers.set(id, result)
  }
  const named = new Set<string>()
  return wanted.map((id) => {
    const result = answers.get(id)
    if (result === undefined) return { status: 'not_found', id }
    const isRepeated = named.has(id)
    named.add(id)
    return isRepeated ? again(result) : result
  })
}

const listOf = (ids: LetterIds): readonly string[] => (typeof ids === 'string' ? [ids] : ids)

function closingAs(as: Closing['as'], { by, note }: { by: string; note?: string }): Closing {
  return { as, by: author(by), note: note === undefined ? null : noteText(note) }
}

/** Not its note: what a person wrote about a job is erased with the job, and the audit log is not. */
const closedBy = ({ as, by }: Closing): NewAuditEntry => ({
  by,
  action: as === 'resolved' ? 'dead_letter.resolve' : 'dead_letter.ignore',
})

const entriesOf = (letters: readonly { id: string; tenant: string | null }[], entry: NewAuditEntry): NewAuditEntry[] =>
  letters.map(({ id, tenant }) => ({ ...entry, target: id, tenant }))

function noteText(text: string): string {
  if (typeof text !== 'string' || !text || text.length > MAX_NOTE || text.includes('\u0000') || !text.isWellFormed()) {
    throw new InvalidDefinition(
      `A note must be text of 1 to ${MAX_NOTE} characters without NUL or lone surrogates. Shorten it, or note a link.`,
    )
  }
  return text
}

function pageSize(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > BATCH) {
    throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${BATCH}.`)
  }
  return limit
}
