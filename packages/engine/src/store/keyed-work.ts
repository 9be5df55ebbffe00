// Keys of work, and tenants with deferred jobs: which of their jobs may be claimed, which wait, and what people have set about them.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { KeyedRow } from './job-changes.ts'
import type { QueuedJob } from './job-claims.ts'
import type { StatementName } from './statements.ts'

/** What jobs are ordered or limited by, within a queue and a tenant; of kind 'tenant' by the number of jobs of the tenant. */
export interface WorkKey {
  readonly kind: 'order' | 'limit' | 'tenant'
  readonly queue: string
  /** Null and '' are the same. */
  readonly tenant: string | null
  /** Empty for the kind 'tenant'. */
  readonly key: string
}

type Keyed = Pick<KeyedRow, 'queue' | 'tenant' | 'orderKey' | 'limitKey'>

/** The key by which a job runs: none, or one. */
export function jobKeyOf({ queue, tenant, orderKey, limitKey }: Keyed): WorkKey | undefined {
  if (orderKey !== null) return { kind: 'order', queue, tenant, key: orderKey }
  return limitKey === null ? undefined : { kind: 'limit', queue, tenant, key: limitKey }
}

/** All that can hold a job back, and that its end can make room in. */
export function workKeysOf(job: Keyed & Pick<KeyedRow, 'tenantJobs'>): WorkKey[] {
  const key = jobKeyOf(job)
  const keys = key === undefined ? [] : [key]
  return job.tenantJobs === null ? keys : [tenantKey(job.queue, job.tenant), ...keys]
}

export const tenantKey = (queue: string, tenant: string | null): WorkKey => ({ kind: 'tenant', queue, tenant, key: '' })

/** Inside a transaction: waits until nobody else admits jobs of these keys. */
export async function keyLock(session: Session, keys: readonly WorkKey[]): Promise<void> {
  await session.run('keyLock', [textArray(keys.map(({ kind }) => kind)), ...columns(keys)])
}

/** In the transaction of keyLock, after it. */
export function orderAdmit(session: Session, now: Now, keys: readonly WorkKey[]): Promise<QueuedJob[]> {
  return session.run('orderAdmit', [now, ...columns(keys)])
}

/** In the transaction of keyLock, after it. */
export function limitAdmit(session: Session, now: Now, keys: readonly WorkKey[]): Promise<QueuedJob[]> {
  return session.run('limitAdmit', [now, ...columns(keys)])
}

/** A job that is no longer deferred. With a key it still waits for that one. */
export type LetThrough = QueuedJob &
  Pick<KeyedRow, 'orderKey' | 'limitKey'> & { readonly status: 'pending' | 'blocked' }

/** In the transaction of keyLock, after it. Up to `limit` jobs; with as many there may be more. */
export function tenantAdmit(
  session: Session,
  now: Now,
  { keys, limit }: { keys: readonly WorkKey[]; limit: number },
): Promise<LetThrough[]> {
  const [queues, tenants] = columns(keys)
  return session.run('tenantAdmit', [now, queues, tenants, limit])
}

const columns = (keys: readonly WorkKey[]): [string, string, string] => [
  textArray(keys.map(({ queue }) => queue)),
  textArray(keys.map(({ tenant }) => tenant ?? '')),
  textArray(keys.map(({ key }) => key)),
]

export interface WaitingKey extends WorkKey {
  /** One of its jobs may be admitted, as far as can be seen without a lock. */
  readonly isFree: boolean
}

/** Up to `limit` keys with blocked jobs, in order, behind the given one; from the beginning without one. */
export async function keysWaiting(
  session: Session,
  now: Now,
  kind: WorkKey['kind'],
  { behind, limit }: { behind: WorkKey | undefined; limit: number },
): Promise<WaitingKey[]> {
  const whose = [behind?.queue ?? '', behind?.tenant ?? '']
  const from = [...whose, behind?.key ?? '', limit]
  const asked: Record<WorkKey['kind'], [StatementName, unknown[]]> = {
    order: ['orderKeys', from],
    limit: ['limitKeys', [now, ...from]],
    tenant: ['tenantDeferred', [...whose, limit]],
  }
  const rows = await session.run<Omit<WaitingKey, 'kind'>>(...asked[kind])
  return rows.map((row) => ({ kind, ...row }))
}

