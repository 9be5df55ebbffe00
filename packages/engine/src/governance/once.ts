// ctx.once: what is done under a key is done once, and whoever asks again gets the recorded result. ctx.step is the same
// with keys that belong to one job, and are kept as long as it is (steps.ts).
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
import { type Database, isConnectionFailure, type Session } from '../store/db.ts'
import { withPatience } from '../store/lock-patience.ts'
import {
  type OnceClaim,
  type OnceHolder,
  onceClaim,
  onceFinish,
  onceLook,
  onceRelease,
  onceTakeOver,
  STEP_SCOPE,
  stepScope,
} from '../store/once-keys.ts'
import type { Queryable } from '../store/statements.ts'
import { sessionOn } from '../store/transaction.ts'

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

/** Encrypts what runs of sensitive types record, and decrypts it. `place` binds a record to where it stands. */
export interface RecordVault {
  seal(place: readonly string[], text: string): string | Promise<string>
  open(place: readonly string[], text: string): string | Promise<string>
}

/** What is to be done, where secrets may be in its result, and how that is stored. */
export interface OnceWork<Value> {
  key: string
  work: () => Value | Promise<Value>
  allowSecrets: readonly string[]
  options: OnceOptions
  vault: RecordVault
  /** The key is a step of its job: see steps.ts. */
  isStep?: boolean
}

/** How a call names itself in errors. */
const wordsFor = (isStep: boolean) =>
  isStep ? { call: 'ctx.step', key: 'The name' } : { call: 'ctx.once', key: 'The key' }

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
  async run<Value>(caller: OnceCaller, once: OnceWork<Value>): Promise<Value> {
    const { work, options, vault } = once
    const claim = claimOf(caller, once)
    const place = once.isStep ? ['step', caller.type, claim.key] : ['once', claim.scope, claim.key]
    caller.signal.throwIfAborted()
    const tx = options.tx ?? openTransaction()
    const session = tx === undefined ? this.#db : sessionOn(tx, this.#db.schema)
    const recorded = await this.#claim(session, claim, caller.signal)
    if (recorded !== undefined) {
      return parsed(recorded.result === null ? null : await vault.open(place, recorded.result))
    }
    let result: string | null
    let stored: string | null
    try {
      result = textOf(await work(), caller.type, once)
      stored = result === null ? null : await vault.seal(place, result)
    } catch (error) {
      // In a transaction that has failed this fails too, and the rollback does it. Otherwise the key goes with this run.
      await onceRelease(session, claim).catch(() => {})
      throw error
    }
    await this.#record(session, claim, stored)
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
      if (!isOwnLive) throw new LeaseLost('another run has taken over, so nothing is done here')
      const standing = holder === undefined ? 'free' : standingOf(holder, claim.isStep)
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
      const isOwn = session === this.#db
      const claiming = () => onceClaim(session, this.#clock.databaseNow(), claim, isOwn ? WAIT_MS : null)
      return await (isOwn ? claiming() : withPatience(session, WAIT_MS, claiming))
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
export function standingOf({ state, isExpired, isLive }: OnceHolder, isStep = false): 'recorded' | 'free' | 'busy' {
  // A step counts for as long as its job lives; its time says only when housekeeping looks whether that is so.
  if (state === 'done') return isExpired && !isStep ? 'free' : 'recorded'
  return isLive ? 'busy' : 'free'
}

function claimOf(caller: OnceCaller, { key, options, isStep = false }: OnceWork<unknown>): OnceClaim {
  const { jobId, runId, type, tenant } = caller
  const words = wordsFor(isStep)
  const scope = isStep ? stepScope(jobId) : usable(options.scope ?? type, 'The scope of ctx.once')
  if (!isStep && scope.startsWith(STEP_SCOPE))
    throw new InvalidDefinition(`The scope of ctx.once begins with "${STEP_SCOPE}", which is kept for ctx.step.`)
  return {
    tenant: tenant ?? '',
    scope,
    key: usable(key, `${words.key} of ${words.call}`),
    jobId,
    runId,
    isStep,
    retentionMs: toMs(options.retention ?? (isStep ? '1d' : '7d'), `${words.call}: retention`),
  }
}

function usable(text: unknown, what: string): string {
  if (typeof text === 'string' && text !== '' && text.length <= MAX_KEY && isStorable(text)) return text
  throw new InvalidDefinition(
    `${what} is not usable: expected 1 to ${MAX_KEY} characters without NUL or lone surrogates.`,
  )
}

function textOf(value: unknown, type: string, { allowSecrets, isStep, key }: OnceWork<unknown>): string | null {
  if (value === undefined) return null
  const encoded = encodeResult({ allowSecrets }, value)
  if ('text' in encoded) return encoded.text
  throw new InvalidResult(type, `in ${isStep ? `step "${key}"` : 'ctx.once'}, ${encoded.problem}`)
}

const parsed = <Value>(text: string | null): Value => (text === null ? undefined : JSON.parse(text)) as Value
