// ctx.once: what is done under a key is done once, and whoever asks again gets the recorded result.
//
// Outside of a transaction the key is claimed, then the work is done, then its result is recorded: if the process dies in
// between, the next run takes the key over and does the work again. Inside of one, key, result and effects commit
// together, and whoever comes second waits for the end of that transaction.
import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, monotonicMs } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { isStorable } from '../contract/json-keys.ts'
import { encodeResult } from '../contract/payload.ts'
import { InvalidDefinition, InvalidResult, LeaseLost, OnceBusy } from '../errors.ts'
import { openTransaction } from '../open-transaction.ts'
import { isLockTimeout, isTransient } from '../sql-state.ts'
import { type Database, isConnectionFailure, type Queryable, type Session, sessionOn } from '../store/db.ts'
import {
  type OnceClaim,
  type OnceHolder,
  onceClaim,
  onceFinish,
  onceLook,
  onceRelease,
  onceTakeOver,
} from '../store/once-keys.ts'

export interface OnceOptions {
  /** Your own transaction: the record commits with it. Default: that of ctx.transaction or ctx.tenantDb, if inside one. */
  tx?: Queryable
  /** What the key is unique in, besides the tenant: give two types the same one to share keys. Default: the job's type. */
  scope?: string
  /** How long the result is kept. Default 7 days. */
  retention?: Duration
}

/** The run that asks. */
export interface OnceCaller {
  readonly jobId: string
  readonly runId: string
  readonly type: string
  readonly tenant: string | null
  readonly signal: AbortSignal
}

/** What is to be done, and where secrets may be in its result. */
export interface OnceWork<Value> {
  key: string
  work: () => Value | Promise<Value>
  allowSecrets: readonly string[]
  options: OnceOptions
}

/** How long a key that another run holds is waited for, before the job makes room for others. */
const WAIT_MS = 2_000
const LOOK_EVERY_MS = 100
const RECORD_TRIES = 5
const MAX_KEY = 500

export class Once {
  readonly #db: Database
  readonly #clock: Clock

  constructor(services: { db: Database; clock: Clock }) {
    this.#db = services.db
    this.#clock = services.clock
  }

  /** Returns what JSON makes of the result, the first time as well as later. */
  async run<Value>(caller: OnceCaller, { key, work, allowSecrets, options }: OnceWork<Value>): Promise<Value> {
    const claim = claimOf(caller, key, options)
    caller.signal.throwIfAborted()
    const tx = options.tx ?? openTransaction()
    const session = tx === undefined ? this.#db : sessionOn(tx, this.#db.schema)
    const recorded = await this.#claim(session, claim, caller.signal)
    if (recorded !== undefined) return parsed(recorded.result)
    let result: string | null
    try {
      result = textOf(await work(), caller.type, allowSecrets)
    } catch (error) {
      // In a transaction that has failed this fails too, and the rollback does it. Otherwise the key goes with this run.
      await onceRelease(session, claim).catch(() => {})
      throw error
    }
    await this.#record(session, claim, result)
    return parsed(result)
  }

  /** The record of somebody who did it before, or undefined: the key is ours, and so is the work. */
  async #claim(
    session: Session,
    claim: OnceClaim,
    signal: AbortSignal,
  ): Promise<Pick<OnceHolder, 'result'> | undefined> {
    const giveUpAtMs = monotonicMs() + WAIT_MS
    for (;;) {
      if (await this.#isClaimed(session, claim)) return undefined
      const now = this.#clock.databaseNow()
      const { isOwnLive, holder } = await onceLook(session, now, claim)
      if (!isOwnLive) throw new LeaseLost('another run has taken over, so ctx.once does nothing')
      const standing = holder === undefined ? 'free' : standingOf(holder)
      if (holder !== undefined) {
        if (standing === 'recorded') return holder
        if (standing === 'free' && (await onceTakeOver(session, now, claim, holder))) return undefined
      }
      if (monotonicMs() > giveUpAtMs) throw new OnceBusy(claim, holder?.jobId ?? null)
      if (standing === 'busy') await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }

  async #isClaimed(session: Session, claim: OnceClaim): Promise<boolean> {
    try {
      // In somebody's transaction the limit would outlive the statement.
      const lockTimeoutMs = session === this.#db ? WAIT_MS : null
      return await onceClaim(session, this.#clock.databaseNow(), claim, lockTimeoutMs)
    } catch (error) {
      throw isLockTimeout(error) ? new OnceBusy(claim, null, error) : error
    }
  }

  /** It has been done: to give up now would have it done again. */
  async #record(session: Session, claim: OnceClaim, result: string | null): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        if (await onceFinish(session, this.#clock.databaseNow(), claim, result)) return
        throw new LeaseLost(`another run has taken the key "${claim.key}" over`)
      } catch (error) {
        const mayPass = isConnectionFailure(error) || isTransient(error)
        if (session !== this.#db || !mayPass || tries === RECORD_TRIES) throw error
        await pause(100 * 2 ** tries)
      }
    }
  }
}

/** Where a key stands that somebody holds or held. */
export function standingOf({ state, isExpired, isLive }: OnceHolder): 'recorded' | 'free' | 'busy' {
  if (state === 'done') return isExpired ? 'free' : 'recorded'
  return isLive ? 'busy' : 'free'
}

function claimOf({ jobId, runId, type, tenant }: OnceCaller, key: string, options: OnceOptions): OnceClaim {
  return {
    tenant: tenant ?? '',
    scope: usable(options.scope ?? type, 'The scope'),
    key: usable(key, 'The key'),
    jobId,
    runId,
    retentionMs: toMs(options.retention ?? '7d', 'ctx.once: retention'),
  }
}

function usable(text: unknown, what: string): string {
  if (typeof text === 'string' && text !== '' && text.length <= MAX_KEY && isStorable(text)) return text
  throw new InvalidDefinition(
    `${what} of ctx.once is not usable: expected 1 to ${MAX_KEY} characters without NUL or lone surrogates.`,
  )
}

function textOf(value: unknown, type: string, allowSecrets: readonly string[]): string | null {
  if (value === undefined) return null
  const encoded = encodeResult({ allowSecrets }, value)
  if ('text' in encoded) return encoded.text
  throw new InvalidResult(type, `in ctx.once, ${encoded.problem}`)
}

const parsed = <Value>(text: string | null): Value => (text === null ? undefined : JSON.parse(text)) as Value
