// enqueueMany with an answer for each item: a refusal is an answer, and the others go in.
//
// All are written at once. If that is refused, the list is halved until the refused ones stand alone, in the order of the list, so
// that the jobs of an order key keep theirs. In the caller's transaction each try is behind a savepoint.
import type { JobContract, PayloadInput, RequiresTenant } from '../contract/job.ts'
import {
  EnqueueUnknown,
  InvalidPayload,
  KeyBusy,
  MillraceError,
  TenantBusy,
  TenantLimitReached,
  TenantSuspended,
} from '../errors.ts'
import { isRefused } from '../sql-state.ts'
import type { Database } from '../store/db.ts'
import { allOrNothing } from '../store/savepoint.ts'
import type { Queryable } from '../store/statements.ts'
import { sessionOn } from '../store/transaction.ts'
import type { EnqueueOptions } from './enqueue-options.ts'
import type { AnyItem, EnqueueResult, Enqueuer, PreparedItem } from './enqueuer.ts'
import { enqueueFailure } from './group-commit.ts'
import { typedError } from './typed-errors.ts'

type ItemOptions = Omit<EnqueueOptions, 'tx'>

/** A job of a list: its payload is typed by its contract. */
export type EnqueueItem<C extends JobContract = JobContract> = {
  readonly job: C
  readonly payload: PayloadInput<C>
} & (RequiresTenant<C> extends true
  ? { readonly options: ItemOptions & { tenant: string } }
  : { readonly options?: ItemOptions })

export interface EnqueueItemsOptions {
  /** Your own transaction: the jobs exist exactly if it commits. */
  tx?: Queryable
  /** Answer for each item: refused ones are answers, and the others go in. Default: all or none. */
  perItem?: boolean
}

export type EnqueueAnswer =
  | EnqueueResult
  /** This one was not written, for a reason that `enqueue` throws. */
  | { status: 'refused'; error: MillraceError }
  /** The connection broke before the answer: this one may or may not exist. */
  | { status: 'unknown'; error: EnqueueUnknown }

const ABOUT_ITEMS = [InvalidPayload, KeyBusy, TenantBusy, TenantLimitReached, TenantSuspended]

export async function enqueuePerItem(
  services: { enqueuer: Enqueuer; db: Database },
  items: readonly AnyItem[],
  tx: Queryable | undefined,
): Promise<EnqueueAnswer[]> {
  const answers = new Array<EnqueueAnswer>(items.length)
  const open: Open[] = []
  for (const [position, item] of items.entries()) {
    try {
      open.push({ position, prepared: await services.enqueuer.prepare(item, position) })
    } catch (error) {
      // What a function of the contract throws by mistake is no refusal.
      if (!(error instanceof MillraceError)) throw error
      answers[position] = { status: 'refused', error }
    }
  }
  if (open.length > 0) await new PerItem(services, answers, tx).write(open)
  return answers
}

interface Open {
  readonly position: number
  readonly prepared: PreparedItem
}

class PerItem {
  readonly #services: { enqueuer: Enqueuer; db: Database }
  readonly #answers: EnqueueAnswer[]
  readonly #tx: Queryable | undefined
  #hasWritten = false

  constructor(services: { enqueuer: Enqueuer; db: Database }, answers: EnqueueAnswer[], tx: Queryable | undefined) {
    this.#services = services
    this.#answers = answers
    this.#tx = tx
  }

  async write(open: readonly Open[]): Promise<void> {
    try {
      const results = await this.#tryAll(open.map(({ prepared }) => prepared))
      open.forEach(({ position }, i) => {
        this.#answers[position] = results[i] as EnqueueResult
      })
      this.#hasWritten = true
    } catch (error) {
      const isAboutItems = ABOUT_ITEMS.some((each) => error instanceof each) || isRefused(error)
      if (isAboutItems && open.length > 1) {
        const middle = open.length >> 1
        await this.write(open.slice(0, middle))
        await this.write(open.slice(middle))
      } else this.#refuse(open, error, isAboutItems)
    }
  }

  /** What others were answered must reach the caller: after the first write of our own nothing is thrown any more. */
  #refuse(open: readonly Open[], thrown: unknown, isAboutItems: boolean): void {
    if (!isAboutItems && (this.#tx !== undefined || !this.#hasWritten)) throw thrown
    for (const { position, prepared } of open) {
      const error = typedError(enqueueFailure(thrown, prepared.job), this.#services.db.schema)
      if (!(error instanceof MillraceError)) throw error
      this.#answers[position] =
        error instanceof EnqueueUnknown ? { status: 'unknown', error } : { status: 'refused', error }
    }
  }

  #tryAll(prepared: readonly PreparedItem[]): Promise<EnqueueResult[]> {
    const { enqueuer, db } = this.#services
    const tx = this.#tx
    if (tx === undefined) return enqueuer.write(prepared, {})
    return allOrNothing(sessionOn(tx, db.schema), () => enqueuer.write(prepared, { tx }))
  }
}