/** An ordered key whose head has died and that waits for somebody's decision. */
export interface StoppedKey {
  queue: string
  tenant: string | null
  key: string
  /** The job whose death has stopped it. */
  jobId: string
  stoppedAt: Date
  /** Null: the job left no letter. */
  deadLetterId: string | null
  /** The job that does the work of the dead one: when it has ended well, the key goes on by itself. */
  redrivenJobId: string | null
  /** How many jobs wait, counted up to 1,000. */
  waiting: number
}

export function orderStops(session: Session, queue: string | null, limit: number): Promise<StoppedKey[]> {
  return session.run('orderStops', [queue, limit])
}

/** The id of the job whose death had stopped the key; undefined: it was not stopped. */
export async function orderContinue(session: Session, key: Omit<WorkKey, 'kind'>): Promise<string | undefined> {
  const [row] = await session.run<{ jobId: string }>('orderContinue', [key.queue, key.tenant ?? '', key.key])
  return row?.jobId
}

/** Lets the keys go on that the deaths of these jobs have stopped. */
export async function orderStopErase(session: Session, jobIds: readonly string[]): Promise<WorkKey[]> {
  const rows = await session.run<Omit<WorkKey, 'kind'>>('orderStopErase', [plainArray(jobIds)])
  return rows.map((row) => ({ kind: 'order', ...row }))
}

/** How many jobs of a key may run at once, by somebody's decision instead of the contract's. */
export interface KeyLimitSetting {
  queue: string
  /** Null: every key of the queue that has no setting of its own. */
  key: string | null
  concurrency: number
  setBy: string
  setAt: Date
}

export async function keyLimitSet(
  session: Session,
  now: Now,
  { queue, key, concurrency, setBy }: Omit<KeyLimitSetting, 'setAt'>,
): Promise<void> {
  await session.run('keyLimitSet', [now, queue, key, concurrency, setBy])
}

/** What was set; undefined if nothing was. */
export async function keyLimitClear(session: Session, queue: string, key: string | null): Promise<number | undefined> {
  const [row] = await session.run<{ concurrency: number }>('keyLimitClear', [queue, key])
  return row?.concurrency
}

export function keyLimitSettings(session: Session): Promise<KeyLimitSetting[]> {
  return session.run('keyLimitSettings', [])
}

/** Takes the admission back from what has not been claimed; the keys are to be admitted anew. */
export async function limitRetract(session: Session, now: Now, queue: string, key: string | null): Promise<WorkKey[]> {
  const rows = await session.run<Omit<WorkKey, 'kind'>>('limitRetract', [now, queue, key])
  return rows.map((row) => ({ kind: 'limit', ...row }))
}

/** What a blocked job waits by. */
export interface JobKey extends Keyed {
  runAt: Date
  concurrency: number | null
  stoppedBy: string | null
  stoppedAt: Date | null
}

export async function jobKey(session: Session, id: string): Promise<JobKey | undefined> {
  const [row] = await session.run<JobKey>('jobKey', [id])
  return row
}

/** For whom a deferred job waits. */
export interface Deferral {
  queue: string
  tenant: string
  /** How many jobs it may have there. */
  places: number
  /** It has fewer. */
  isFree: boolean
}

/** Undefined: the job is not deferred. */
export async function jobDeferral(session: Session, id: string): Promise<Deferral | undefined> {
  const [row] = await session.run<Deferral>('jobDeferral', [id])
  return row
}

export interface AdmittedJob {
  id: string
  status: 'pending' | 'processing'
  runAt: Date
  startedAt: Date | null
}

/** The jobs that take the places of a key. */
export function keyAdmitted(session: Session, key: WorkKey, limit: number): Promise<AdmittedJob[]> {
  const { kind, queue, tenant } = key
  const of = (wanted: WorkKey['kind']) => (kind === wanted ? key.key : null)
  return session.run('keyAdmitted', [queue, tenant ?? '', of('order'), of('limit'), limit])
}
