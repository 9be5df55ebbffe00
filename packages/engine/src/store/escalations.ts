// The outbox of escalations: what people have to be told, and how far it has come.
import type { Now } from '../clock.ts'
import type { QueueOwner } from '../contract/queue-facts.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type EscalationKind = 'dead_job' | 'budget_stop' | 'budget_threshold' | 'alert' | 'test'
export type EscalationSeverity = 'info' | 'notice' | 'warning' | 'error' | 'critical'

export interface Escalation {
  id: string
  kind: EscalationKind
  /** Escalations with the same key are the same fault. */
  key: string
  severity: EscalationSeverity
  /** Null of a dead job: its dead letter says what went wrong. */
  summary: string | null
  queue: string | null
  type: string | null
  tenant: string | null
  jobId: string | null
  fingerprint: string | null
  details: Readonly<Record<string, unknown>>
  /** As the queue declared it at that time; null: the deliverer decides. */
  policy: string | Readonly<Record<string, unknown>> | null
  createdAt: Date
  /** Null: no deliverer has looked at it yet. */
  channel: string | null
  /** By when somebody should have acknowledged it. */
  respondBy: Date | null
  /** Of a digest: when it is sent. */
  dueAt: Date | null
  messageKey: string | null
  tries: number
  /** So often its message was sent again because nobody knew whether it had arrived. */
  repeats: number
  lastTryAt: Date | null
  lastError: string | null
  sentAt: Date | null
  /** Its channel refused it: it is not tried again until somebody resends it. */
  undeliverableAt: Date | null
  acknowledgedAt: Date | null
  acknowledgedBy: string | null
  resolvedAt: Date | null
}

export interface NewEscalation {
  kind: EscalationKind
  key: string
  severity: EscalationSeverity
  summary: string
  queues: readonly string[]
  toOwner: boolean
  details: Readonly<Record<string, unknown>>
}

/** The job type that delivers escalations: a worker that has it is a deliverer. */
export const DELIVER_TYPE = 'millrace.escalation.deliver'
/** The queue of its jobs, whose faults are never escalated. */
export const ESCALATION_QUEUE = 'millrace.escalation'

/** The ids of the new rows: none if it is open already, or if nobody delivers. */
export async function escalationWrite(session: Session, now: Now, fault: NewEscalation): Promise<string[]> {
  const { kind, key, severity, summary, queues, toOwner, details } = fault
  const rows = await session.run<{ id: string }>('escalationWrite', [
    ...[now, kind, key, severity, summary, textArray(queues), toOwner, JSON.stringify(details)],
    DELIVER_TYPE,
  ])
  return rows.map(({ id }) => id)
}

export async function escalationResolve(session: Session, now: Now, keys: readonly string[]): Promise<string[]> {
  return idsOf(await session.run<{ id: string }>('escalationResolve', [now, textArray(keys)]))
}

export interface StoppedRun {
  id: string
  runId: string
  budget: string
}

/** In the transaction that ends these runs, before the statement that does. */
export async function escalationStops(session: Session, now: Now, stopped: readonly StoppedRun[]): Promise<void> {
  await session.run('escalationStops', [
    now,
    plainArray(stopped.map(({ id }) => id)),
    plainArray(stopped.map(({ runId }) => runId)),
    textArray(stopped.map(({ budget }) => budget)),
  ])
}

export type UnroutedEscalation = Pick<Escalation, 'id' | 'kind' | 'queue' | 'policy' | 'details' | 'createdAt'> & {
  toOwner: boolean
  owner: QueueOwner | null
}

export function escalationUnrouted(session: Session, limit: number): Promise<UnroutedEscalation[]> {
  return session.run('escalationUnrouted', [limit])
}

export interface EscalationRoute {
  id: string
  channel: string
  respondBy: Date | null
  dueAt: Date | null
  /** Why it cannot be delivered. */
  problem: string | null
}

export async function escalationRoute(session: Session, now: Now, routes: readonly EscalationRoute[]): Promise<void> {
  await session.run('escalationRoute', [
    now,
    plainArray(routes.map(({ id }) => id)),
    textArray(routes.map(({ channel }) => channel)),
    textArray(routes.map(({ respondBy }) => respondBy?.toISOString())),
    textArray(routes.map(({ dueAt }) => dueAt?.toISOString())),
    textArray(routes.map(({ problem }) => problem)),
  ])
}

export interface DueChannel {
  channel: string
  hasUnsent: boolean
  hasNews: boolean
}

export function escalationDue(session: Session, now: Now): Promise<DueChannel[]> {
  return session.run('escalationDue', [now])
}

export interface TakeOptions {
  limit: number
  /** Only those with the key of the oldest. */
  oneKey: boolean
  /** A message that is sent again may take more with it. */
  grows: boolean
  /** Of a new message. Default: made from the oldest id. */
  messageKey?: string
  /** Only tests of the channel, or none. Default: both. */
  tests?: boolean
}

/** What a message says about an escalation. */
export interface EscalationFacts extends Escalation {
  /** Of the last one of each key only, as are the class and the payload. */
  errorMessage: string | null
  errorClass: string | null
  letterStatus: string | null
  correlationId: string | null
  /** Of the dead job, as it was stored, if its contract names attributes. */
  payload: unknown
  queueTitle: string | null
  owner: QueueOwner | null
}

