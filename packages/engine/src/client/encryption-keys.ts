// Which encryption keys are still needed, and bringing stored values under the first one.
//
// Both walk page by page, so no statement takes long and nothing is held for long. A rotation that is cut off is repeated:
// what was done stays done. What workflows hand on is rotated, too: they may live for longer than a key. The archive and what handlers recorded are only counted: those rows leave by themselves when
// their time is over.
import type { Clock } from '../clock.ts'
import type { KeyRing } from '../contract/key-ring.ts'
import type { Registry } from '../contract/registry.ts'
import { ownerOf, resealed } from '../contract/sealed.ts'
import { InvalidDefinition, Undecryptable } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import {
  payloadLock,
  payloadWrite,
  type SealedPlace,
  type SealedRow,
  sealedItemLock,
  sealedItemWrite,
  sealedPage,
} from '../store/sealed-values.ts'
import type { Definitions } from '../workflow/definitions.ts'
import { author } from './enqueue-options.ts'

export interface KeyUse {
  readonly id: string
  /** It encrypts. */
  readonly isFirst: boolean
  /** This program has it. */
  readonly isKnown: boolean
  /** How many live jobs, dead letters and archived jobs hold values under it, and how many jobs recorded some. */
  readonly live: number
  readonly deadLetters: number
  /** Jobs of workflows of which something is kept for later steps, or to undo them. */
  readonly workflows: number
  readonly archive: number
  /** By ctx.once and ctx.step. */
  readonly records: number
  /** False: nothing stored needs it, so it can be removed. */
  readonly isNeeded: boolean
}

export interface RotationResult {
  readonly first: string
  /** How many rows are under the first key now that were not before. */
  readonly rotated: { live: number; deadLetters: number; workflows: number }
  /** Rows that could not be decrypted, and stay as they were: the first hundred of each place. */
  readonly unreadable: readonly { place: SealedPlace; id: string; keyId: string }[]
}

export interface KeysProgress {
  readonly place: SealedPlace
  readonly scanned: number
  readonly rotated: number
}

interface Failed {
  id: string
  keyId: string
}

interface Walking {
  onProgress?: (progress: KeysProgress) => void
}

const PAGE = 500
const MOST_UNREADABLE = 100
const ROTATED = ['live', 'deadLetters', 'workflows'] as const
const UNUSED = { live: 0, deadLetters: 0, workflows: 0, archive: 0, records: 0 }

export class EncryptionKeys {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #definitions: Definitions

  constructor(services: { db: Database; clock: Clock; registry: Registry; definitions: Definitions }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#definitions = services.definitions
  }

  /** Every key that this program has or that something stored was encrypted under. Reads all jobs. */
  async status(options: Walking = {}): Promise<KeyUse[]> {
    const { keys } = this.#registry
    const counts = new Map((keys?.ids ?? []).map((id) => [id, { ...UNUSED }]))
    for (const place of [...ROTATED, 'archive', 'records'] as const) {
      await this.#walk(place, options, async (page) => {
        for (const id of page.flatMap((row) => [...new Set(row.keys)])) {
          const uses = counts.get(id) ?? UNUSED
          counts.set(id, { ...uses, [place]: uses[place] + 1 })
        }
        return 0
      })
    }
    return [...counts].map(([id, uses]) => {
      const isFirst = id === keys?.first
      const isNeeded = isFirst || Object.values(uses).some((count) => count > 0)
      return { id, isFirst, isKnown: keys?.ids.includes(id) ?? false, ...uses, isNeeded }
    })
  }

  /** Encrypts what live jobs, dead letters and workflows hold under the first key, bound to its owner. `by`: who asks, for the audit log. */
  async rotate({ by: asking, ...options }: Walking & { by: string }): Promise<RotationResult> {
    const by = author(asking)
    const { keys } = this.#registry
    if (keys === undefined) {
      throw new InvalidDefinition(
        'There are no encryption keys to rotate to. Pass createMillrace({ encryption: { keys } }), or set MILLRACE_ENCRYPTION_KEYS.',
      )
    }
    const rotated = { live: 0, deadLetters: 0, workflows: 0 }
    const unreadable: { place: SealedPlace; id: string; keyId: string }[] = []
    for (const place of ROTATED) {
      await this.#walk(place, options, async (page) => {
        const ids = page
          .filter((row) => row.isUnbound || row.keys.some((key) => key !== keys.first))
          .map((row) => row.id)
        const outcome = ids.length === 0 ? { written: 0, failed: [] } : await this.#reseal(place, ids, by)
        rotated[place] += outcome.written
        const room = MOST_UNREADABLE - unreadable.filter((each) => each.place === place).length
        unreadable.push(...outcome.failed.slice(0, room).map((failed) => ({ place, ...failed })))
        return outcome.written
      })
    }
    return { first: keys.first, rotated, unreadable }
  }

  async #walk(
    place: SealedPlace,
    { onProgress }: Walking,
    visit: (page: readonly SealedRow[]) => Promise<number>,
  ): Promise<void> {
    let after = '0'
    let scanned = 0
    let rotated = 0
    for (;;) {
      const page = await sealedPage(this.#db, place, after, PAGE)
      rotated += await visit(page)
      scanned += page.length
      onProgress?.({ place, scanned, rotated })
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      after = last.id
    }
  }

  #reseal(place: (typeof ROTATED)[number], ids: readonly string[], by: string) {
    return this.#db.transaction(async (tx) => {
      const failed: Failed[] = []
      const written =
        place === 'workflows'
          ? await this.#resealItems(tx, ids, failed)
          : await this.#resealJobs(tx, { place, ids }, failed)
      if (written > 0) {
        const details = { place, rows: written, key: this.#registry.keys?.first }
        await auditWrite(tx, this.#clock.databaseNow(), { by, action: 'keys.rotate', details })
      }
      return { written, failed }
    })
  }

  async #resealJobs(
    tx: Session,
    { place, ids }: { place: 'live' | 'deadLetters'; ids: readonly string[] },
    failed: Failed[],
  ): Promise<number> {
    const rows = (await payloadLock(tx, place, ids)).flatMap(({ id, type, payload, ...job }) =>
      this.#attempt(id, failed, (keys) => ({
        id,
        payload: resealed(keys, { type, part: 'payload', owner: ownerOf(job) }, payload),
      })),
    )
    if (rows.length > 0) await payloadWrite(tx, place, rows)
    return rows.length
  }

  async #resealItems(tx: Session, jobIds: readonly string[], failed: Failed[]): Promise<number> {
    const items = (await sealedItemLock(tx, jobIds)).flatMap(
      ({ id, workflow, step, kind, payload, result, ...job }) => {
        // A type that nobody remembers opens nothing: the item is told of as unreadable.
        const type = job.type ?? this.#definitions.typeOf(workflow, step, kind) ?? ''
        // Jobs of a workflow may have tenants of their own.
        const place = { type, owner: ownerOf(job), known: { workflowId: job.workflowId } }
        return this.#attempt(id, failed, (keys) => ({
          id,
          payload: resealed(keys, { ...place, part: 'payload' }, payload),
          result: resealed(keys, { ...place, part: 'result' }, result),
        }))
      },
    )
    if (items.length > 0) await sealedItemWrite(tx, items)
    return items.length
  }

  #attempt<Row>(id: string, failed: Failed[], reseal: (keys: KeyRing) => Row): Row[] {
    const { keys } = this.#registry
    if (keys === undefined) return []
    try {
      return [reseal(keys)]
    } catch (error) {
      if (!(error instanceof Undecryptable)) throw error
      failed.push({ id, keyId: error.keyId })
      return []
    }
  }
}