export async function escalationTake(
  session: Session,
  now: Now,
  channel: string,
  options: TakeOptions,
): Promise<EscalationFacts[]> {
  const { limit, oneKey, grows, messageKey = null, tests = null } = options
  return withFacts(
    session,
    await session.run<Escalation>('escalationTake', [channel, limit, oneKey, grows, now, messageKey, tests]),
  )
}

async function withFacts<Row extends Escalation>(
  session: Session,
  rows: readonly Row[],
): Promise<(Row & EscalationFacts)[]> {
  if (rows.length === 0) return []
  const facts = await session.run<EscalationFacts>('escalationFacts', [plainArray(rows.map(({ id }) => id))])
  const byId = new Map(facts.map((each) => [each.id, each]))
  return rows
    .map((row) => ({ ...row, ...(byId.get(row.id) as EscalationFacts) }))
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
}

/** `isFinal`: the channel is told nothing more about them. */
export async function escalationSent(
  session: Session,
  ids: readonly string[],
  { isFinal = false }: { isFinal?: boolean } = {},
): Promise<void> {
  await session.run('escalationSent', [plainArray(ids), isFinal])
}

/** refused: it will never be taken; missed: it did not arrive; unknown: it may have. */
export type SendFailure = 'refused' | 'missed' | 'unknown'

export async function escalationUnsent(
  session: Session,
  ids: readonly string[],
  failure: { error: string; outcome: SendFailure },
): Promise<void> {
  await session.run('escalationUnsent', [plainArray(ids), failure.error, failure.outcome])
}

export interface EscalationNews extends EscalationFacts {
  becomes: 'acknowledged' | 'resolved'
  /** How many escalations of its key this is about. */
  count: number
}

export async function escalationNews(session: Session, channel: string, limit: number): Promise<EscalationNews[]> {
  return withFacts(session, await session.run<EscalationNews>('escalationNews', [channel, limit]))
}

export async function escalationTold(
  session: Session,
  channel: string,
  news: readonly Pick<EscalationNews, 'key' | 'becomes'>[],
): Promise<void> {
  const keys = textArray(news.map(({ key }) => key))
  await session.run('escalationTold', [channel, keys, textArray(news.map(({ becomes }) => becomes))])
}

/** True: that message was sent already, and what waits is due then. */
export async function escalationPostpone(
  session: Session,
  channel: string,
  { messageKey, until }: { messageKey: string; until: Date },
): Promise<boolean> {
  return (await session.run('escalationPostpone', [channel, messageKey, until])).length > 0
}

export interface SettledPage {
  /** Null: there are no more. */
  lastId: string | null
  resolved: number
}

/** Resolves dead jobs about which it was decided, a page of them. */
export async function escalationSettled(
  session: Session,
  now: Now,
  { after, limit }: { after: string; limit: number },
): Promise<SettledPage> {
  const [row] = await session.run<SettledPage & { lookedAt: number }>('escalationSettled', [now, after, limit])
  const { lastId, lookedAt, resolved } = row as SettledPage & { lookedAt: number }
  return { lastId: lookedAt < limit ? null : lastId, resolved }
}

export interface EscalationFilter {
  state?: 'open' | 'undelivered' | 'overdue' | 'resolved'
  queue?: string
  channel?: string
  key?: string
  /** Only older ones: the id of the last one of the page before. */
  before?: string
}

export type ListedEscalation = Escalation & { isOverdue: boolean }

export function escalationList(
  session: Session,
  { state, queue, channel, key, before, ids }: EscalationFilter & { ids?: readonly string[] },
  limit: number,
): Promise<ListedEscalation[]> {
  const values = [limit, state ?? null, queue ?? null, channel ?? null, key ?? null, before ?? null]
  return session.run('escalationList', [...values, ids === undefined ? null : plainArray(ids)])
}

export async function escalationAcknowledge(
  session: Session,
  now: Now,
  { ids, by }: { ids: readonly string[]; by: string },
): Promise<string[]> {
  return idsOf(await session.run<{ id: string }>('escalationAcknowledge', [now, plainArray(ids), by]))
}

export async function escalationResend(session: Session, ids: readonly string[]): Promise<string[]> {
  return idsOf(await session.run<{ id: string }>('escalationResend', [plainArray(ids)]))
}

export interface EscalationStanding {
  /** Due, and not sent. */
  unsent: number
  oldestUnsentAt: Date | null
  /** Refused by their channel. */
  undeliverable: number
  /** Nobody has acknowledged them in time. */
  overdue: number
  /** Living workers that deliver. */
  deliverers: number
}

export async function escalationStanding(session: Session, now: Now): Promise<EscalationStanding> {
  const [row] = await session.run<EscalationStanding>('escalationStanding', [now, DELIVER_TYPE])
  return row as EscalationStanding
}

export async function escalationPrune(session: Session, now: Now, ageMs: number, limit: number): Promise<number> {
  return (await session.run('escalationPrune', [now, ageMs, limit])).length
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)
